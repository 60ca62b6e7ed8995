"""Where a call in text comes from: a call that stands in a tool result is quoted, not made.

A tool result is scanned as a reply is, in every dialect, as it is and with its escapes undone. A call counts as the same if it
names the same tool with equal arguments, however either is written. Native calls are not examined, nor are values that the
model changed.
"""

from __future__ import annotations

import html
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.grammars.dialect import Dialect
from toolglot.io.json_codec import JSON_ERRORS, decode, encode, loads_object, string_leaves
from toolglot.pipeline.response.call_validator import validate_call
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.tool_call_scanner import CallFound, ToolCallScanner

_MAX_SCANNED = 300_000  # characters of a conversation, variants included, the latest first; others are only searched for a copy
_MAX_VARIANTS = 8
_MAX_CACHED = 256  # texts of a toolset; an entry has no text, only hashes
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^\w\s]|_)|([bfnrt]))")
_STRING = re.compile(r'"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)"')
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORD = re.compile(r"[A-Za-z0-9]+")
_SPACE = re.compile(r"\s+")

QUOTED_INPUT = "quoted_input"  # the reason code


class Provenance:
    """The texts that the model was given. They are scanned for the first call that may come from them."""

    def __init__(self, messages: tuple[Message, ...], tools: Toolset, dialect: str | Dialect = "auto") -> None:
        """`dialect`: scanned for too, if it is not among the known ones."""
        self._messages = messages
        self._room = _MAX_SCANNED
        self._scans = cached_for_toolset(tools, ("calls in texts", dialect), _Scans)

    def source(self, call: ToolCall, written: str, *, as_block: bool) -> str | None:
        """Where the call comes from, or None. `written`: its text in the reply. `as_block`: marked, at the start of its line.

        A user may well ask for a call, so a block that a user wrote may be made.
        """
        key = _key(call)
        if any(self._stands_in(text, key, written) for text in _results(self._messages)):
            return "a tool result"
        if not as_block and any(self._stands_in(text, key, written) for text in _prompts(self._messages)):
            return "a message"
        return None

    def _stands_in(self, text: str, key: bytes, written: str) -> bool:
        found, self._room = self._scans.calls_in(text, self._room)
        if key in found.keys:
            return True
        if key not in found.expressions and not found.cut:
            return False
        own = _squeezed(written)
        return any(own in _squeezed(variant) for variant in _variants(text))


def _results(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in reversed(messages):
        for part in message.parts:
            if isinstance(part, ToolResult) and part.rejected is None and part.text:
                yield part.text


def _prompts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in reversed(messages):
        if message.role in ("system", "developer", "user") and not message.rejected:
            yield from (part.text for part in message.parts if isinstance(part, Text) and part.text)


class _Calls(msgspec.Struct, frozen=True):
    keys: frozenset[bytes]
    expressions: frozenset[bytes]  # of call expressions: source code is full of them, so only a verbatim copy counts
    cut: bool  # the text was too long to be scanned whole


class _Scans:
    """Scans texts for calls, each once: a conversation brings the same results with every request."""

    def __init__(self, tools: tuple[Tool, ...], key: tuple[str, str | Dialect]) -> None:
        self._tools, self._dialect = Toolset(tools), key[1]
        self._names = [tool.full_name for tool in tools]
        self._cache: OrderedDict[bytes, _Calls] = OrderedDict()

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        """A word of any tool's name. Most replies have no call in text, and need neither pattern."""
        return re.compile("|".join({re.escape(max(_WORD.findall(name), key=len, default=name)) for name in self._names}))

    @cached_property
    def _breaks(self) -> re.Pattern[str]:
        """Where a call may begin or end."""
        begins = (rf"\b(?={re.escape(name)}\b)" for name in self._names)
        return re.compile("|".join([r"(?=[{\[])|(?<=[}\])])", *begins]))

    def calls_in(self, text: str, room: int) -> tuple[_Calls, int]:
        """The calls, and how much room is left."""
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._cache.pop(name, None)
        if found is None:
            found, room = self._scan(text, room)
        if not found.cut:
            self._cache[name] = found
            if len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
        return found, room

    def _scan(self, text: str, room: int) -> tuple[_Calls, int]:
        keys: set[bytes] = set()
        expressions: set[bytes] = set()
        variants = [variant for variant in _variants(text) if self._mention.search(variant)]
        left, are_broken = list(variants), not variants
        while room >= 0 and (left or not are_broken):
            if not left:  # weak forms need lines of their own
                left, are_broken = [self._breaks.sub("\n", variant) for variant in variants], True
            part = left.pop()
            room -= len(part)
            for found in _regions(part, self._tools, self._dialect) if room >= 0 else ():
                for parsed in found.parsed.calls:
                    call = validate_call(parsed, self._tools, "eager", source=found.dialect).call
                    if call is not None:
                        (expressions if found.dialect == "call_expression" else keys).add(_key(call))
                left.append(found.text[1:])  # a value may contain another call
        return _Calls(frozenset(keys), frozenset(expressions - keys), cut=room < 0), room


def _regions(text: str, tools: Toolset, dialect: str | Dialect) -> list[CallFound]:
    scanner = ToolCallScanner(scanner_for(tools, dialect, "eager"))
    return [piece for piece in [*scanner.feed(text), *scanner.close()] if isinstance(piece, CallFound)]


def _key(call: ToolCall) -> bytes:
    """The same for all spellings of the arguments."""
    arguments = loads_object(call.arguments_json or "{}")
    value = call.arguments_json if arguments is None else _plain(arguments)
    return blake2b(encode([call.full_name, value]), digest_size=16).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return _SPACE.sub(" ", value).strip()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _squeezed(text: str) -> str:
    return "".join(text.split())


# -- escapes


def _variants(text: str) -> tuple[str, ...]:
    """The text, and what it is with JSON strings, backslashes and HTML entities undone, each alone and together."""
    found = [text]
    for known in found:
        for undo in (_strings_on_lines, _without_backslashes, html.unescape):
            undone = undo(known)
            if undone not in found and len(found) < _MAX_VARIANTS:
                found.append(undone)
    return tuple(found)


def _strings_on_lines(text: str) -> str:
    """The strings of a JSON text, or those in any other text, on lines of their own: some forms begin a line."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        with suppress(*JSON_ERRORS):
            return "\n".join(string_leaves(decode(text)))
    return _STRING.sub(lambda found: f"\n{_without_backslashes(found[1])}\n", text)


def _without_backslashes(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code, sign, control = found.groups()
    return chr(int(code, 16)) if code else sign or _CONTROLS[control]
