"""Ollama's native chat API: lines of JSON, arguments as objects, calls that come whole."""

from toolglot.core.interfaces import ModelList, ServerSide, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.ollama.forms import FORMS
from toolglot.wires.ollama.messages import read_messages, write_messages
from toolglot.wires.ollama.reply import durations, empty_chunk, write_error, write_reply
from toolglot.wires.ollama.request import read_request, write_request
from toolglot.wires.ollama.shapes import WIRE as NAME
from toolglot.wires.ollama.stream import read_events, reader
from toolglot.wires.ollama.tools import read_choice, read_tools, write_tools
from toolglot.wires.ollama.writer import OllamaWriter

WIRE = Wire(
    name=NAME,
    media_type="application/x-ndjson",
    names=NameRule(name=None, call_id=None),
    path=lambda model, stream: "/api/chat",
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=OllamaWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide("/api/chat", ping=empty_chunk, error_paths=("/api/",), durations=durations),
    model_list=ModelList("/api/tags", "models", "name"),
    window_option=("options", "num_ctx"),
)
