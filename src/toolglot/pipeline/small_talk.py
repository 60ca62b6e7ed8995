"""Whether somebody only makes talk: greetings, thanks, compliments, memories. Nothing is to be called for it."""

from __future__ import annotations

import re

_MOST = 300  # characters of a text that only makes talk
_PAUSE = re.compile(r"[.!?,;:…\n]+|\s[-–—]\s")
_GREETING = re.compile(
    r"^\W*(?:(?:hi|hello|hey|bye|goodbye|good (?:morning|evening|night|afternoon))(?:\W+[\w'-]+){0,2}"
    r"|(?:many )?thank(?:s| you)(?: so| very| a| lot| much| again)*(?: for [^.?!,]{1,40})?"
    r"|(?:\w+\W+){0,3}how are you(?: doing)?(?: today)?)\W*$",
    re.IGNORECASE,
)
_MUSING = re.compile(r"^[^?]*\bI (?:loved|lived|used to|remember|hated?|enjoyed|adored?)\b[^?]*$")

# what people say to be polite, by itself or one after another, without case
_POLITE = r"""
(?:ha ?){2,}\w* | (?:he ?){2,} | lol | wow | cool | nice | great | awesome | perfect | wonderful | ok | okay | all ?right | sure
fine | yes | no | yeah | bye | bye bye | hi | hello | hey | (?:hi|hello) there | cheers | got it | i see | sounds good
never ?mind
no (?:thanks|thank you|worries|problem) | you too | take care | sleep well | well done | nice (?:work|one|to meet you)
good ?(?:job|work|one|morning|evening|night|afternoon|bot|bye) | i appreciate (?:it|that|your help)
(?:many |ok |okay )?thank(?:s| you)(?: so| very| a| lot| bunch| much| again)*(?: for [\w' ]{1,40})?
that(?:'s| is| was| will be) (?:all|it|everything|enough)(?: for (?:now|today))?
that(?:'s| is| was)(?: really| very| so| pretty| quite)? (?:funny|good|nice|amazing|awesome|cool|great|perfect|helpful)
that(?:'s| is| was| will be) (?:all|everything) i (?:need(?:ed)?|wanted)
you(?:'re| are)(?: really| very| so| pretty| quite)* (?:funny|great|kind|nice|helpful|amazing|awesome|smart|sweet|welcome)
you(?:'re| are) (?:the best|a star|a legend)
you(?:'ve| have) been(?: really| very| so| a| great| big| huge)* (?:help|helpful|great|kind|wonderful)
i (?:really )?(?:like|love|enjoy|enjoyed) (?:talking|chatting|speaking) (?:to|with) you
i(?:'ve| have)(?: already)? (?:figured|found|sorted|solved|done|got)(?: \w+){0,3}(?: myself| out| already)
(?:have|enjoy) (?:a|the rest of your|your)(?: \w+)? (?:day|evening|night|weekend|week|one) | see you(?: \w+){0,2}
talk (?:to you )?(?:later|soon) | how are you(?: doing| feeling)? | how(?:'s| is) it going | what(?:'s| is) up | how do you do
are you (?:a robot|a bot|human|a human|real|an ai|there|alive|happy) | who (?:are|made|built|created) you
my name is \w+ | (?:i am|i'm) (?:(?:feeling |so |a bit )*(?:bored|sad|tired|happy|lonely)|from \w+)
i live in \w+(?: \w+)?
what do you mean | what do you think(?: (?:about|of) [\w ]{1,40})?
what(?:'s| is) your name | do you (?:have feelings|dream|sleep|get tired(?: \w+)*) | tell me (?:a|another) (?:joke|story)
"""
_BEFORE = "oh|ah|well|so|and|but|anyway"
_BEHIND = "today|too|then|again|now|anyway|so far|very much|there|everyone|friend|buddy|mate"
_FORMS = "|".join(form.strip() for line in _POLITE.strip().splitlines() for form in line.split(" | "))
_PLEASANT = re.compile(rf"(?:(?:{_BEFORE}) )*(?:{_FORMS})(?: (?:{_BEHIND}))*", re.IGNORECASE)


def is_small_talk(text: str) -> bool:
    """Nobody wants anything done."""
    said = [part.strip(" '\"()") for part in _PAUSE.split(text[:_MOST].replace("’", "'")) if any(map(str.isalpha, part))]
    if said and len(text) <= _MOST and all(map(_PLEASANT.fullmatch, said)):
        return True
    return _GREETING.match(text) is not None or _MUSING.search(text) is not None
