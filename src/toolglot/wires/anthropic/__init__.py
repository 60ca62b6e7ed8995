"""Anthropic Messages."""

from toolglot.core.interfaces import ServerSide, TokenCount, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.anthropic.forms import FORMS
from toolglot.wires.anthropic.messages import read_history, read_messages, write_messages
from toolglot.wires.anthropic.model_list import SERVED
from toolglot.wires.anthropic.reply import write_error, write_reply
from toolglot.wires.anthropic.request import count_request, read_request, write_request
from toolglot.wires.anthropic.shapes import WIRE as NAME
from toolglot.wires.anthropic.stream import read_events, reader
from toolglot.wires.anthropic.tools import declared_tools, read_choice, read_tools, write_tools
from toolglot.wires.anthropic.vendor_tools import VENDOR_TOOLS
from toolglot.wires.anthropic.writer import MessagesWriter

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(),
    path=lambda model, stream: "/v1/messages",
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=MessagesWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide(
        "/v1/messages",
        "msg_",
        (b"anthropic-beta", b"anthropic-version"),
        ping=lambda _: b'event: ping\ndata: {"type": "ping"}\n\n',
        rate_limit_prefix="anthropic-ratelimit-",
        request_id_header=b"request-id",
        models=SERVED,
        error_paths=("/v1/messages", "/messages"),
    ),
    declared_tools=declared_tools,
    read_history=read_history,
    count_tokens=TokenCount(count_request, "input_tokens"),
    call_stops=frozenset({"tool_use"}),
    vendor_tools=VENDOR_TOOLS,
)
