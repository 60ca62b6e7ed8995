"""OpenAI Chat Completions, which half the field copies."""

from toolglot.core.interfaces import Wire
from toolglot.core.names import NameRule
from toolglot.reading.faults import read_fault
from toolglot.wires.openai_chat.messages import read_history, read_messages, write_messages
from toolglot.wires.openai_chat.reply import read_reply, write_reply
from toolglot.wires.openai_chat.request import read_request, write_request
from toolglot.wires.openai_chat.shapes import WIRE as NAME
from toolglot.wires.openai_chat.stream import read_events, reader
from toolglot.wires.openai_chat.tools import read_choice, read_tools, write_tools
from toolglot.wires.openai_chat.writer import ChatWriter
from toolglot.wires.openai_family import write_fault

WIRE = Wire(
    name=NAME,
    media_type="text/event-stream",
    names=NameRule(call_id=None),
    path=lambda model, stream: "/v1/chat/completions",
    write_request=write_request,
    read_reply=read_reply,
    read_events=read_events,
    reader=reader,
    read_fault=read_fault,
    read_request=read_request,
    write_reply=write_reply,
    writer=ChatWriter,
    write_fault=write_fault,
    read_tools=read_tools,
    write_tools=write_tools,
    read_messages=read_messages,
    write_messages=write_messages,
    read_choice=read_choice,
    read_history=read_history,
)
