"""Words that are no values: verbs that ask for something, days and months, what something is labelled with."""

from __future__ import annotations

# with which people begin what they ask for
_ASKED = """
add alert analyze archive ask assign bill block book bring buy calculate call cancel change charge check close compare compute
convert count create define delete deploy determine disable display download draft email enable estimate evaluate export fetch
find forward generate get give grab hand help hire identify import invite invoice list locate log look lookup mail make mark
merge message move notify open order pause pay phone ping play plot post predict print provide pull push put query queue read
rebook record refund register remind remove rename rent reply report request reserve restart resume retrieve return ring run
save schedule search see send set share ship show shoot sort start stop submit subscribe switch tell text track transfer
translate turn update upload use verify wake write
"""
ASKING = frozenset(_ASKED.split())

_DAYS_AND_MONTHS = """
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
november december today tomorrow
"""
DATED = frozenset(_DAYS_AND_MONTHS.split()) | {f"{day}s" for day in _DAYS_AND_MONTHS.split() if day.endswith("day")}
LABELS = frozenset(
    {"ID", "IDs", "UUID", "API", "URL", "IP", "PIN", "SKU", "ISBN", "VIN", "IBAN", "ISO", "PR"}
)  # of what follows
