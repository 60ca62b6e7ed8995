"""Everyday words that speak of the same thing: someone who asks for rail asks for trains.

No dictionary, but the few dozen things that assistants are asked for most. A word that is related counts less than the word.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
email mail inbox
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
expense spend spent spending
balance savings checking
loan borrow mortgage lend
salary wage earn income
tax taxes vat
account profile
lyrics words sing
playlist mix
podcast episode
concert gig
book novel
volume louder quieter loud quiet
television tv
apartment flat rent rental housing
car vehicle automobile
hire rent rental
trip travel journey vacation
itinerary trip
directions way walk foot drive route
nearby near close closest nearest
flight airport
train station
delivery deliver ship shipping
package delivery
product item goods
cart basket
buy purchase shop
book reserve reservation booking
cancel call-off annul
schedule arrange plan appointment
doctor physician appointment
symptom pain ache fever
exercise workout gym training
calorie nutrition
recipe meal bake
restaurant eat food cuisine dine hungry
grocery supermarket shopping
clean vacuum
lock unlock door
bright brightness dim
call phone ring dial
chat message
note memo jot
employee staff worker colleague
hire recruit
job vacancy position
customer client
invoice billing
deadline due
status health healthy uptime running
restart reboot
rollback revert back previous undo
scale replica instance
deploy release rollout
log error
server machine host
database table query row column
branch merge commit repository
ticket task issue
assign responsible
comment remark
backup restore snapshot
password login
user member
website page url
download fetch
upload attach
copy duplicate
compress zip archive
summarize summary
sort order
sum total
percent percentage
area surface
temperature fahrenheit celsius
length miles kilometers meters feet
weight weigh pounds kilograms heavy
height tall
time clock zone
population inhabitants
museum exhibition gallery
painting artwork
sculpture statue
game match
team club
player athlete
score result
law legal lawyer attorney
court lawsuit case
crime offense
student pupil
school university college
course class lesson
grade mark
fuel gas petrol
insurance policy
random dice roll
detect identify recognize
language spanish french german english italian
message dm
elevation altitude high height
multiply product
add plus sum
subtract minus
divide divided
combine join concatenate concat
interaction interact
table standings
firewall block deny allow
stop halt quit
length characters chars
run execute
flip toss
crypto cryptocurrency bitcoin ethereum dogecoin
enroll register sign
drop withdraw remove unenroll
statistic stats goals assists
"""
# phrases that say in several words what tools are named by in one
_PHRASES = r"""
play: put on
remove delete drop: rm | get rid of | throw out | throw away | take [^.?!,]{1,30} (?:out of|off)
stop: shut (?:it )?down | turn off | switch off
start: turn on | switch on | fire up | boot up
translate translation: how (?:do|would|can) (?:you|i|we) say
cancel: call (?:it |that )?off | back out of
postpone reschedule: push back | put off
message: let [\w .@-]{1,30} know | drop [\w.@-]{1,30} a line
note: write down | note down | jot down
search: look for | look up | google
search web: ^\W*google
list directory: ls | (?:what|which) files | what(?:'s| is) in the (?:folder|directory)
time now current: what time is it | what(?:'s| is) the time
date day now current today: what (?:day|year|month) is (?:it|today) | what(?:'s| is) (?:today|the date)
count: how many
length: how many (?:characters|chars)
reverse: backwards?
event calendar: what do i have (?:planned|scheduled|going on)
event calendar: what(?:'s| is| am i) (?:planned|scheduled|doing) (?:for )?(?:today|tomorrow|tonight|on)
weather: what (?:should|do|can) i wear
movie film: who (?:directed|stars in|starred in)
showtime movie: when (?:is|does) [\w ]{1,40} play(?:ing)?
population: how many (?:people|inhabitants) (?:live|are there|does)
direction route: how (?:do|can) (?:i|we) get (?:from|to)
location: where am i
user name profile: who am i
recipe dish ingredient: how (?:do|can|would) (?:i|you|we) (?:make|cook|bake) | what can (?:i|we) (?:make|cook|bake)
unread email inbox: check (?:my|the) (?:inbox|e?mails?) | (?:any )?new (?:e?mails?|messages)
flip coin: heads or tails
generate image picture: draw (?:me )?an? | paint (?:me )?an? | (?:create|make) (?:me )?an? (?:image|picture|drawing) of
synonym: another word for | other words for
greet greeting hello: say (?:hello|hi) to
sentiment: positive or negative
query database sql: select\b.{1,200}?\bfrom
square root: sqrt
stock price: trading at
running status: is [\w.-]{1,30} up | is [\w.-]{1,30} down | up and running
create: set up
date: when (?:was|were|did|is|will)
distance: how far
price cost: how much (?:is|are|does|do|would|will)
duration: how long
percent percentage: \d+ ?% of
news: what's new | what is new
add addition sum: \d+ ?\+ ?\d+
subtract subtraction difference: \d+ [-−] \d+ | \d+ minus \d+
multiply multiplication: \d+ ?[*×] ?\d+ | \d+ x \d+ | \d+ times \d+
divide division: \d+ / \d+ | \d+ ?÷ ?\d+
power exponent: \d+ ?(?:\^|\*\*) ?\d+
calculator calculation mathematical math arithmetic expression: \d+ ?% of \d+ | \d+\)? ?[+*×÷^] ?\(?\d+
calculator calculation mathematical math arithmetic expression: \d+ [-−/x] \d+ | \d+ (?:plus|minus|times|divided by) \d+
math mathematical arithmetic: square root of \d+ | \d+ (?:multiplied by|to the power of) \d+
"""
_RELATED: dict[str, frozenset[str]] = {}
for _line in _GROUPS.strip().splitlines():
    _stems = frozenset(words_of(_line))
    for _stem in _stems:
        _RELATED[_stem] = _RELATED.get(_stem, frozenset()) | _stems
_MEANT = [
    (re.compile(rf"\b(?:{forms.strip().replace(' | ', '|')})\b", re.IGNORECASE), frozenset(words_of(plain)))
    for plain, forms in (line.split(": ", 1) for line in _PHRASES.strip().splitlines())
]


@lru_cache(maxsize=64)
def meant(text: str) -> frozenset[str]:
    """The stems of the plain words for the phrases that a text has: to get rid of is to remove."""
    return frozenset(stem for pattern, stems in _MEANT if pattern.search(text) for stem in stems)


def related(stem: str) -> frozenset[str]:
    """Stems that speak of the same, the given one among them."""
    return _RELATED.get(stem) or frozenset({stem})
