"""Google Gemini's generateContent."""

from toolglot.core.interfaces import ModelList, ServerSide, TokenCount, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.gemini.forms import FORMS
from toolglot.wires.gemini.messages import read_messages, write_messages
from toolglot.wires.gemini.model_list import SERVED
from toolglot.wires.gemini.reply import write_error, write_reply
from toolglot.wires.gemini.request import count_request, path, read_request, write_request
from toolglot.wires.gemini.shapes import WIRE as NAME
from toolglot.wires.gemini.stream import read_events, reader
from toolglot.wires.gemini.tools import read_choice, read_tools, write_tools
from toolglot.wires.gemini.vendor_tools import VENDOR_TOOLS
from toolglot.wires.gemini.writer import GeminiWriter

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(name=r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", call_id=None),
    path=path,
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=GeminiWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide(
        r"(?:/v1beta|/v1|)/models/(?P<model>.+):(?P<verb>generateContent|streamGenerateContent)",
        ping=lambda _: b"\n\n",  # its SDK reads an SSE comment as an error message, but skips empty lines
        models=SERVED,
        error_paths=("/v1beta", "/models"),
        messages_key="contents",
    ),
    path_keys=("model", "stream"),
    model_list=ModelList("/v1beta/models", "models", "name"),
    count_tokens=TokenCount(count_request, "totalTokens"),
    operation="generate_content",
    vendor_tools=VENDOR_TOOLS,
)
