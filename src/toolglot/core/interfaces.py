"""The shapes that everything else is made of: readers, writers, and a wire as a bundle of plain functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from toolglot.core.events import Event
from toolglot.core.messages import Message
from toolglot.core.names import NameRule
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import UpstreamError

In = TypeVar("In", contravariant=True)
Body = dict[str, Any]
Notes = list[str]


class Reader(Protocol[In]):
    """Bytes or text to events. Never raises on bad input; `close` is the end of the input."""

    def feed(self, piece: In, /) -> list[Event]: ...
    def close(self) -> list[Event]: ...


class Writer(Protocol):
    """Events to a wire's bytes."""

    def feed(self, event: Event, /) -> bytes: ...
    def close(self) -> bytes: ...


class Stage(Protocol):
    """Events to events: what stands between a reader and a writer."""

    def feed(self, event: Event, /) -> list[Event]: ...
    def close(self) -> list[Event]: ...


class Quirks(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one provider departs from its wire; the defaults are the wire as its owner speaks it.

    A row of providers.toml sets these: wires read them, and no wire knows a provider's name.
    """

    max_tokens_key: str = "max_completion_tokens"
    developer_role: bool = True
    tool_choice: bool = True
    allowed_tools: bool = True
    custom_tools: bool = True
    parallel_control: bool = True
    strict: bool = True
    stream_usage: bool = True
    text_parts: bool = True  # text may be a list of parts; False: one string
    top_k: bool = False
    reasoning_key: str | None = None  # where an assistant message in the history takes unsigned reasoning
    cache_control: bool = False  # takes Anthropic's cache_control on tools and parts
    seed_key: str = "seed"
    call_id_length: int | None = None  # ids of exactly so many letters and digits
    server_tools: tuple[str, ...] = ()  # beginnings of server tools' types that this provider runs itself


class Answering(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a server side needs beyond the reply itself: layers below the client read no clock and make no ids."""

    id: str | None = None  # instead of the reply's own
    model: str | None = None  # the name the client asked for
    created: int | None = None
    stream_usage: bool = True
    request: Request | None = None  # for the fields that a reply echoes


class Wire(msgspec.Struct, frozen=True):
    """One chat API, both ways. As a client: write_request, read_reply, reader, read_fault. As a server: the others."""

    name: str
    media_type: str  # of a stream
    names: NameRule
    path: Callable[[str, bool], str]  # model, stream -> path below the API's root
    write_request: Callable[[Request, Notes, Quirks], Body]
    read_reply: Callable[[Body, str | None], Reply]  # the channel that text is on: "json" under a schema
    read_events: Callable[[Body, str | None], list[Event]]  # the same before it is folded
    reader: Callable[[str | None], Reader[bytes]]
    read_fault: Callable[[int | None, Mapping[str, str], bytes], UpstreamError]
    read_request: Callable[[Body], Request]
    write_reply: Callable[[Reply, Answering, Notes], Body]
    writer: Callable[[Answering, Notes], Writer]
    write_fault: Callable[[UpstreamError], tuple[int, Body]]
    # the pieces that requests are made of, for those who need only one
    read_tools: Callable[[Any], tuple[Tool, ...]]
    write_tools: Callable[[tuple[Tool, ...], Notes, Quirks], list[Any]]
    read_messages: Callable[[list[Any]], tuple[Message, ...]]
    write_messages: Callable[[tuple[Message, ...], Notes, Quirks], list[Any]]
    read_choice: Callable[[Any], Choice | None]
    read_history: Callable[[bytes | msgspec.Raw], tuple[Message, ...]] | None = None  # `messages` as they come in a body
    path_keys: tuple[str, ...] = ()  # keys of our body that the path tells instead
    adopt: Callable[[Request], Request] | None = None  # says what a request of another wire meant by saying nothing
