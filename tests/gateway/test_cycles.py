"""A request leaves no reference cycles: its memory is freed without the garbage collector."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cycles import no_cycles
from tests.pipeline.answering import PARIS, TOOLS, plan_for
from toolglot.core.events import Fault
from toolglot.core.fold import unfold
from toolglot.core.tools import Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.route import wire_format
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

FUNCTION = {"name": "get_weather", "arguments": PARIS}
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
CALLED: dict[str, Any] = {
    "openai-chat": {
        "choices": [{"message": {"tool_calls": [{"id": "c", "function": FUNCTION}]}, "finish_reason": "tool_calls"}]
    },
    "openai-responses": {"status": "completed", "output": [{"type": "function_call", "call_id": "c", **FUNCTION}]},
    "anthropic": {"content": [{"type": "tool_use", "id": "c", "name": "get_weather", "input": {"city": "Paris"}}]},
    "gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}]}}]},
    "ollama": {
        "message": {"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]},
        "done": True,
    },
}


def answer(wire: str, body: Any, *, broken: bool = False) -> None:
    pipeline = ResponsePipeline(plan_for())
    events = list(unfold(wire_format(wire).wire.read_reply(body, None)))
    if broken:
        events[-1] = Fault(UpstreamError("the line broke"))
    for event in events:
        pipeline.feed([event])


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("wire", CALLED)
def test_a_reply_leaves_no_reference_cycles(wire: str, broken: bool) -> None:
    prose = {"choices": [{"message": {"content": "Let me see: it is 18 degrees."}, "finish_reason": "stop"}]}
    for _ in range(2):  # the first fills caches
        answer(wire, CALLED[wire], broken=broken)
        answer("openai-chat", prose, broken=broken)
    with no_cycles():
        answer(wire, CALLED[wire], broken=broken)
        answer("openai-chat", prose, broken=broken)


@pytest.mark.parametrize("model", ["openai/some-model", "vllm/some-model", "anthropic/some-model"])
def test_tools_and_all_that_is_derived_from_them_leave_no_reference_cycles(model: str) -> None:
    def request() -> None:
        for body in (CALLED["openai-chat"], {"choices": [{"message": {"content": f"<tool_call>{CALL}</tool_call>"}}]}):
            pipeline = ResponsePipeline(plan_for(model, tools=Toolset(TOOLS)))
            pipeline.feed(list(unfold(wire_format("openai-chat").wire.read_reply(body, None))))

    request()  # the first fills caches
    with no_cycles():
        request()
