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
decode describe detect divide draw echo encode execute flip google greet hash inspire multiply recommend reverse roll subtract
suggest summarize toss
"""
ASKING = frozenset(_ASKED.split())

_DAYS_AND_MONTHS = """
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
november december today tomorrow
"""
DATED = frozenset(_DAYS_AND_MONTHS.split()) | {f"{day}s" for day in _DAYS_AND_MONTHS.split() if day.endswith("day")}
# of what follows
LABELS = frozenset({"ID", "IDs", "UUID", "API", "URL", "IP", "PIN", "SKU", "ISBN", "VIN", "IBAN", "ISO", "PR"})

# words that name nothing by themselves
_PLAIN = """
a about after again all also am an and any are as at be been before being both but by can can't could did do does don't each
either else ever every few for from get give got had has have he her here hers him his how i i'd i'll i'm i've if in into is
isn't it it's its just kindly know last less let let's like many may me might mine more most much must my need no nor not now of
off ok okay on one ones or our out over own per please quite really same say shall she should so some such tell than thanks that
that's the their them then there there's these they thing things this those to too up us very via want was wasn't we were what
what's when where where's which while who who's whom whose why will with within without won't would yes yet you you'd you're
your yours
"""
FUNCTION_WORDS = frozenset(_PLAIN.split())
