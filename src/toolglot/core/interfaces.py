"""The interfaces of readers, writers and stages, and a wire as a set of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from toolglot.core.events import Event, StageEvent
from toolglot.core.fold import fold
from toolglot.core.forms import Forms
from toolglot.core.messages import Message
from toolglot.core.names import NameRule
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.core.vendor_tools import VendorTools
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
    """Events to events, in batches: a step between a reader and a writer. Finish or Fault is the end."""

    def feed(self, events: list[StageEvent], /) -> list[StageEvent]: ...


class HistoryReader(Protocol):
    """Reads the `messages` of a body from bytes: each alone, and then as one conversation."""

    def read(self, data: bytes | msgspec.Raw, start: int = 0, /) -> list[Any] | None: ...  # None: not a list
    def join(self, read: Sequence[Any], /) -> tuple[Message, ...]: ...
    def __call__(self, data: bytes | msgspec.Raw, /) -> tuple[Message, ...]: ...


class Quirks(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one provider differs from its wire; the defaults describe the vendor's API.

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
    reasoning_key: str | None = None  # key for unsigned reasoning in an assistant message of the history
    cache_control: bool = False  # accepts Anthropic's cache_control on tools and parts
    family_keys: tuple[str, ...] | None = None  # OpenAI's keys besides the wire's own that it accepts; None: all
    cache_breakpoints: tuple[str, ...] = ()  # starts of the names of models that accept prompt_cache_breakpoint
    seed_key: str = "seed"
    call_id_length: int | None = None  # ids must have exactly this many letters and digits
    server_tools: tuple[str, ...] = ()  # type prefixes of the server tools that this provider runs
    tool_search: bool = True  # if the wire has a tool search: the server runs it


class ResponseContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """What writing a response needs besides the reply. Lower layers read no clock and make no ids."""

    id: str | None = None  # replaces the reply's id
    model: str | None = None  # the model name that the client requested
    created: int | None = None
    stream_usage: bool = True
    request: Request | None = None  # for the fields that a reply echoes


class ModelList(msgspec.Struct, frozen=True):
    """Where servers of a wire list their models."""

    path: str = "/v1/models"
    rows: str = "data"  # key of the list
    name: str = "id"  # key of a model's name


class TokenCount(msgspec.Struct, frozen=True):
    """How servers of a wire count the tokens of a request."""

    request: Callable[[str, str, Body], tuple[str, Body]]  # model, URL and body of the request -> URL and body of the count
    key: str  # of the number


class BackgroundEvents(msgspec.Struct, frozen=True):
    """How the events of a stream show the stored response, for one that runs in the background."""

    body: str  # key of the response in an event
    with_body: frozenset[str]  # the events that have it: the first one and those at the end
    last: frozenset[str]  # no event follows these
    first_status: str
    resume: str  # query parameter: the number of the last event that the client has
    ended: Callable[[Body, str, UpstreamError | None], Body]  # response, status, error -> one that ended early
    end: Callable[
        [Body, UpstreamError | None, int], list[tuple[str, Body | str]]
    ]  # the events that say so; number of the first
    event_id: str = ""  # key of the number, where the stream's writer does not write it


class Conversations(msgspec.Struct, frozen=True):
    """How a request continues a conversation that the server stores, and how a stored response is reached."""

    path: str  # of one response, without its id
    previous: str  # key of the id of the response before
    instructions: str  # key of the system prompt, which is not stored
    not_found: tuple[int, str]  # status and error code, where the response before is unknown
    deleted: Callable[[str], Body]  # the answer to a deletion
    background: BackgroundEvents
    input: str | None = None  # key of its input in a stored response; where the API has it, it also sends such as a stream


class ServedModels(msgspec.Struct, frozen=True):
    """How a server lists its models."""

    write: Callable[[str, str, datetime], Body]  # name, owner, time of creation -> a model
    page: Callable[[list[Body], bool], Body]  # models, and whether more follow -> a page of the list
    query: tuple[str, str, str] = ("", "", "")  # of a page: its size, the model before it, the model after it


def sse_comment(_: str) -> bytes:
    return b": ping\n\n"


class ServerSide(msgspec.Struct, frozen=True):
    """What clients of a wire expect from a server, besides the format of requests and responses."""

    chat_path: str  # POST; a pattern, if it has groups
    id_prefix: str = ""  # of response ids
    forwarded_headers: tuple[bytes, ...] = ()  # request headers that go to upstreams of the same wire
    ping: Callable[[str], bytes] = sse_comment  # keep-alive bytes on a stream that its clients ignore; takes the model's name
    rate_limit_prefix: str | None = None  # of the rate-limit headers of its vendor
    request_id_header: bytes | None = None  # where its clients expect the request id, besides x-request-id
    messages_key: str = "messages"  # of a request, for the error if it has none
    durations: Callable[[float, float], Body] | None = None  # seconds in all and to the first chunk -> fields of the last chunk
    models: ServedModels | None = None
    error_paths: tuple[str, ...] = ()  # below them, an error has its format, even where no endpoint matches


class Wire(msgspec.Struct, frozen=True):
    """One chat API, both ways. As a client: write_request, read_reply, reader, read_error. As a server: the others."""

    name: str
    media_type: str  # of a stream
    names: NameRule
    path: Callable[[str, bool], str]  # model, stream -> path below the API's root
    write_request: Callable[[Request, Notes, Quirks], Body]
    read_events: Callable[[Body, str | None], list[Event]]  # a whole reply; the text's channel: "json" under a schema
    reader: Callable[[str | None], Reader[bytes]]
    read_error: Callable[[int | None, Mapping[str, str], bytes], UpstreamError]
    read_request: Callable[[Body], Request]
    write_reply: Callable[[Reply, ResponseContext, Notes], Body]
    writer: Callable[[ResponseContext, Notes], Writer]
    write_error: Callable[[UpstreamError], tuple[int, Body]]
    # parts of a request, for callers that need only one
    read_tools: Callable[[Any], tuple[Tool, ...]]
    write_tools: Callable[[tuple[Tool, ...], Notes, Quirks], list[Any]]
    read_messages: Callable[[list[Any]], tuple[Message, ...]]
    write_messages: Callable[[tuple[Message, ...], Notes, Quirks], list[Any]]
    read_choice: Callable[[Any], Choice | None]
    forms: Forms
    server: ServerSide
    read_history: HistoryReader | None = None
    path_keys: tuple[str, ...] = ()  # keys of our body that the API has in its path
    declared_tools: Callable[[Body], tuple[Tool, ...]] | None = None  # the tools that a block of a message declares
    vendor_tools: VendorTools | None = None
    adopt: Callable[[Request], Request] | None = None  # sets this wire's defaults on a request that came on another wire
    # what its servers have besides the chat endpoint
    model_list: ModelList = ModelList()
    count_tokens: TokenCount | None = None
    other_paths: tuple[str, ...] = ()  # endpoints without tool calls
    # facts about its fields
    conversations: Conversations | None = None
    continues: tuple[str, ...] = ()  # keys of a request that continues a conversation stored at the server
    window_option: tuple[str, str] | None = None  # the keys, one inside the other, that set the context window
    call_stops: frozenset[str] = frozenset()  # stop reasons of a reply with calls; empty: it has none of its own for them
    operation: str = "chat"  # its name in OpenTelemetry's conventions

    def read_reply(self, body: Body, channel: str | None) -> Reply:
        """A whole reply is always the fold of its events."""
        return fold(self.read_events(body, channel))
