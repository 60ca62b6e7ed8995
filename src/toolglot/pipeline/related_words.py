"""Everyday words that speak of the same thing: someone who asks for rail asks for trains.

No dictionary, but the few dozen things that assistants are asked for most. A word that is related counts less than the word.
"""

from __future__ import annotations

from toolglot.pipeline.relevance import words_of

_GROUPS = """
weather rain umbrella snow sunny outside temperature warm cold hot degrees
forecast umbrella tomorrow days week
train rail railway
flight fly plane airline
bus coach
taxi cab ride
hotel accommodation stay
restaurant table dinner lunch reserve
parcel package shipment courier
order bought purchase
return back refund
track status arrived sent
song tune single
album record
play listen hear
file document
delete remove erase
move rename
append add bottom end
write save
read show open contents
directory folder
email mail
sms text
message tell say
contact person number address
alarm wake
timer countdown
remind reminder forget
event appointment meeting calendar
list planned agenda schedule
task todo
light lamp
thermostat heat heating
blinds shutter curtain
stock share shares
price cost worth trading
currency money
convert change
mean average
median middle
translate translation
revert undo
medicine medication drug pill
recipe cook dish
news headline
movie film cinema
leave vacation holiday sick ill flu
invoice bill charge
express fast quick urgent pressing
word dictionary mean meaning
damaged broken
size tight loose
issue bug ticket
quality pollution smog dirty
image picture photo
distance far
route directions
location where
people person adult guest passenger traveler seat
"""
_RELATED: dict[str, frozenset[str]] = {}
for _line in _GROUPS.strip().splitlines():
    _stems = frozenset(words_of(_line))
    for _stem in _stems:
        _RELATED[_stem] = _RELATED.get(_stem, frozenset()) | _stems


def related(stem: str) -> frozenset[str]:
    """Stems that speak of the same, the given one among them."""
    return _RELATED.get(stem) or frozenset({stem})
