"""The regular expressions of a response template, as steps that are matched without backtracking.

They come from outside, so they are never run as they are. A pattern is parsed into fixed texts, runs of one kind of character,
and groups; what a template needs is made of these. Anything else is refused: lookbehind, backreferences, repeated groups. What
is compiled from the steps is possessive, so that its cost grows with the text and not faster.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice

import msgspec

from toolglot.errors import CallerError

_LONGEST = 1000
_MAX_DEPTH = 8
_MAX_PARTS = 64  # groups and alternatives
MAX_VARIANTS = 16
_MAX_NESTED = 60  # characters
_QUANTIFIER = re.compile(r"(?:\*|\+|\?|\{(\d{0,4})(,?)(\d{0,4})\})([?+]?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?::|P?<([A-Za-z_]\w{0,63})>|(=)))?")
_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))")
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_ANY = "(?s:.)"
_WORD = r"[\w.-]"  # names may have these too, whatever the pattern allows
_PROBES = [chr(code) for code in range(128)] + ["é", "中", "｜"]  # for deciding whether two kinds of characters overlap


class Text(msgspec.Struct, frozen=True):
    text: str


class Run(msgspec.Struct, frozen=True):
    """Characters of one kind."""

    kind: str  # a pattern for one character
    least: int
    most: int  # sys.maxsize: any number
    lazy: bool = False

    @property
    def blank(self) -> bool:
        """Whether it is white space."""
        return _is_blank(self.kind)


class Group(msgspec.Struct, frozen=True):
    options: tuple[tuple[Step, ...], ...]
    name: str = ""
    optional: bool = False


class Edge(msgspec.Struct, frozen=True):
    """The start or end of the message, or what must follow: it takes no text."""


Step = Text | Run | Group | Edge
Steps = tuple[Step, ...]


def _matches(kind: str, char: str) -> bool:
    return re.fullmatch(kind, char) is not None


@lru_cache(256)
def _is_blank(kind: str) -> bool:
    return not any(_matches(kind, char) for char in _PROBES if not char.isspace())


# -- parsing


def parse_pattern(pattern: str, where: str) -> Steps:
    """The steps of a pattern. Raises if it has anything that is not supported."""
    if len(pattern) > _LONGEST:
        raise CallerError(f"the pattern is longer than {_LONGEST} characters", where)
    parser = _Parser(pattern, where)
    steps = parser.options(0)
    if parser.at < len(pattern):
        raise parser.refused("an unmatched )")
    return steps


class _Parser:
    def __init__(self, pattern: str, where: str) -> None:
        self.pattern, self.where, self.at = pattern, where, 0
        self._names: set[str | None] = set()
        self._parts = 0

    def refused(self, what: str) -> CallerError:
        return CallerError(f"{what} in a pattern is not supported: {self.pattern!r}", self.where)

    def options(self, depth: int) -> Steps:
        """Alternatives, up to the end of the group."""
        self._parts += 1 + self.pattern.count("|", self.at) * (depth == 0)
        if depth > _MAX_DEPTH or self._parts > _MAX_PARTS:
            raise self.refused("so many or so deeply nested groups")
        found = [self._sequence(depth)]
        while self.pattern.startswith("|", self.at):
            self.at += 1
            found.append(self._sequence(depth))
        return found[0] if len(found) == 1 else (Group(tuple(found)),)

    def _sequence(self, depth: int) -> Steps:
        steps: list[Step] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            for step in self._quantified(self._atom(depth)):
                last = steps[-1] if steps else None
                if isinstance(step, Text) and isinstance(last, Text):
                    steps[-1] = Text(last.text + step.text)
                else:
                    steps.append(step)
        return tuple(steps)

    def _atom(self, depth: int) -> Steps:
        """One character or group."""
        char = self.pattern[self.at]
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char in "*+?":
            raise self.refused("a quantifier without anything before it")
        self.at += 1
        if char in "^$":
            return (Edge(),)
        return (Run(_ANY, 1, 1),) if char == "." else (Text(char),)

    def _group(self, depth: int) -> Steps:
        opener = _GROUP.match(self.pattern, self.at)
        assert opener is not None  # noqa: S101  (a bracket was seen)
        self.at = opener.end()
        if opener[1] in self._names:
            raise self.refused("a name twice")
        self._names.update(filter(None, opener.groups()[:1]))
        if self.pattern.startswith("?", self.at):
            raise self.refused(f"the group (?{self.pattern[self.at + 1 : self.at + 3]}")
        inner = self.options(depth + 1)
        if not self.pattern.startswith(")", self.at):
            raise self.refused("an unclosed group")
        self.at += 1
        if opener[2]:
            if self.pattern[self.at : self.at + 1] not in {"", "|", ")"}:
                raise self.refused("a lookahead before the end")
            return (Edge(),)
        return (Group((inner,), opener[1]),) if opener[1] else inner or (Edge(),)

    def _class(self) -> Steps:
        found = _CLASS.match(self.pattern, self.at)
        if found is None or "[" in _ESCAPED.sub("", found[0][1:]):
            raise self.refused("a set in a set" if found else "an unclosed set")
        try:
            re.compile(found[0])
        except re.error as error:
            raise self.refused(f"a wrong set ({error})") from None
        self.at = found.end()
        return (Run(found[0], 1, 1),)

    def _escape(self) -> Steps:
        code = _HEX.match(self.pattern, self.at)
        char = self.pattern[self.at + 1 : self.at + 2]
        self.at += len(code[0]) if code else 2
        if code:
            return (Text(chr(int(code[1] or code[2], 16))),)
        if char in _CHARACTERS:
            return (Text(_CHARACTERS[char]),)
        if char and char in "wWsSdD":
            return (Run(f"\\{char}", 1, 1),)
        if char and char in "AZz":
            return (Edge(),)
        if not char or char.isalnum():
            raise self.refused(f"\\{char}")
        return (Text(char),)

    def _quantified(self, steps: Steps) -> Steps:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None or found[0].startswith(("{}", "{,}")):
            return steps
        self.at = found.end()
        least, most = _bounds(found)
        if least > most:
            raise self.refused(found[0])
        if _QUANTIFIER.match(self.pattern, self.at) or len(steps) != 1 or isinstance(steps[0], Edge):
            return self._optional(steps, least, most)
        step = steps[0]
        if isinstance(step, Text) and len(step.text) == 1:
            step = Run(re.escape(step.text), 1, 1)
        if isinstance(step, Run) and (step.least, step.most) == (1, 1):
            return (msgspec.structs.replace(step, least=least, most=most, lazy=found[4] == "?"),)
        return self._optional(steps, least, most)

    def _optional(self, steps: Steps, least: int, most: int) -> Steps:
        if (least, most) != (0, 1) or any(isinstance(step, Edge) for step in steps):
            raise self.refused("a repeated group")
        if len(steps) == 1 and isinstance(steps[0], Group):
            return (msgspec.structs.replace(steps[0], optional=True),)
        return (Group((steps,), optional=True),)


def _bounds(found: re.Match[str]) -> tuple[int, int]:
    """How often, at least and at most."""
    sign = found[0][0]
    if sign != "{":
        return {"*": (0, sys.maxsize), "+": (1, sys.maxsize), "?": (0, 1)}[sign]
    least = int(found[1] or 0)
    return least, int(found[3]) if found[3] else sys.maxsize if found[2] else least


# -- what the steps begin with, and the ways through them


def openings(steps: Steps, where: str) -> list[tuple[str, Steps]]:
    """The fixed texts that the pattern may begin with, each with the steps that follow. Text before them that is not captured
    is not part of the match: it stays text.
    """
    found = list(islice(_openings(steps, where), MAX_VARIANTS + 1))  # there may be too many to list
    if len(found) > MAX_VARIANTS:
        raise CallerError(f"the pattern begins in more than {MAX_VARIANTS} ways", where)
    return list(dict.fromkeys(found))


def _openings(steps: Steps, where: str) -> Iterator[tuple[str, Steps]]:
    for at, step in enumerate(steps):
        rest = steps[at + 1 :]
        if isinstance(step, Text):
            joined = list(_joined(step, rest))
            if not joined:
                yield step.text, rest
            for one in joined:
                yield from _openings(one, where)
            return
        if isinstance(step, Group):
            if step.name:
                break
            for option in step.options:
                yield from _openings(option + rest, where)
            if not step.optional:
                return
    raise CallerError("the pattern must begin with a fixed text", where)


def _joined(text: Text, rest: Steps) -> Iterator[Steps]:
    """A fixed text with each of the texts that begin the group behind it; none if something else may follow."""
    group = rest[0] if rest else None
    if isinstance(group, Group) and not group.name and not group.optional:
        firsts = [(option[0], option[1:]) for option in group.options if option and isinstance(option[0], Text)]
        if len(firsts) == len(group.options):
            for first, behind in firsts:
                yield (Text(text.text + first.text), *behind, *rest[1:])


def variants(steps: Steps, where: str) -> list[tuple[str, ...]]:
    """The fixed texts on each way through the pattern, in order; a way to the end of the message has none."""
    found = [tuple("".join(text) for joined, text in groupby(way, bool) if joined) for way in _ways(steps, where)]
    return list(dict.fromkeys(found))


def _ways(steps: Steps, where: str) -> list[tuple[str, ...]]:
    """The texts on each way; empty where other text may be between them."""
    ways: list[tuple[str, ...]] = [()]
    for step in steps:
        if isinstance(step, Text):
            ways = [(*way, step.text) for way in ways]
        elif isinstance(step, Run):
            ways = [(*way, "") for way in ways]
        elif isinstance(step, Group):
            inner = [one for option in step.options for one in _ways(option, where)]
            ways = [way + one for way in ways for one in [*inner, *([()] if step.optional else [])]]
        if len(ways) > MAX_VARIANTS:
            raise CallerError(f"the pattern has more than {MAX_VARIANTS} ways", where)
    return ways


def split_at(steps: Steps, name: str) -> tuple[Steps, Group, Steps] | None:
    """The steps before and after a named group."""
    for at, step in enumerate(steps):
        if isinstance(step, Group) and step.name == name:
            return steps[:at], step, steps[at + 1 :]
    return None


def names(steps: Steps) -> set[str]:
    groups = [step for step in steps if isinstance(step, Group)]
    inner = [names(option) for group in groups for option in group.options]
    return {group.name for group in groups if group.name}.union(*inner)


# -- compiling


def compiled(steps: Steps, groups: Mapping[str, str], where: str, after: Steps = ()) -> str:
    """A pattern that matches the steps without backtracking. `groups`: captures that are needed, under their new names."""
    parts = []
    for at, step in enumerate(steps):
        rest = steps[at + 1 :] + after
        if isinstance(step, Text):
            parts.append(re.escape(step.text))
        elif isinstance(step, Run):
            parts.append(_run(step, rest, where))
        elif isinstance(step, Group):
            parts.append(_group(step, groups, where, rest))
    return "".join(parts)


def _group(group: Group, groups: Mapping[str, str], where: str, rest: Steps) -> str:
    options = [_widened(option) if group.name in groups else option for option in group.options]
    inner = "|".join(compiled(option, groups, where, rest) for option in options)
    new = groups.get(group.name)
    return (f"(?P<{new}>(?>{inner}))" if new else f"(?>{inner})") + ("?+" if group.optional else "")


def _widened(steps: Steps) -> Steps:
    return tuple(
        msgspec.structs.replace(step, kind=_WORD) if isinstance(step, Run) and step.kind == r"\w" else step for step in steps
    )


def _run(run: Run, rest: Steps, where: str) -> str:
    most = "" if run.most == sys.maxsize else str(run.most)
    times = f"{{{run.least},{most}}}+"
    stops = _first_texts(rest)
    if not rest:
        return f"{run.kind}{{{run.least}}}" if run.lazy else run.kind + times
    if stops is None:
        following = _first_run(rest)
        if run.lazy or following is None or (following.least and _overlap(run.kind, following.kind)):
            raise CallerError("what follows text of any length must be a fixed text", where)
        return run.kind + times
    if not run.lazy and not any(_matches(run.kind, stop[0]) for stop in stops):
        return run.kind + times
    return f"(?:(?!{'|'.join(map(re.escape, stops))}){run.kind}){times}"


def _first_run(steps: Steps) -> Run | None:
    """The run that comes first, if nothing else can."""
    step = steps[0] if steps else None
    if isinstance(step, Group) and len(step.options) == 1 and not step.optional:
        return _first_run(step.options[0])
    return step if isinstance(step, Run) else None


def _overlap(one: str, other: str) -> bool:
    return any(_matches(one, char) and _matches(other, char) for char in _PROBES)


def _first_texts(steps: Steps) -> list[str] | None:
    """The fixed texts that may come first, after white space; None: other text may, or none."""
    texts, may_be_empty = _first(steps)
    return None if may_be_empty else texts


def _first(steps: Steps) -> tuple[list[str] | None, bool]:
    """As above, and whether the steps may be empty or white space."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Text):
            return [*found, step.text], False
        if isinstance(step, Run) and not (step.blank and not step.least):
            return None, False
        if isinstance(step, Group):
            options = [_first(option) for option in step.options]
            if any(texts is None for texts, _ in options):
                return None, False
            found += [text for texts, _ in options if texts for text in texts]
            if not step.optional and not any(may_be_empty for _, may_be_empty in options):
                return found, False
    return found, True


