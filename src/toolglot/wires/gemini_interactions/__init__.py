"""Gemini Interactions: a conversation as a flat list of steps, stored by the server, and a stream of named events."""

from toolglot.core.interfaces import Conversations, ModelList, ServerSide, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.gemini_interactions.background import BACKGROUND
from toolglot.wires.gemini_interactions.forms import FORMS
from toolglot.wires.gemini_interactions.messages import read_messages, write_messages
from toolglot.wires.gemini_interactions.reply import write_error, write_reply
from toolglot.wires.gemini_interactions.request import adopt, read_request, write_request
from toolglot.wires.gemini_interactions.shapes import STATUS_IN
from toolglot.wires.gemini_interactions.shapes import WIRE as NAME
from toolglot.wires.gemini_interactions.stream import read_events, reader
from toolglot.wires.gemini_interactions.tools import read_choice, read_tools, write_tools
from toolglot.wires.gemini_interactions.vendor_tools import VENDOR_TOOLS
from toolglot.wires.gemini_interactions.writer import InteractionsWriter

_ROOTS = tuple(f"{version}/interactions" for version in ("/v1beta", "/v1", ""))
_PATH = r"(?:/v1beta|/v1|)/interactions"

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(name=r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", call_id=None),
    path=lambda model, stream: "/v1beta/interactions",
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=InteractionsWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide(_PATH, "v1_", messages_key="input", error_paths=_ROOTS),
    conversations=Conversations(
        path=_PATH,
        previous="previous_interaction_id",
        instructions="system_instruction",
        not_found=(404, "not_found"),
        deleted=lambda _: {},
        background=BACKGROUND,
        input="input",
    ),
    adopt=adopt,
    model_list=ModelList("/v1beta/models", "models", "name"),
    continues=("previous_interaction_id", "continuation_token"),
    call_stops=frozenset(word for word, reason in STATUS_IN.items() if reason == "calls"),
    vendor_tools=VENDOR_TOOLS,
)
