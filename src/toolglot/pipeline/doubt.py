"""Calls that nothing in the conversation speaks for. Small models make them: an id of 12345, a city that nobody named.

Four things are looked for, each so narrow that a call that was meant as it stands is next to never doubted: an id or an e-mail
address that stands nowhere; a name, where nobody has named anything or an id is wanted; a call that was just made and has its
result; and a tool with which the conversation shares no word. The model is told why. Where it insists, it may know better than
words can tell, and the call passes; but nobody knows an id that was never said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.guard_calls import NO_SUCH_TOOL, canonical
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import spaced, words_of
from toolglot.pipeline.said import FUNCTION_WORDS
from toolglot.text.json_text import loads_object, shown

INVENTED, UNRELATED, REPEATED = "rejected_invented", "rejected_unrelated", "rejected_repeat"
DOUBTED = frozenset({INVENTED, UNRELATED, REPEATED})
_MOST_TEXT = 200_000  # characters of the conversation, the last ones
_SHARP = re.compile(r"\w[./@:_-]\w|\d\d")
_TOO_MUCH = 2  # times that one call was refused: it is wrong in more than one way
_ENOUGH = 2  # arguments that were said: the call has to do with what was asked
_MOST_GIVEN = 5  # values that are told back
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID_KEY = re.compile(r"(?:^|_)(?:ids?|uuid|guid)$|[a-z](?:Id|ID)s?$")
_ID_TOLD = re.compile(r"\b(?:id|ID|identifier)\b")
_IN_WORDS = re.compile(r"[^\W\d_]+[.,]?(?: [^\W\d_]+[.,]?)+")
_STANDS_FOR = re.compile(r"(?:some|your|any|unknown|example|placeholder|the)\b[ _]?(.*)|[<\[{](.*)[>\]}]", re.IGNORECASE)
_MAKES = re.compile(r"(?:^|[._])(?:create|add|new|make|write|set|register|insert|generate|save|start|open|todo)", re.IGNORECASE)
_TELLS = re.compile(r"(?:^|[._])(?:get|find|look|lookup|search|list|fetch|read|query|who|where|current)", re.IGNORECASE)
_NAME_KEY = re.compile(
    r"(?:city|town|place|location|address|street|airport|station|origin|destination|person|customer|author|artist|restaurant"
    r"|hotel|company|patient|doctor|recipient|contact|user_?name)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_a-z][\w'.-]*[a-z][\w'.-]*(?:,? [^\W\d_][\w'.-]*){0,4}")
_NAMED = re.compile(r"(?<![.!?:\n])(?<![.!?:\n] )(?<!^)\b[^\W\d_a-z][\w'-]+|\b[A-Z]{2,}\b|(?<!\w)[\"'“‘][^\W\d_]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f]")
_ADVISED = re.compile(r"; call (.{1,300}?) first, which may give it")
_SQUEEZED = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+")


class Doubts:
    """What a conversation speaks for. Looked at when the first call comes, and then once."""

    def __init__(self, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> None:
        self._messages = messages
        self._tools = {tool.full_name: tool for tool in tools}

    def of(self, call: ToolCall) -> tuple[str, str] | None:
        """The code and the reason, if the call is to be doubted."""
        tool = self._tools.get(call.full_name)
        held = loads_object(call.arguments_json)
        if tool is None or tool.kind != "function" or held is None:
            return None
        invented = self._invented(tool, held)
        if invented is not None:
            return INVENTED, invented
        told = self._told.get(canonical(call), ())
        for code, why in self._unlikely(call, tool, held):
            insisted = any(why in one for one in told) and len(told) < _TOO_MUCH
            if not insisted or (code == UNRELATED and self._wanted_another):
                return code, why
        return None

    def _unlikely(self, call: ToolCall, tool: Tool, held: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """What may be right all the same: each is told once, and where there is more than one of it, it is not believed."""
        if canonical(call) in self._just_made:
            yield REPEATED, "it was just made with these arguments, and its result stands above"
        unlikely = self._unnamed(tool, held) or self._no_id(tool, held)
        if unlikely is not None:
            yield INVENTED, unlikely
        if not self._under_way(tool) and not self._related(tool) and self._gives(held) < _ENOUGH:
            yield UNRELATED, "nothing in the conversation asks for what it does"

    # -- values

    def _invented(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """What stands for a value, and an id or an address that was not given; who makes something may choose its id."""
        for key, schema, value in _free(tool, held):
            if _is_placeholder(key, value) and _squeezed(value) not in self._squeezed:
                return f"{key} is {shown(value, 60)!r}, which stands for a value and is none{self._advice(key, tool)}"
            is_id = _ID_KEY.search(key) or _ID_TOLD.search(str(schema.get("description", "")))
            if not _MAIL.fullmatch(value) and (not is_id or _names_what_it_makes(tool, key)):
                continue
            if _squeezed(value) not in self._squeezed:
                told = f"{key} is {shown(value, 60)!r}, which stands nowhere in the conversation"
                mails = list(dict.fromkeys(_MAIL.findall(self._text)))[:_MOST_GIVEN] if "@" in value else []
                return told + (f"; it has {' and '.join(mails)}" if mails else self._advice(key, tool))
        return None

    def _advice(self, key: str, wanted: Tool) -> str:
        given = self._given(key)
        if given:
            return f"; the conversation has {' and '.join(given)}"
        tellers = self._tellers(key, wanted)
        return f"; call {' or '.join(tellers[:3])} first, which may give it" if tellers else "; ask the user for it"

    def _given(self, key: str) -> list[str]:
        """Values that a result has under the same key."""
        found = re.findall(rf'"{re.escape(key)}"\s*:\s*"([^"\\]{{1,80}})"', self._text)
        return list(dict.fromkeys(found))[:_MOST_GIVEN]

    def _tellers(self, key: str, wanted: Tool) -> list[str]:
        """Tools that may give a value: they look something up, speak of the same thing, and don't need the value themselves."""
        about = frozenset(words_of(spaced(f"{key} {wanted.name}").replace("_", " "))) - {"id"}
        return [
            name
            for name, tool in self._tools.items()
            if _TELLS.search(tool.name) and key not in _required(tool) and about & _words_of_tool(tool)
        ]

    def _unnamed(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A name, where the user has named nothing at all."""
        if self._names_something:
            return None
        for key, _, value in _free(tool, held):
            if _NAME_KEY.search(key) and _NAME.fullmatch(value) and not self._traced(value):
                return f"{key} is {shown(value, 60)!r}, and nobody has said so{self._advice(key, tool)}"
        return None

    def _no_id(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """Words where an id is wanted, and there is a tool that may give it."""
        for key, _, value in _free(tool, held):
            if _ID_KEY.search(key) and _IN_WORDS.fullmatch(value) and self._tellers(key, tool):
                return f"{key} is {shown(value, 60)!r}, which is a name and no id{self._advice(key, tool)}"
        return None

    def _traced(self, name: str) -> bool:
        words = _WORD.findall(_plain(name))
        if any(len(word) < 3 or word[:4] in self._beginnings for word in words):
            return True
        return "".join(word[0] for word in words[:2]) in {word[:2] for word in self._words}  # nyc

    # -- the tool

    def _related(self, tool: Tool) -> bool:
        """Words are no measure for a conversation in another script."""
        if _OTHER_SCRIPT.search(self._text):
            return True
        return not self._stems.isdisjoint(_words_of_tool(tool))

    def _gives(self, held: dict[str, Any]) -> int:
        """How many arguments the conversation has; a path or a longer number, which nobody says by chance, counts twice."""
        scalars = {str(value).removesuffix(".0") for value in held.values() if isinstance(value, (str, int, float))}
        return sum(1 + bool(_SHARP.search(value)) for value in scalars if _squeezed(value) in self._squeezed)

    # -- what is said

    def _under_way(self, tool: Tool) -> bool:
        """Something was called already, or this very tool was advised: it may only serve what was asked."""
        results = [part for message in self._messages for part in message.parts if isinstance(part, ToolResult)]
        advised = (found[1] for part in results if (found := _ADVISED.search(part.text)))
        return any(not part.is_error for part in results) or any(tool.full_name in names.split(" or ") for names in advised)

    @cached_property
    def _text(self) -> str:
        return "\n".join(_said(self._messages))[-_MOST_TEXT:]

    @cached_property
    def _squeezed(self) -> str:
        return _squeezed(self._text)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(_plain(self._text)))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:4] for word in self._words if len(word) > 2)

    @cached_property
    def _names_something(self) -> bool:
        return _OTHER_SCRIPT.search(self._text) is not None or _NAMED.search(self._text) is not None

    @cached_property
    def _stems(self) -> frozenset[str]:
        own = {word for word in _WORD.findall(self._text.lower()) if word not in FUNCTION_WORDS}
        return frozenset(other for word in own for stem in words_of(word) for other in related(stem))

    @cached_property
    def _just_made(self) -> frozenset[tuple[str, str]]:
        """Calls whose results came last, and are no errors."""
        if len(self._messages) < 2 or self._messages[-1].role != "tool":
            return frozenset()
        good = {part.call_id for part in self._messages[-1].parts if isinstance(part, ToolResult) and not part.is_error}
        made = self._messages[-2].parts
        return frozenset(canonical(part) for part in made if isinstance(part, ToolCall) and part.id in good)

    @cached_property
    def _wanted_another(self) -> bool:
        """The model called for a tool that there is not: what it takes in its stead is not what was asked for."""
        parts = (part for message in self._messages for part in message.parts if isinstance(part, ToolResult))
        return any(part.is_error and NO_SUCH_TOOL in part.text for part in parts)

    @cached_property
    def _told(self) -> dict[tuple[str, str], list[str]]:
        """Calls that were refused before, and why: made again all the same, they are meant."""
        parts = [part for message in self._messages for part in message.parts]
        failed = {part.call_id: part.text for part in parts if isinstance(part, ToolResult) and part.is_error}
        told: dict[tuple[str, str], list[str]] = {}
        for part in parts:
            if isinstance(part, ToolCall) and part.id in failed:
                told.setdefault(canonical(part), []).append(failed[part.id])
        return told


def _free(tool: Tool, held: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The texts that had to be given, and that the schema leaves open."""
    properties, required = (as_function(tool).schema or {}).get("properties"), _required(tool)
    if not isinstance(properties, dict):
        return
    for key, value in held.items():
        own = properties.get(key)
        if key not in required or not isinstance(own, dict) or {"enum", "const", "default"} & own.keys():
            continue
        if isinstance(value, str) and value.strip():
            yield key, own, value


def _names_what_it_makes(tool: Tool, key: str) -> bool:
    """`create_task` may choose a task's id, `add_to_cart` not a product's."""
    return _MAKES.search(tool.name) is not None and _words_in(key) - {"id", "ids", "uuid", "guid"} <= _words_in(tool.name)


def _is_placeholder(key: str, value: str) -> bool:
    """`some train id` for train_id, `<title>` for title: the parameter's own name, and nothing beside it."""
    found = _STANDS_FOR.fullmatch(value.strip())
    told = _words_in(found[1] or found[2] or "") if found is not None else frozenset()
    return bool(told) and told <= {*_words_in(key), "id", "name", "value"}


def _words_in(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(spaced(name).lower().replace("_", " ")))


def _required(tool: Tool) -> list[Any]:
    held = (as_function(tool).schema or {}).get("required")
    return held if isinstance(held, list) else []


def _said(messages: tuple[Message, ...]) -> Iterator[str]:
    """Everything but what the model has said itself, and what it was told of its mistakes."""
    for message in messages:
        if message.role == "assistant":
            continue
        for part in message.parts:
            if isinstance(part, Text) or (isinstance(part, ToolResult) and not part.is_error):
                yield part.text


def _words_of_tool(tool: Tool) -> frozenset[str]:
    told = [spaced(tool.full_name), tool.description or ""]
    properties = (as_function(tool).schema or {}).get("properties")
    for key, own in properties.items() if isinstance(properties, dict) else ():
        told += [spaced(key), *(str(own.get(name, "")) for name in ("description", "enum") if isinstance(own, dict))]
    words = {word for text in told for word in _WORD.findall(text.lower().replace("_", " "))}
    return frozenset(stem for word in words - FUNCTION_WORDS for stem in words_of(word))


def _plain(text: str) -> str:
    """In small letters, without accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter))


def _squeezed(text: str) -> str:
    return _SQUEEZED.sub("", _plain(text))
