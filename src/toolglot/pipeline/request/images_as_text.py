"""For models that don't see: an image becomes a text that says so, instead of an error of the server."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.conversation import contents
from toolglot.core.messages import Media, Message, Part, Text, ToolResult

_SHOWN = "[image{name}: this model does not see images]"
_MOST_NAME = 200


def count_images(messages: tuple[Message, ...]) -> int:
    return sum(map(_is_image, contents(messages).media))


def images_as_text(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The text is the same in every turn: a prompt must begin with the one before."""
    return tuple(
        msgspec.structs.replace(message, parts=tuple(map(_written, message.parts))) if _has_image(message) else message
        for message in messages
    )


def _within(part: Part) -> tuple[Part, ...]:
    return part.parts if type(part) is ToolResult else (part,)


def _is_image(part: Part) -> bool:
    return type(part) is Media and part.kind == "image"


def _has_image(message: Message) -> bool:
    return any(_is_image(inner) for part in message.parts for inner in _within(part))


def _written(part: Any) -> Any:
    if type(part) is ToolResult:
        return msgspec.structs.replace(part, parts=tuple(map(_written, part.parts)))
    if not _is_image(part):
        return part
    return Text(_SHOWN.format(name=f" {part.name[:_MOST_NAME]}" if part.name else ""))
