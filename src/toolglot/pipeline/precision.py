"""Whether a call was meant: is it being made now, or is it quoted, offered, refused, or an example?

A weak form has no marker of its own: a JSON object, a fenced block, `f(x)` in a sentence. A marked form can be quoted too. What
stands around it decides. The lists below are words of people and models, for what they say of a call; ' is either apostrophe.
"""

from __future__ import annotations

import re

import msgspec

# Said of what follows: it is being done.
MADE = """
    i'll, i will, let me, let's, i'm going to, i am going to, i'm (?:calling|making|using|running|invoking|checking|looking),
    i am (?:calling|making|using|running|invoking|checking|looking),
    i (?:need|have|want) to (?:call|use|run|look|check|get|find),
    i (?:should|must) (?:call|use|run), now i? ?call,
    (?<![a-z] )(?:calling|invoking|executing|running|using) (?:the|this|it),
    here's the (?:function |tool )?calls?, here (?:is|are) the (?:function |tool )?calls?, making (?:a|the|this) call,
    to (?:do|answer|get|find|check|solve) (?:this|that|it|your)
"""
# Said of what follows or went before: it is imagined, offered, reported or declined.
UNREAL = """
    examples?, e.g, for instance, such as, illustrat\\w+, would, could, might, may, can be (?:called|written|used),
    looks? like,
    like this, how such, you can, you could, you should, you might, you may, your (?:log|file|code|message|prompt|database),
    writes? (?:a|its|their|calls?), written as, suppose, imagine, hypothetical(?:ly)?, if (?:you|your|i|we|the|a|an), when you,
    whenever, instead of, rather than, previous(?:ly)?, earlier, yesterday, last time, used to, (?:was|were|had|been) called,
    answered with, replied with, printed, logs?, logged, transcript, history, trace, can't, cant, cannot, can not,
    won't, will not,
    don't, do not, did not, didn't, doesn't, shouldn't, should not, wouldn't, not able, unable, refuse, decline,
    never, not going to
"""
# Said of a form, a piece of code or its outcome; a promise to call outweighs these.
OF_FORM = """
    syntax, format, usage, documentation, docs, docstring, signature, tutorial, snippet, sample, template, schema,
    placeholder, pseudo, quoted?, returns?, returned, defined, defines, definition, define, means?, explains?, explained,
    note that, wrote, said,
    wrong, mistake, bug, without, implement\\w*, equivalent, expected, tests?, compare, versus, differs?, between
"""


def _any_of(*lists: str) -> re.Pattern[str]:
    words = [word.strip().replace("'", "['\u2019]") for held in lists for word in held.split(",") if word.strip()]
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


_MADE, _UNREAL, _SPOKEN_OF = _any_of(MADE), _any_of(UNREAL), _any_of(UNREAL, OF_FORM)

_NEAR = 300  # characters on either side that count as around it
SEEN = 1000  # characters behind a call that are looked at
_LONG = 120  # a text behind the call that is longer than a promise to come back
_FEW = 80  # so much beside a call is hardly a text
_FENCE = re.compile(r"(?:^|\n)[ \t]*(?:```|~~~)([\w.+-]*)[ \t]*\n?\s*$")
_SHELLS = frozenset(["bash", "cmd", "console", "powershell", "sh", "shell", "zsh"])  # where `name()` is something else
_ANY_TEXT = frozenset(["", "json", "plaintext", "text", "tool", "tool_call", "tool_calls", "tool_code", "txt"])  # and no file's
_ENTRY = re.compile(r"""\s*+["'`*]*+[\w.\-]++["'`*]*+[ \t]*+[:=][ \t]*+(?:["'\[{].*+|\S++)\s*+""")
_OPENED, _CLOSED = ("{", "[", "(", ","), ("}", "]", ")", ",")
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")
_PROMPT = re.compile(r"^[ \t]*>>> ", re.MULTILINE)
_QUOTES = ("`", '"', "'", "\u201c", "\u2018", "\u00ab")
_NOTED = (">", "|", "#", "//", "* ", "- ", "$", "+", "[")  # how lines begin that quote, list, log or comment


class Around(msgspec.Struct, frozen=True):
    before: str  # all plain text before the call
    after: str  # all plain text behind it


