"""A conversation in another tongue as one in English, and a schema held to it in the words that were said."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.core.messages import Message, Text
from toolglot.pipeline.glossed import Gloss, glossed, tongue_of
from toolglot.text.json_text import dumps

_LATELY = 2  # questions, the last one and what it may go on from
_SHORT = 6  # words of one that does
_MOST_SHOWN = 200  # characters of a question, in a note


class Spoken(msgspec.Struct, frozen=True):
    tongue: str
    messages: tuple[Message, ...]  # in English
    glosses: tuple[Gloss, ...]  # of what was asked, the last first

    @property
    def asked(self) -> str:
        return self.glosses[0].text[:_MOST_SHOWN]

    def back(self, schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """The schema with the values that were said. What the tool itself names stays: a room of its own list, an example."""
        own, held = given.get("properties") or {}, schema.get("properties")
        if not isinstance(held, dict):
            return schema
        return {**schema, "properties": {name: self._back(one, _words(own.get(name))) for name, one in held.items()}}

    def _back(self, schema: Any, own: str) -> Any:
        if isinstance(schema, list):
            return [self._back(one, own) for one in schema]
        if not isinstance(schema, dict):
            return schema
        return {key: self._said(inner, own) if key == "enum" else self._back(inner, own) for key, inner in schema.items()}

    def _said(self, value: Any, own: str) -> Any:
        if isinstance(value, list):
            said = [self._said(one, own) for one in value]
            return list(dict.fromkeys(said)) if all(isinstance(one, str) for one in said) else said
        if not isinstance(value, str) or re.search(rf"\b{re.escape(value.lower())}\b", own):
            return value
        return next((own for gloss in self.glosses if (own := gloss.back(value)) != value), value)


def _words(schema: Any) -> str:
    return dumps(schema).lower()


def in_english(messages: tuple[Message, ...]) -> Spoken | None:
    """None where it is in English, or in a tongue that is not known."""
    asked = [part for message in messages if message.role == "user" for part in message.parts if isinstance(part, Text)]
    last = [part.text for part in asked[: -1 - _LATELY : -1]]
    whole = " ".join(last) if last and len(last[0].split()) < _SHORT else ""
    tongue = next((found for text in (*last[:1], whole) if (found := tongue_of(text))), None)
    if tongue is None:
        return None
    glosses = {part.text: glossed(part.text, tongue) for part in asked}
    told = tuple(
        msgspec.structs.replace(message, parts=tuple(_read(part, glosses) for part in message.parts)) for message in messages
    )
    return Spoken(tongue, told, tuple(glosses[text] for text in last))


def _read(part: Any, glosses: dict[str, Gloss]) -> Any:
    return Text(glosses[part.text].text) if isinstance(part, Text) and part.text in glosses else part
