"""OpenAI Responses: a conversation as a flat list of items, and a stream of named events."""

from toolglot.core.interfaces import Conversations, ServerSide, TokenCount, Wire
from toolglot.core.names import NameRule
from toolglot.io.upstream_errors import read_error
from toolglot.wires.openai_common import PATHS, RATE_LIMITS, SERVED_MODELS, write_error
from toolglot.wires.openai_responses.background import BACKGROUND
from toolglot.wires.openai_responses.forms import FORMS
from toolglot.wires.openai_responses.messages import read_messages, write_messages
from toolglot.wires.openai_responses.reply import write_reply
from toolglot.wires.openai_responses.request import count_request, read_request, write_request
from toolglot.wires.openai_responses.shapes import WIRE as NAME
from toolglot.wires.openai_responses.storage_defaults import adopt
from toolglot.wires.openai_responses.stream import read_events, reader
from toolglot.wires.openai_responses.tools import declared_tools, read_choice, read_tools, write_tools
from toolglot.wires.openai_responses.vendor_tools import VENDOR_TOOLS
from toolglot.wires.openai_responses.writer import ResponsesWriter

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(call_id=r"(?s:.){1,64}", namespaces=True),
    path=lambda model, stream: "/v1/responses",
    write_request=write_request,
    read_events=read_events,
    reader=reader,
    read_error=read_error,
    read_request=read_request,
    write_reply=write_reply,
    writer=ResponsesWriter,
    write_error=write_error,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    forms=FORMS,
    server=ServerSide("/v1/responses", "resp_", (b"openai-beta",), rate_limit_prefix=RATE_LIMITS, models=SERVED_MODELS),
    conversations=Conversations(
        path="/v1/responses",
        previous="previous_response_id",
        instructions="instructions",
        not_found=(400, "previous_response_not_found"),
        deleted=lambda response_id: {"id": response_id, "object": "response", "deleted": True},
        background=BACKGROUND,
    ),
    declared_tools=declared_tools,
    adopt=adopt,
    count_tokens=TokenCount(count_request, "input_tokens"),
    other_paths=(*PATHS, "/v1/responses/compact"),
    continues=("previous_response_id", "conversation"),
    vendor_tools=VENDOR_TOOLS,
)
