"""Shared by the pipeline tests: tools, plans, and events as a provider's reader emits them."""

from __future__ import annotations

from typing import Any

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Event, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.route import resolve
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = Tool("get_weather", "The weather in a city", CITY)
TIME = Tool("get_time", "The time in a city", CITY)
TOOLS = Toolset([WEATHER, TIME])
HELLO = (Message("user", (Text("Hello"),)),)
PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
CALLS = Finish(Stop("calls", "tool_calls"))
HERMES = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
FENCED = '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```'


def plan_for(model: str = "openai/some-model", *, ask: str = "auto", nonce: str | None = None, **request: Any) -> Plan:
    fields = {"messages": HELLO, "tools": TOOLS, **request}
    return fit_request(Request("m", **fields), resolve(model), ask=ask, nonce=nonce)


def text(*pieces: str, index: int = 0, **opened: Any) -> list[Event]:
    return [Open(index, "text", **opened), *(Delta(index, piece) for piece in pieces), Close(index)]


def call(index: int, name: str, arguments: str, call_id: str = "", **closed: Any) -> list[Event]:
    return [Open(index, "call", name, call_id or f"c{index}"), Delta(index, arguments), Close(index, **closed)]


def stream(*blocks: list[Event], end: Event | None = None) -> list[Event]:
    return [Start("r1", "m"), *(event for block in blocks for event in block), end or Finish(Stop("stop", "stop"))]


def run_pipeline(plan: Plan, events: list[Event], **how: Any) -> list[Event]:
    pipeline = ResponsePipeline(plan, **how)
    output = [out for event in events for out in pipeline.feed([event])]
    assert first_order_error(output) is None
    return output


def reply(plan: Plan, *blocks: list[Event], end: Event | None = None, **how: Any) -> Reply:
    return fold(run_pipeline(plan, stream(*blocks, end=end), **how))


def codes(found: Reply) -> list[str]:
    return [decision.code for decision in found.decisions]
