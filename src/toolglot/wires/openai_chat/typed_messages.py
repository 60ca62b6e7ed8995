"""Common messages as types, for the fast path: see `io.typed_fast_path`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult


class _Shape(msgspec.Struct, forbid_unknown_fields=True, gc=False): ...


class _Part(_Shape):
    type: Literal["text"]
    text: str


class _Function(_Shape):
    name: str
    arguments: str


class _Call(_Shape):
    function: _Function
    id: str | None = None
    type: str = ""
    index: int = 0


class _Content(_Shape, tag_field="role"):
    content: str | list[_Part] | None = None
    name: str | None = None

    def texts(self) -> tuple[Any, ...]:
        content = self.content
        if not content:
            return ()
        return (Text(content),) if isinstance(content, str) else tuple([Text(part.text) for part in content])


class _System(_Content, tag="system"):
    def read(self) -> Message:
        return Message("system", self.texts(), self.name)


class _Developer(_Content, tag="developer"):
    def read(self) -> Message:
        return Message("developer", self.texts(), self.name)


class _User(_Content, tag="user"):
    def read(self) -> Message:
        return Message("user", self.texts(), self.name)


class _Assistant(_Content, tag="assistant"):
    tool_calls: list[_Call] | None = None
    refusal: None = None
    function_call: None = None

    def read(self) -> Message:
        parts = self.texts()
        if self.tool_calls:
            calls = [ToolCall(call.id or "", call.function.name, call.function.arguments or "{}") for call in self.tool_calls]
            parts = (*parts, *calls)
        return Message("assistant", parts, self.name)


class _Tool(_Content, tag="tool"):
    tool_call_id: str | None = None

    def read(self) -> ToolResult:
        return ToolResult(self.tool_call_id or "", self.name, self.texts())


SHAPES = _System | _Developer | _User | _Assistant | _Tool
