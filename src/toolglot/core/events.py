"""The six events that every stream is made of: Start (Open Delta* Close)* (Finish | Fault); blocks may interleave."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.messages import Extra, ToolCall, join_name
from toolglot.core.reply import Decision, Stop, Usage
from toolglot.errors import UpstreamError

Kind = Literal["text", "reasoning", "call", "media", "opaque"]


class Start(msgspec.Struct, frozen=True, omit_defaults=True, tag="start"):
    """The start of a reply."""

    id: str | None = None
    model: str | None = None
    created: int | None = None


class Open(msgspec.Struct, frozen=True, omit_defaults=True, tag="open"):
    """The start of a block: text, reasoning, a call, media, or a block that only one API has."""

    index: int
    kind: Kind
    name: str | None = None  # of a call: the tool; of media: the MIME type; of an opaque block: the wire
    call_id: str | None = None  # of media: the file's name
    channel: str | None = None  # of text: see Text; of media: its kind
    namespace: str | None = None
    custom: bool = False
    source: str = "native"
    extra: Extra = {}

    @property
    def full_name(self) -> str:
        """A call's tool, for wires without namespaces."""
        return join_name(self.namespace, self.name or "")


class Delta(msgspec.Struct, frozen=True, tag="delta"):
    """A piece of an open block."""

    index: int
    text: str  # of a call: arguments as JSON text; of media: a URL; of an opaque block: its JSON


class Close(msgspec.Struct, frozen=True, omit_defaults=True, tag="close"):
    """The end of a block. A call that is not `sealed` was cut short."""

    index: int
    sealed: bool = True  # False: the block was cut short
    decisions: tuple[Decision, ...] = ()
    extra: Extra = {}  # known only at the end of a block (a signature); merged into Open's
    written: str | None = None  # of a call: the text the model wrote, where it differs from the deltas
    fixes: tuple[str, ...] = ()


class Finish(msgspec.Struct, frozen=True, omit_defaults=True, tag="finish"):
    """The end of a reply: why the model stopped, and what it cost."""

    stop: Stop
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    extra: Extra = {}


class Fault(msgspec.Struct, frozen=True, omit_defaults=True, tag="fault"):
    """The end of a reply that broke off. What came before it is kept."""

    error: UpstreamError
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()


Event = Start | Open | Delta | Close | Finish | Fault


class WholeCall(msgspec.Struct, frozen=True):
    """A call between two stages of the response pipeline, whole: the last stage makes Open, Delta and Close of it."""

    index: int
    call: ToolCall
    extra: Extra = {}  # known only at the end of the block


StageEvent = Event | WholeCall
