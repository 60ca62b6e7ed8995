"""What the tests of the way there and back share: tools, plans, and events as a provider's reader gives them."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Close, Delta, Event, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text
from toolglot.core.order import first_breach
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.route import resolve

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
    held = {"messages": HELLO, "tools": TOOLS, **request}
    return fit(Request("m", **held), resolve(model), ask=ask, nonce=nonce)


def text(*pieces: str, index: int = 0, **opened: Any) -> list[Event]:
    return [Open(index, "text", **opened), *(Delta(index, piece) for piece in pieces), Close(index)]


def call(index: int, name: str, arguments: str, call_id: str = "", **closed: Any) -> list[Event]:
    return [Open(index, "call", name, call_id or f"c{index}"), Delta(index, arguments), Close(index, **closed)]


def stream(*blocks: list[Event], end: Event | None = None) -> list[Event]:
    return [Start("r1", "m"), *(event for block in blocks for event in block), end or Finish(Stop("stop", "stop"))]


def leaves(plan: Plan, said: list[Event], **how: Any) -> list[Event]:
    answers = Answers(plan, **how)
    left = [event for one in said for event in answers.feed(one)] + answers.close()
    assert first_breach(left) is None
    return left


def reply(plan: Plan, *blocks: list[Event], end: Event | None = None, **how: Any) -> Reply:
    return fold(leaves(plan, stream(*blocks, end=end), **how))


def codes(found: Reply) -> list[str]:
    return [decision.code for decision in found.decisions]
