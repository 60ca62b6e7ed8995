"""Answers as providers send them, and what a probe would have seen of them."""

from __future__ import annotations

import json
from typing import Any

from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client.probe.observations import FAULTS, Finding, Observation, Observations, questions
from toolglot.core.events import Event
from toolglot.core.fold import fold, unfold
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.evaluation.questions import Question
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.prepare import build_request
from toolglot.pipeline.request.route import resolve
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

ASKED = {one.id: one for one in questions()}
ONE = ASKED["one_tool"]
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n</tool_call>'


def observed(
    said: Reply, question: Question = ONE, tool_mode: str = "native", model: str = "vllm/my-qwen", **more: Any
) -> Observation:
    """An answer as the provider sent it, and as it leaves the guard."""
    route = resolve(model)
    plan = fit_request(build_request(question.messages, route, question.tools), route, ask=tool_mode)
    pipeline = ResponsePipeline(plan)
    left: list[Event] = [event for came in unfold(said) for event in pipeline.feed([came])]
    return Observation(tool_mode, question, said, fold(left), **more)


def calling(question: Question = ONE, raw: str = "tool_calls", **more: Any) -> Reply:
    calls = tuple(ToolCall(f"c{at}", name, json.dumps(value)) for at, (name, value) in enumerate(question.gold))
    return Reply(parts=calls, stop=Stop("calls" if calls else "stop", raw), **more)


def saying(text: str, **more: Any) -> Reply:
    return Reply(parts=(Text(text),), stop=Stop("stop", "stop"), **more)


def seen(*replies: Observation, model: str = "vllm/my-qwen", **more: Any) -> Observations:
    name, _, rest = model.partition("/")
    return Observations(rest, provider(name), profile(rest, name), replies=replies, **more)


def codes(found: tuple[Finding, ...]) -> list[str]:
    assert {finding.code for finding in found} <= FAULTS.keys()
    return [finding.code for finding in found]
