"""What is said: messages, and the parts they are made of.

`extra` holds what only one wire understands, keyed by that wire's name (`{"anthropic": {"cache_control": ...}}`).
The same wire gives it back unchanged; another wire leaves it out and says so in a note.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.errors import ArgumentsError

Extra = dict[str, dict[str, Any]]
Role = Literal["system", "developer", "user", "assistant", "tool"]


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    text: str
    channel: str | None = None  # "json": structured output; "text": said to be prose; "refusal": the model declines
    extra: Extra = {}


class Reasoning(msgspec.Struct, frozen=True, omit_defaults=True, tag="reasoning"):
    """The model's thinking. Signatures and encrypted blobs live in `extra`; the text may be empty beside them."""

    text: str
    extra: Extra = {}


class Media(msgspec.Struct, frozen=True, omit_defaults=True, tag="media"):
    kind: Literal["image", "audio", "file"]
    mime: str | None = None
    data: str | None = None  # base64
    url: str | None = None
    name: str | None = None
    extra: Extra = {}


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag="call"):
    """A call as the model made it. `arguments_json` is the text itself: lossless, and what a permission hook must see."""

    id: str
    name: str
    arguments_json: str = "{}"
    namespace: str | None = None
    custom: bool = False  # a free-text tool: the arguments are {"input": text}
    sealed: bool = True  # False: cut short, and so never to be run
    source: str = "native"
    written: str | None = None  # the model's own characters, where they differ from arguments_json
    fixes: tuple[str, ...] = ()
    extra: Extra = {}

    @property
    def arguments(self) -> dict[str, Any]:
        try:
            value = msgspec.json.decode(self.arguments_json or "{}")
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ArgumentsError(f"the arguments of {self.name} are not JSON: {error}") from None
        if not isinstance(value, dict):
            raise ArgumentsError(f"the arguments of {self.name} are not a JSON object but {type(value).__name__}")
        return value

    @property
    def raw(self) -> str:
        return self.arguments_json if self.written is None else self.written

    @property
    def full_name(self) -> str:
        return join_name(self.namespace, self.name) if self.namespace else self.name


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True, tag="result"):
    call_id: str
    name: str | None = None
    parts: tuple[Text | Media | Opaque, ...] = ()
    is_error: bool = False
    extra: Extra = {}

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if type(part) is Text)


class Opaque(msgspec.Struct, frozen=True, omit_defaults=True, tag="opaque"):
    """A block of one wire's own (a server tool's work, say): carried untouched to that wire and to no other."""

    wire: str
    block: dict[str, Any]


Part = Text | Reasoning | Media | ToolCall | ToolResult | Opaque


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """All results of one turn are one message of role `tool`; an assistant's turn is one message."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    extra: Extra = {}


def join_name(namespace: str | None, name: str) -> str:
    """A tool's name where there are no namespaces."""
    return f"{namespace}__{name}" if namespace else name
