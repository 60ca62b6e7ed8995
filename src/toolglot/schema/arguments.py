"""Parses the text between a call's parentheses: JSON, else `key=value`, else by position."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.core.budget import Budget, BudgetSpent
from toolglot.errors import CallerError
from toolglot.schema.check import checker
from toolglot.schema.coerce import repair
from toolglot.schema.coerce_text import allows, property_schema, typed_value
from toolglot.schema.loose_string import CLOSING, Unclear, read_quoted
from toolglot.schema.relaxed_json import kind_of, read_object, read_relaxed
from toolglot.schema.schema_repair import Schema

_KEY = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(=(?!=)|:(?!//))\s*")
_AFTER_NAMED = re.compile(r"\s*(?:\Z|,\s*(?:\Z|[A-Za-z_][\w.-]{0,100}\s*[=:]))")
_AFTER_PLACED = re.compile(r"\s*(?:\Z|,)")
_STOP = re.compile(r"""[,\[\](){}]|(?<![\w)\]])["']""")
_REST_OF_STRING = {quote: re.compile(rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*{quote}", re.DOTALL) for quote in "\"'"}
_NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?\Z")
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_PAIRS = {"]": "[", ")": "(", "}": "{"}
_MAX_DIGITS = 4000
_JSON_STARTS = frozenset("{\"'`~\ufeff")


class _Piece(msgspec.Struct):
    key: str | None
    text: str  # without its quotes, if it had any
    quoted: bool = False
    more: list[str] = []  # continuations after commas

    @property
    def whole(self) -> str:
        return ", ".join([self.text, *self.more])


def parse_arguments(text: Any, schema: Schema | None = None) -> dict[str, Any]:
    """The arguments in `text`, each with the type that the schema gives it. A CallerError if they can't be parsed.

    Examples:
        >>> parse_arguments('city="Rome", days=3')
        {'city': 'Rome', 'days': 3}
        >>> parse_arguments("{city: 'Rome',}")
        {'city': 'Rome'}
    """
    if isinstance(text, dict):
        return text
    if text is not None and not isinstance(text, str):
        raise CallerError(f"expected text or an object, got {kind_of(text)}", "arguments")
    if schema is not None and not isinstance(schema, dict):
        raise CallerError(f"expected a JSON Schema, got {kind_of(schema)}", "schema")
    text = (text or "").strip().removeprefix("**")
    if not text:
        return {}
    try:
        return _typed(_read(text, schema), schema, text)
    except Unclear as reason:
        raise CallerError(str(reason), "arguments") from None


def _read(text: str, schema: Schema | None) -> dict[str, Any]:
    if text[0] not in _JSON_STARTS:
        return _named(_pieces(text, schema), schema)
    read = read_object(text)
    if read.problem is None:
        return dict(read.value)
    if text[0] in CLOSING and not text.startswith("```"):
        return _named(_pieces(text, schema), schema)
    try:  # an object may be the first of several values
        pieces = _pieces(text, schema)
    except Unclear:
        pieces = []
    if len(pieces) < 2:
        raise Unclear(f"invalid JSON: {read.problem}")
    return _named(pieces, schema)


def _typed(arguments: dict[str, Any], schema: Schema | None, text: str) -> dict[str, Any]:
    if not schema:
        return arguments
    check, budget = checker(schema), Budget()
    try:
        if check.fits(arguments, budget):
            return arguments
        repaired = repair(arguments, check, text=text, budget=budget)
    except BudgetSpent:
        raise Unclear("fitting them to the schema takes too many steps") from None
    return repaired.value if repaired else arguments


def _pieces(text: str, schema: Schema | None) -> list[_Piece]:
    pieces: list[_Piece] = []
    at, unclosed = 0, set[str]()
    while at < len(text):
        key, at = _key(text, at, schema)
        while at < len(text) and text[at].isspace():
            at += 1
        if at < len(text) and text[at] in CLOSING:
            read = read_quoted(text, at, _AFTER_NAMED if key else _AFTER_PLACED)
            pieces.append(_Piece(key, read.value, quoted=True))
            at = read.end
            while at < len(text) and text[at] != ",":  # white space
                at += 1
        else:
            end = _bare_end(text, at, unclosed)
            _add_bare(pieces, key, text[at:end].strip())
            at = end
        at += 1
    return pieces


def _key(text: str, at: int, schema: Schema | None) -> tuple[str | None, int]:
    """`city=`; `city:` only if there is such a parameter, because prose has colons too."""
    found = _KEY.match(text, at)
    if found is None or (found[2] == ":" and found[1] not in _parameters(schema)):
        return None, at
    return found[1], found.end()


def _bare_end(text: str, at: int, unclosed: set[str]) -> int:
    """Where a value without quotes ends: at the next comma outside of brackets and strings.

    `unclosed`: quotes that have no closing quote, so that the search for it runs only once.
    """
    stack: list[str] = []
    while (found := _STOP.search(text, at)) is not None:
        char, at = found[0], found.end()
        if char in _REST_OF_STRING:
            string = None if char in unclosed else _REST_OF_STRING[char].match(text, at)
            at = string.end() if string else at
            unclosed |= {char} if string is None else set()
        elif char == "," and not stack:
            return found.start()
        elif char in "[({":
            stack.append(char)
        elif char in _PAIRS and (not stack or stack.pop() != _PAIRS[char]):
            raise Unclear(f"{char!r} closes nothing")
    if stack:
        raise Unclear(f"{stack[-1]!r} is not closed")
    return len(text)


def _add_bare(pieces: list[_Piece], key: str | None, value: str) -> None:
    """`city=New York, NY`: after a named text, a piece without a name continues it."""
    if not value:
        raise Unclear(f"{key!r} has no value" if key else "a value is missing before a comma")
    last = pieces[-1] if pieces else None
    if key is None and last is not None and last.key is not None:
        if last.quoted or not isinstance(_literal(last.text), str) or last.text[:1] in ("[", "{", "("):
            raise Unclear(f"{value[:40]!r} has no name, but follows a named argument")
        last.more.append(value)
        return
    pieces.append(_Piece(key, value))


def _named(pieces: list[_Piece], schema: Schema | None) -> dict[str, Any]:
    names = list(_parameters(schema))
    arguments: dict[str, Any] = {}
    for at, piece in enumerate(pieces):
        key = piece.key
        if key is None:
            if names and at >= len(names):
                raise Unclear(f"{len(pieces)} values for {len(names)} parameters")
            key = names[at] if names else f"arg{at}"
        if key in arguments:
            raise Unclear(f"{key!r} is given twice")
        inner = property_schema(schema, key) if schema else None
        arguments[key] = _value(piece, inner)
    return arguments


def _parameters(schema: Schema | None) -> dict[str, Any]:
    properties = schema.get("properties") if schema else None
    return properties if isinstance(properties, dict) else {}


def _value(piece: _Piece, schema: Schema | None) -> Any:
    text = piece.whole
    if piece.quoted:
        return text if schema is None or allows(schema, "string") else typed_value(text, schema)
    if schema is None:
        return text if piece.key is None else _structure(text)
    value = typed_value(text, schema)
    return _structure(text) if value == text and not allows(schema, "string") else value


def _structure(text: str) -> Any:
    """A literal, a list or an object; anything else is text."""
    if text[:1] in ("[", "{", "("):
        read = read_relaxed(text)
        if read.problem is not None and not text.startswith("("):
            raise Unclear(f"{text[:40]!r} can't be parsed: {read.problem}")
        return text if read.problem else read.value
    return _literal(text)


def _literal(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.match(text) or _LEADING_ZERO.match(text) or len(text) > _MAX_DIGITS:
        return text
    number = float(text) if any(sign in text for sign in ".eE") else int(text)
    return text if number in (float("inf"), float("-inf")) else number
