"""Decide whether a call in text is meant, or only quoted: an example, an offer, a report.

A weak form has no marker: a JSON object, a fenced block, `f(x)` in a sentence. A marked form can be quoted too. The text around
the call decides. In the word lists below ' matches either apostrophe.
"""

from __future__ import annotations

import re

import msgspec

# Announces a call.
MADE = """
    i'll, i will, let me, let's, i'm going to, i am going to, i'm (?:calling|making|using|running|invoking|checking|looking),
    i am (?:calling|making|using|running|invoking|checking|looking),
    i (?:need|have|want) to (?:call|use|run|look|check|get|find),
    i (?:should|must) (?:call|use|run), now i? ?call,
    (?<![a-z] )(?:calling|invoking|executing|running|using) (?:the|this|it),
    here's the (?:function |tool )?calls?, here (?:is|are) the (?:function |tool )?calls?, making (?:a|the|this) call,
    to (?:do|answer|get|find|check|solve) (?:this|that|it|your)
"""
# Marks a call as hypothetical, offered, reported or declined.
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
# Describes syntax, code or its result. An announced call outweighs these.
OF_FORM = """
    syntax, format, usage, documentation, docs, docstring, signature, tutorial, snippet, sample, template, schema,
    placeholder, pseudo, quoted?, returns?, returned, defined, defines, definition, define, means?, explains?, explained,
    note that, wrote, said,
    wrong, mistake, bug, without, implement\\w*, equivalent, expected, tests?, compare, versus, differs?, between
"""


def _any_of(*lists: str) -> re.Pattern[str]:
    words = [word.strip().replace("'", "['\u2019]") for word_list in lists for word in word_list.split(",") if word.strip()]
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


_MADE, _UNREAL, _MENTION = _any_of(MADE), _any_of(UNREAL), _any_of(UNREAL, OF_FORM)

_NEAR = 300  # characters on either side that count as surroundings
SEEN = 1000  # characters behind a call that are examined
_LONG = 120  # more text than this behind a call is an explanation
_SHORT = 80  # up to this much text around a call does not make it a part of a text
_FENCE = re.compile(r"(?:^|\n)[ \t]*(?:```|~~~)([\w.+-]*)[ \t]*\n?\s*$")
_SHELLS = frozenset(["bash", "cmd", "console", "powershell", "sh", "shell", "zsh"])  # `name()` is not a call there
_ANY_TEXT = frozenset(["", "json", "plaintext", "text", "tool", "tool_call", "tool_calls", "tool_code", "txt"])  # not a file
_ENTRY = re.compile(r"""\s*+["'`*]*+[\w.\-]++["'`*]*+[ \t]*+[:=][ \t]*+(?:["'\[{].*+|\S++)\s*+""")
_OPENED, _CLOSED = ("{", "[", "(", ","), ("}", "]", ")", ",")
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")
_PROMPT = re.compile(r"^[ \t]*>>> ", re.MULTILINE)
_QUOTES = ("`", '"', "'", "\u201c", "\u2018", "\u00ab")
_LINE_PREFIXES = (">", "|", "#", "//", "* ", "- ", "$", "+", "[")  # of quotes, lists, logs and comments


class Surroundings(msgspec.Struct, frozen=True):
    before: str  # plain text before the call
    after: str  # plain text behind it


def may_be_quoted(before: str) -> bool:
    """Whether even a marked form may be quoted here: in a code block, after a quotation mark, or after a mention."""
    if not before.strip():
        return False
    return before.count("```") % 2 == 1 or before.rstrip()[-1] in _QUOTES or bool(_MENTION.search(_lead(before)))


def quoted_reason(around: Surroundings, *, weak: bool, expression: bool = False, entry: bool = False) -> str | None:
    """The reason if the call is quoted; None if it is meant.

    `weak`: the form has no marker. `expression`: it looks like program code, so it must be announced. `entry`: it looks like an
    entry of a file.
    """
    before, after = around.before, around.after.strip()
    fence = _FENCE.search(before) if before.count("```") % 2 else None
    if fence is not None:
        before, after = before[: fence.start()], after.removeprefix("```").strip()
        if expression and fence[1].lower() in _SHELLS:
            return "it is a shell command"
        if entry and fence[1].lower() not in _ANY_TEXT:
            return "it is a line of a file"
    if not before.strip() and not after:
        return None
    return (
        _by_punctuation(before, weak=weak)
        or (_among_entries(before, after) if entry else None)
        or _mentioned(before, after, weak=weak, expression=expression, fenced=fence is not None)
    )


def _by_punctuation(before: str, *, weak: bool) -> str | None:
    """By punctuation: code, quotation marks, line prefixes."""
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 == 1 or before.count("````") % 2 == 1 or line.count("`") % 2 == 1:
        return "it is in a code block or between backticks"
    if weak and _PROMPT.search(before):
        return "it is in a transcript of an interactive session"
    if line.strip() and line.rstrip()[-1] in _QUOTES:
        return "it is between quotation marks"
    if line.lstrip().startswith(_LINE_PREFIXES) or (weak and len(line) - len(line.lstrip()) >= 4):
        return "it is in a quotation, a list, a log or code"
    return None


def _among_entries(before: str, after: str) -> str | None:
    """By the lines above and below: other entries of a file, or brackets around them."""
    above, below = before.rstrip().rpartition("\n")[2], after.partition("\n")[0]
    indented = bool(above) and before.rpartition("\n")[2].isspace()
    bracketed = above.endswith(_OPENED) or below.startswith(_CLOSED)
    if indented or bracketed or _ENTRY.fullmatch(above) or _ENTRY.fullmatch(below):
        return "it is one entry among others"
    return None


def _mentioned(before: str, after: str, *, weak: bool, expression: bool, fenced: bool) -> str | None:
    """By the words before and behind the call."""
    lead, follow = _lead(before), _SENTENCES.split(after[:_NEAR])[0]
    if lead.endswith("?"):
        return "it is offered in a question"
    made, unreal = _last(_MADE, lead), _last(_UNREAL, lead)
    if unreal is not None and (made is None or unreal.start() > made.start()):
        return f"the text before it mentions it ({unreal[0].lower()}) but does not make it"
    if made is not None or _MADE.search(follow):
        return None
    if expression and not _beside_few_words(before, after):
        return "it is code in a text that does not announce a call"
    if fenced and not weak and lead:
        return "it is in a code block, and the text does not announce a call"
    if _MENTION.search(lead) or _MENTION.search(follow):
        return "the text around it mentions it but does not make it"
    if weak and len(before) > _NEAR and not lead.endswith(":"):
        return "a long text before it does not announce a call"
    return _part_of_a_text(before, after) if weak or fenced else None


def _beside_few_words(before: str, after: str) -> bool:
    """Whether it is on a separate line with little text around it."""
    return not before.rpartition("\n")[2].strip() and len(before.strip()) + len(after) <= _SHORT


def _part_of_a_text(before: str, after: str) -> str | None:
    line = before.rpartition("\n")[2].strip()
    if after[:1].islower() or (line and not line.endswith(":")):
        return "it is part of a sentence that does not make it"
    return "a long text follows it, as after an example" if len(after) > _LONG else None


def _lead(before: str) -> str:
    """The sentence before the call, without the opening fence of a code block."""
    near = before.rstrip()[-_NEAR:]
    fence = _FENCE.search(near + "\n")
    return _SENTENCES.split(near[: fence.start()].rstrip() if fence else near)[-1]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda found: found.start(), default=None)
