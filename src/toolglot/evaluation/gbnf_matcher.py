"""Reads GBNF as llama.cpp does, and matches text with all stacks of open rules at once."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOKEN = re.compile(
    r'\s*(?:(?P<literal>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-zA-Z][a-zA-Z0-9-]*)'
    r"|(?P<times>\{[0-9]*,?[0-9]*\}|[*+?])|(?P<sign>[()|]))",
    re.DOTALL,
)
_RANGE = "\ue000"  # stands for the sign between two ends
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "[": "[", "]": "]"}


class Characters:
    """One character of a set of ranges, or one outside it."""

    __slots__ = ("negated", "ranges")

    def __init__(self, ranges: list[tuple[str, str]], *, negated: bool = False) -> None:
        self.ranges, self.negated = ranges, negated

    def has(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


Element = Characters | str  # a name is a reference
Sequence = tuple[Element, ...]


class Stack:
    """What is still to be matched: a sequence from a position, then the stack below it."""

    __slots__ = ("at", "below", "sequence")

    def __init__(self, sequence: Sequence, at: int, below: Stack | None) -> None:
        self.sequence, self.at, self.below = sequence, at, below


def _require(right: object, line: str) -> None:
    if not right:
        raise ValueError(f"not a GBNF grammar: {line}")


class GbnfMatcher:
    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[Sequence]] = {}
        for line in text.splitlines():
            name, sign, body = line.partition(" ::= ")
            _require(sign, line)
            _require(name not in self.rules, f"{name} is defined twice")
            self._tokens = [(found.lastgroup or "", found[found.lastgroup or 0]) for found in _TOKEN.finditer(body)]
            _require("".join(token for _, token in self._tokens) == _without_space(body), line)
            self._at = 0
            self.rules[name] = self._alternatives(name)
            _require(self._at == len(self._tokens), line)
        missing = {
            item for body in self.rules.values() for sequence in body for item in sequence if isinstance(item, str)
        } - self.rules.keys()
        _require(not missing, f"no rule {missing}")
        self._stacks: dict[tuple[int, int, int], Stack] = {}

    def accepts(self, text: str) -> bool:
        """Whether the whole text matches."""
        states = self.start()
        for char in text:
            states = self.feed(states, char)
        return None in states

    def start(self) -> set[Stack | None]:
        return self._expanded(self._stack(sequence, 0, None) for sequence in self.rules["root"])

    def feed(self, states: set[Stack | None], char: str) -> set[Stack | None]:
        return self._expanded(
            self._stack(one.sequence, one.at + 1, one.below)
            for one in states
            if one is not None and isinstance(item := one.sequence[one.at], Characters) and item.has(char)
        )

    # -- stacks

    def _stack(self, sequence: Sequence, at: int, below: Stack | None) -> Stack | None:
        while at == len(sequence):
            if below is None:
                return None
            sequence, at, below = below.sequence, below.at, below.below
        key = (id(sequence), at, id(below))
        found = self._stacks.get(key)
        if found is None:
            found = self._stacks[key] = Stack(sequence, at, below)
        return found

    def _expanded(self, stacks: Iterable[Stack | None]) -> set[Stack | None]:
        """With every reference at the top replaced by what it stands for."""
        found: set[Stack | None] = set()
        seen: set[Stack | None] = set()
        waiting = list(stacks)
        while waiting:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            item = stack.sequence[stack.at] if stack is not None else None
            if stack is None or not isinstance(item, str):
                found.add(stack)
                continue
            below = self._stack(stack.sequence, stack.at + 1, stack.below)
            waiting += [self._stack(sequence, 0, below) for sequence in self.rules[item]]
        return found

    # -- the notation

    def _alternatives(self, name: str) -> list[Sequence]:
        found = [self._sequence(name)]
        while self._at < len(self._tokens) and self._tokens[self._at][1] == "|":
            self._at += 1
            found.append(self._sequence(name))
        return found

    def _sequence(self, name: str) -> Sequence:
        items: list[Element] = []
        start = 0  # of what a count refers to
        while self._at < len(self._tokens) and self._tokens[self._at][1] not in ("|", ")"):
            kind, token = self._tokens[self._at]
            self._at += 1
            if kind == "times":
                items[start:] = self._repeated(tuple(items[start:]), token, name)
                continue
            start = len(items)
            if kind == "literal":
                items += [Characters([(char, char)]) for char in _characters(token[1:-1])]
            elif kind == "set":
                items.append(_set(token[1:-1]))
            elif kind == "name":
                items.append(token)
            else:
                _require(token == "(", token)  # noqa: S105
                items.append(self._new(name, self._alternatives(name)))
                _require(self._tokens[self._at][1] == ")", name)
                self._at += 1
        return tuple(items)

    def _repeated(self, item: Sequence, times: str, name: str) -> list[Element]:
        least, comma, most = {"*": ("0", ",", ""), "+": ("1", ",", ""), "?": ("0", ",", "1")}.get(
            times, times.strip("{}").partition(",")
        )
        low = int(least or 0)
        high = low if not comma else int(most) if most else None
        found: list[Element] = [*item * low]
        if high is None:
            again = self._new(name, [])
            self.rules[again] += [(), (*item, again)]
            return [*found, again]
        optional: Sequence = ()
        for _ in range(high - low):
            optional = (self._new(name, [(), (*item, *optional)]),)
        return [*found, *optional]

    def _new(self, name: str, body: list[Sequence]) -> str:
        new = f"{name}_{len(self.rules)}"
        while new in self.rules:
            new += "_"
        self.rules[new] = body
        return new


def _without_space(body: str) -> str:
    return re.sub(r'("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\])|\s+', lambda found: found[1] or "", body)


def _characters(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        if text[at] != "\\":
            found.append(text[at])
            at += 1
            continue
        kind = text[at + 1]
        size = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
        found.append(chr(int(text[at + 2 : at + 2 + size], 16)) if size else _PLAIN[kind])
        at += 2 + size
    return found


def _set(text: str) -> Characters:
    negated = text.startswith("^")
    marked = re.sub(r"(?<=[^\\])-(?=.)", _RANGE, text.removeprefix("^"))  # a range
    chars, ranges, at = _characters(marked), list[tuple[str, str]](), 0
    while at < len(chars):
        ranged = at + 2 < len(chars) and chars[at + 1] == _RANGE
        ranges.append((chars[at], chars[at + 2] if ranged else chars[at]))
        at += 3 if ranged else 1
    return Characters(ranges, negated=negated)
