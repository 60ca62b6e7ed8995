"""Messages and their parts.

`extra` contains fields that only one wire supports, keyed by that wire's name (`{"anthropic": {"cache_control": ...}}`).
The same wire writes them back unchanged; other wires leave them out and add a note.

No value contains itself, so the garbage collector need not look at them (`gc=False`): a long history would stop everything
while it does.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.errors import ArgumentsError

Extra = dict[str, dict[str, Any]]
Role = Literal["system", "developer", "user", "assistant", "tool"]


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text", gc=False):
    """A piece of text in a message."""

    text: str
    channel: str | None = None  # "json": structured output; "text": marked as prose; "refusal": the model declines
    extra: Extra = {}


class Reasoning(msgspec.Struct, frozen=True, omit_defaults=True, tag="reasoning", gc=False):
    """The model's reasoning. Signatures and encrypted data are in `extra`; the text may be empty."""

    text: str
    extra: Extra = {}


class Media(msgspec.Struct, frozen=True, omit_defaults=True, tag="media", gc=False):
    """An image, a sound or a file, as base64 `data` or as a `url`."""

    kind: Literal["image", "audio", "file"]
    mime: str | None = None
    data: str | None = None  # base64
    url: str | None = None
    name: str | None = None
    extra: Extra = {}


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag="call", gc=False):
    """A call as the model made it. `arguments_json` is the text itself: lossless, and what a permission hook must see."""

    id: str
    name: str
    arguments_json: str = "{}"
    namespace: str | None = None
    custom: bool = False  # a custom (free-text) tool: the arguments are {"input": text}
    sealed: bool = True  # False: cut short, and so never to be run
    source: str = "native"
    written: str | None = None  # the text the model wrote, where it differs from arguments_json
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


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True, tag="result", gc=False):
    """The result of the call with the id `call_id`."""

    call_id: str
    name: str | None = None
    parts: tuple[Text | Media | Opaque, ...] = ()
    is_error: bool = False
    extra: Extra = {}
    rejected: str | None = None  # the reason code, where toolglot rejected the call and this is its feedback

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if type(part) is Text)


class Opaque(msgspec.Struct, frozen=True, omit_defaults=True, tag="opaque", gc=False):
    """A block that only one wire has (such as a server tool's output): passed unchanged to that wire, to no other."""

    wire: str
    block: dict[str, Any]


Part = Text | Reasoning | Media | ToolCall | ToolResult | Opaque


class Message(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """All results of one turn are one message of role `tool`; an assistant's turn is one message."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    extra: Extra = {}
    rejected: tuple[str, ...] = ()  # reason codes, where this is toolglot's feedback on calls that named no tool


def join_name(namespace: str | None, name: str) -> str:
    """A tool's name where there are no namespaces."""
    return f"{namespace}__{name}" if namespace else name
