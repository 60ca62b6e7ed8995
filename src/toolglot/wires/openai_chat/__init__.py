"""OpenAI Chat Completions, which many servers implement."""

from toolglot.core.interfaces import ServerSide, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.openai_chat.forms import FORMS
from toolglot.wires.openai_chat.messages import read_history, read_messages, write_messages
from toolglot.wires.openai_chat.reply import write_reply
from toolglot.wires.openai_chat.request import read_request, write_request
from toolglot.wires.openai_chat.shapes import WIRE as NAME
from toolglot.wires.openai_chat.stream import read_events, reader
from toolglot.wires.openai_chat.tools import read_choice, read_tools, write_tools
from toolglot.wires.openai_chat.vendor_tools import VENDOR_TOOLS
from toolglot.wires.openai_chat.writer import ChatWriter
from toolglot.wires.openai_common import PATHS, RATE_LIMITS, SERVED_MODELS, write_error

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(call_id=None),
    path=lambda model, stream: "/v1/chat/completions",
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=ChatWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide("/v1/chat/completions", "chatcmpl-", rate_limit_prefix=RATE_LIMITS, models=SERVED_MODELS),
    read_history=read_history,
    vendor_tools=VENDOR_TOOLS,
    other_paths=PATHS,
    call_stops=frozenset({"tool_calls", "function_call"}),
)