def in_doubt(before: str) -> bool:
    """Whether even a marked form may be quoted here: in a code block, behind a quotation mark, or spoken of just before."""
    if not before.strip():
        return False
    return before.count("```") % 2 == 1 or before.rstrip()[-1] in _QUOTES or bool(_SPOKEN_OF.search(_lead(before)))


def quoted_because(around: Around, *, weak: bool, expression: bool = False, entry: bool = False) -> str | None:
    """Why this is not a call being made, as a sentence; None where it is one.

    `weak`: the form has no marker of its own. `expression`: it is written as programs are, and so must be announced.
    `entry`: it is written as the entries of a file are.
    """
    before, after = around.before, around.after.strip()
    fence = _FENCE.search(before) if before.count("```") % 2 else None
    if fence is not None:
        before, after = before[: fence.start()], after.removeprefix("```").strip()
        if expression and fence[1].lower() in _SHELLS:
            return "it is a line for a shell"
        if entry and fence[1].lower() not in _ANY_TEXT:
            return "it is a line of a file"
    if not before.strip() and not after:
        return None
    return (
        _set_apart(before, weak=weak)
        or (_among_entries(before, after) if entry else None)
        or _spoken_of(before, after, weak=weak, expression=expression, fenced=fence is not None)
    )


def _set_apart(before: str, *, weak: bool) -> str | None:
    """By signs: code, quotation marks, the beginnings of lines."""
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 == 1 or before.count("````") % 2 == 1 or line.count("`") % 2 == 1:
        return "it stands inside a code block or between backticks"
    if weak and _PROMPT.search(before):
        return "it stands in an interactive session"
    if line.strip() and line.rstrip()[-1] in _QUOTES:
        return "it stands between quotation marks"
    if line.lstrip().startswith(_NOTED) or (weak and len(line) - len(line.lstrip()) >= 4):
        return "it stands in a quotation, a list, a log or a piece of code"
    return None


def _among_entries(before: str, after: str) -> str | None:
    """By the lines above and below: they are entries of the same file, or the brackets around them."""
    above, below = before.rstrip().rpartition("\n")[2], after.partition("\n")[0]
    indented = bool(above) and before.rpartition("\n")[2].isspace()
    bracketed = above.endswith(_OPENED) or below.startswith(_CLOSED)
    if indented or bracketed or _ENTRY.fullmatch(above) or _ENTRY.fullmatch(below):
        return "it is one entry among others"
    return None


def _spoken_of(before: str, after: str, *, weak: bool, expression: bool, fenced: bool) -> str | None:
    """By words: what leads up to it, and what follows."""
    lead, follow = _lead(before), _SENTENCES.split(after[:_NEAR])[0]
    if lead.endswith("?"):
        return "it is offered, and an answer is awaited"
    made, unreal = _last(_MADE, lead), _last(_UNREAL, lead)
    if unreal is not None and (made is None or unreal.start() > made.start()):
        return f"what leads up to it speaks of it ({unreal[0].lower()}), and does not make it"
    if made is not None or _MADE.search(follow):
        return None
    if expression and not _beside_few_words(before, after):
        return "it is a piece of code in a text, and nothing says that it is run"
    if fenced and not weak and lead:
        return "it is shown in a code block, and nothing says that it is being made"
    if _SPOKEN_OF.search(lead) or _SPOKEN_OF.search(follow):
        return "what stands around it speaks of it, and does not make it"
    if weak and len(before) > _NEAR and not lead.endswith(":"):
        return "a long text leads up to it, and does not say that it is made"
    return _part_of_a_text(before, after) if weak or fenced else None


def _beside_few_words(before: str, after: str) -> bool:
    """On a line of its own, with hardly a word around it: then it is what the message is about."""
    return not before.rpartition("\n")[2].strip() and len(before.strip()) + len(after) <= _FEW


def _part_of_a_text(before: str, after: str) -> str | None:
    line = before.rpartition("\n")[2].strip()
    if after[:1].islower() or (line and not line.endswith(":")):
        return "it is a part of a sentence that does not make it"
    return "a text goes on behind it, as behind an example" if len(after) > _LONG else None


def _lead(before: str) -> str:
    """The sentence that leads up to the call; a code block's opening fence does not count."""
    near = before.rstrip()[-_NEAR:]
    fence = _FENCE.search(near + "\n")
    return _SENTENCES.split(near[: fence.start()].rstrip() if fence else near)[-1]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda found: found.start(), default=None)
