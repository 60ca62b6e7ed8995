"""GBNF, the grammar notation of llama.cpp, which xgrammar reads too: rules, literals, lists, and text up to a marker.

An expression is a string of GBNF. Repeats of an optional part, white space and counts are bounded, so that a model under a
grammar can't write them for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from toolglot.errors import CallerError

MAX_CALLS = 32  # in one answer
_MOST_CHARACTERS = 2_000_000
_MOST_REPEATS = 100  # servers copy a repeated part: larger bounds are left out
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_IN_CLASS = {**_ESCAPES, "]": "\\]", "[": "\\[", "^": "\\x5E", "-": "\\x2D"}
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9]+")
_REFERENCE = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-zA-Z][a-zA-Z0-9-]*)')
EMPTY = '""'


class Pair(NamedTuple):
    """A key with its value, as an expression."""

    expression: str
    required: bool


class Rules:
    """The rules of one grammar. The same expression is one rule, however often it is added."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._size = self._count = 0
        self.notes: list[str] = []

    def add(self, hint: str, expression: str) -> str:
        """The name of the rule for an expression."""
        name = self._named.get(expression)
        if name is None:
            name = self._named[expression] = self._free(hint)
            self._set(name, expression)
        return name

    def recursive(self, hint: str, expression_of: Callable[[str], str]) -> str:
        """A rule that refers to itself: `expression_of` gets its name. There is one for each hint."""
        if hint not in self._named:
            name = self._named[hint] = self._free(hint)
            self._set(name, expression_of(name))
        return self._named[hint]

    def text_until(self, endings: Mapping[str, str | None], *, may_end: bool = False) -> str:
        """Any text up to the first of some markers, with what follows that marker; None: the text can't contain it.

        `may_end`: the text may also end without any. The rules are the states of a search for all markers at once, so the text
        never goes past a marker.
        """
        key = f"text {may_end} {sorted(endings.items(), key=str)}"
        if key in self._named:
            return self._named[key]
        states = _states(endings)
        names = [self._free("text") for _ in states]
        for at, state in enumerate(states):
            if not state:  # a whole marker
                continue
            following = {char: endings[target] if isinstance(target, str) else names[target] for char, target in state.items()}
            options = [join(literal(char), rest) for char, rest in following.items() if rest is not None]
            others = "".join(_IN_CLASS.get(char, char) for char in state)
            options.append(f"[^{others}] {names[0]}")
            self._set(names[at], either([*([EMPTY] if may_end else []), *options]))
        return self._named.setdefault(key, names[0])

    def listed(self, hint: str, pairs: list[Pair], between: str, others: str | None = None) -> str:
        """Pairs in this order with a separator; `others` may come after them, any number of times."""
        rest = EMPTY if others is None else f"({join(between, others)})*"
        first = [] if others is None else [join(others, rest)]
        for pair in reversed(pairs):
            alone = join(pair.expression, self.add(hint, rest) if rest != EMPTY else "")
            first = [alone] if pair.required else [alone, *first]
            following = join(between, pair.expression)
            rest = join(following if pair.required else f"({following})?", self.add(hint, rest) if rest != EMPTY else "")
        if not first:
            return EMPTY
        found = self.add(hint, either(first))
        return found if any(pair.required for pair in pairs) else f"{found}?"

    def written(self, root: str) -> str:
        """The grammar, with the rules that the root needs."""
        needed, waiting = {"root": root}, [root]
        while waiting:
            for name in _REFERENCE.findall(waiting.pop()):
                if name and name not in needed:
                    needed[name] = self._rules[name]
                    waiting.append(self._rules[name])
        return "".join(f"{name} ::= {expression}\n" for name, expression in needed.items())

    def _free(self, hint: str) -> str:
        base = _NOT_IN_NAME.sub("-", hint).strip("-").lower() or "rule"
        self._count += 1
        return f"{base if base[0].isalpha() else f'r-{base}'}-{self._count}"

    def _set(self, name: str, expression: str) -> None:
        self._size += len(name) + len(expression)
        if self._size > _MOST_CHARACTERS:
            raise CallerError("the grammar for these tools is too large: pass fewer of them", "tools")
        self._rules[name] = expression


def literal(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"' if text else EMPTY


def join(*parts: str) -> str:
    return " ".join(part for part in parts if part and part != EMPTY) or EMPTY


def either(options: Iterable[str]) -> str:
    found = list(dict.fromkeys(options))
    return found[0] if len(found) == 1 else f"({' | '.join(found)})"


def repeated(item: str, between: str, least: int, most: int | None) -> str:
    """Items with a separator. A large upper bound is left out."""
    if most is not None and most <= 0:
        return EMPTY
    more = "" if most is None or most > _MOST_REPEATS else str(most - 1)
    fewer = min(max(least - 1, 0), _MOST_REPEATS)
    found = item if more == "0" else join(item, f"({join(between, item)}){{{fewer},{more}}}")
    return found if least else f"({found})?"


def _states(markers: Iterable[str]) -> list[dict[str, int | str]]:
    """The automaton that searches for markers: for each state, the next one by character; a marker where one is complete.

    A character that is not in a state leads back to the first.
    """
    children: dict[str, set[str]] = {"": set()}  # a state is a beginning of a marker
    for marker in markers:
        for end, char in enumerate(marker):
            children.setdefault(marker[:end], set()).add(char)
            children.setdefault(marker[: end + 1], set())
    numbers = {prefix: number for number, prefix in enumerate(sorted(children, key=len))}
    complete = set(markers)
    moves: list[dict[str, str]] = []
    for prefix in numbers:  # the shortest first
        shorter = next(prefix[cut:] for cut in range(1, len(prefix) + 1) if prefix[cut:] in numbers) if prefix else ""
        moves.append({**(moves[numbers[shorter]] if prefix else {}), **{char: prefix + char for char in children[prefix]}})
    ended = {prefix: next((end for end in complete if prefix.endswith(end)), None) for prefix in numbers}
    return [
        {} if ended[prefix] else {char: ended[to] or numbers[to] for char, to in moves[number].items()}
        for prefix, number in numbers.items()
    ]
