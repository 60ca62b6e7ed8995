"""Answers as providers send them, and what a probe would have seen of them."""

from __future__ import annotations

import json
from typing import Any

from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client.probe.seen import FAULTS, Finding, Heard, Seen, questions
from toolglot.core.events import Event
from toolglot.core.fold import fold, unfold
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.evaluation.questions import Question
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.fit import fit
from toolglot.pipeline.prepare import read_question
from toolglot.pipeline.route import resolve

ASKED = {one.id: one for one in questions()}
ONE = ASKED["one_tool"]
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n</tool_call>'


def heard(said: Reply, question: Question = ONE, way: str = "native", model: str = "vllm/my-qwen", **more: Any) -> Heard:
    """An answer as the provider sent it, and as it leaves the guard."""
    route = resolve(model)
    plan = fit(read_question(question.messages, route, question.tools), route, ask=way)
    answers = Answers(plan)
    left: list[Event] = [event for came in unfold(said) for event in answers.feed(came)]
    return Heard(way, question, said, fold(left), **more)


def calling(question: Question = ONE, raw: str = "tool_calls", **more: Any) -> Reply:
    calls = tuple(ToolCall(f"c{at}", name, json.dumps(value)) for at, (name, value) in enumerate(question.gold))
    return Reply(parts=calls, stop=Stop("calls" if calls else "stop", raw), **more)


def saying(text: str, **more: Any) -> Reply:
    return Reply(parts=(Text(text),), stop=Stop("stop", "stop"), **more)


def seen(*heard_ones: Heard, model: str = "vllm/my-qwen", **more: Any) -> Seen:
    name, _, rest = model.partition("/")
    return Seen(rest, provider(name), profile(rest, name), heard=heard_ones, **more)


def codes(found: tuple[Finding, ...]) -> list[str]:
    assert {finding.code for finding in found} <= FAULTS.keys()
    return [finding.code for finding in found]
