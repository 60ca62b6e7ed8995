"""Common messages as types, for the fast path: see `io.typed_fast_path`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.io.json_codec import dumps


class _Shape(msgspec.Struct, forbid_unknown_fields=True, gc=False): ...


class _Text(_Shape, tag_field="type", tag="text"):
    text: str
    citations: None = None

    def read(self) -> Text:
        return Text(self.text)


class _Direct(_Shape):
    type: Literal["direct"]


class _Use(_Shape, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]
    caller: _Direct | None = None

    def read(self) -> ToolCall:
        return ToolCall(self.id, self.name, dumps(self.input))


class _Piece(_Shape):
    """A text in a result. `type` is not a tag here: with one type only, a tag could be missing."""

    type: Literal["text"]
    text: str


class _Result(_Shape, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[_Piece] | None = None
    is_error: bool | None = None

    def read(self) -> ToolResult:
        content: Any = self.content or ()
        parts = (Text(content),) if type(content) is str else tuple([Text(piece.text) for piece in content if piece.text])
        return ToolResult(self.tool_use_id, None, parts, bool(self.is_error))


def _parts(content: Any) -> tuple[Any, ...]:
    if not content:
        return ()
    if type(content) is str:
        return (Text(content),)
    return tuple([block.read() for block in content if type(block) is not _Text or block.text])  # empty texts are dropped


class _User(_Shape, tag_field="role", tag="user"):
    content: str | list[_Text | _Result] | None = None

    def read(self) -> Message:
        return Message("user", _parts(self.content))


class _Assistant(_Shape, tag_field="role", tag="assistant"):
    content: str | list[_Text | _Use] | None = None

    def read(self) -> Message:
        return Message("assistant", _parts(self.content))


SHAPES = _User | _Assistant