def end_of_run(steps: Steps, where: str) -> str:
    """A lookahead that the last step has ended, so that a match does not depend on how much of the text has arrived."""
    last = steps[-1] if steps else Text("")
    if isinstance(last, Group) and last.name and len(last.options) == 1 and len(last.options[0]) == 1 and not last.optional:
        last = _widened(last.options[0])[0]
    if isinstance(last, Text):
        return ""
    if isinstance(last, Run) and not last.lazy and last.kind != _ANY:
        return f"(?=(?!{last.kind})(?s:.))"
    raise CallerError("the pattern must end with a fixed text", where)


def impossible(steps: Steps) -> str:
    """A pattern for text that can't become these steps; empty if none is known. It ends where there are several ways."""
    if not steps:
        return ""
    step, rest = steps[0], steps[1:]
    if isinstance(step, Group) and len(step.options) == 1 and not step.optional:
        return impossible((_widened(step.options[0]) if step.name else step.options[0]) + rest)
    if isinstance(step, Text):
        dead = impossible(rest) if len(step.text) <= _MAX_NESTED else ""
        for char in reversed(step.text[:_MAX_NESTED]):
            sign = re.escape(char)
            dead = f"(?:[^{sign}]|{sign}{dead})" if dead else f"[^{sign}]"
        return dead
    if not isinstance(step, Run) or step.lazy or step.least > 1 or step.kind == _ANY:
        return ""
    if rest and isinstance(rest[0], Text) and _matches(step.kind, rest[0].text[0]):
        return ""
    none = f"(?!{step.kind})(?s:.)" if step.least else ""
    dead = impossible(rest)
    return "(?:" + "|".join(filter(None, [none, f"{step.kind}*+{dead}" if dead else ""])) + ")" if none or dead else ""


def example(steps: Sequence[Step], captures: Mapping[str, str]) -> str:
    """The shortest text that matches, with these captures."""
    parts = []
    for step in steps:
        if isinstance(step, Text):
            parts.append(step.text)
        elif isinstance(step, Run):
            parts.append(next((char for char in (" ", "x", *_PROBES) if _matches(step.kind, char)), "") * step.least)
        elif isinstance(step, Group) and step.name in captures:
            parts.append(captures[step.name])
        elif isinstance(step, Group) and not step.optional:
            parts.append(example(step.options[0], captures))
    return "".join(parts)
