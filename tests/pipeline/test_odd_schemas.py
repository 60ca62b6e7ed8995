"""Schemas with values of the wrong kind: clients send any JSON. Every form of a request can be planned, and its reply read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.answering import call, plan_for
from toolglot.core.events import Finish, Start
from toolglot.core.reply import Stop
from toolglot.core.tools import Tool, Toolset
from toolglot.dialects import dialect_names
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

VALUES: list[Any] = [[{}], 7, True, "a", {"a": 1}, [["a"], None]]
KEYWORDS = (
    *("required", "properties", "type", "enum", "const", "items", "anyOf", "allOf", "oneOf", "not", "default", "description"),
    *(
        "title",
        "format",
        "pattern",
        "minLength",
        "minItems",
        "maximum",
        "examples",
        "additionalProperties",
        "patternProperties",
    ),
    *("$ref", "if", "prefixItems", "nullable", "discriminator", "dependentRequired"),
)
CITY = {"type": "string"}
SCHEMAS = [
    schema
    for keyword in KEYWORDS
    for value in VALUES
    for schema in (
        {"type": "object", "properties": {"city": CITY}, keyword: value},
        {"type": "object", "properties": {"city": {**CITY, keyword: value}}, "required": ["city"]},
        {"type": "object", "properties": {"city": {keyword: value}}},
    )
]
TOOLS = [Tool(f"f{number}", "Does it.", schema) for number, schema in enumerate(SCHEMAS)]


@pytest.mark.parametrize("ask", ["native", "constrained", *(f"dialect:{name}" for name in sorted(dialect_names()))])
def test_every_form_takes_them(ask: str) -> None:
    for at in range(0, len(TOOLS), 100):
        plan = plan_for("llamacpp/m", ask=ask, tools=Toolset(TOOLS[at : at + 100]))
        pipeline = ResponsePipeline(plan)
        events = [event for number in range(3) for event in call(number, f"f{at + number}", '{"city": "Paris"}')]
        pipeline.feed([Start("r", "m"), *events, Finish(Stop("calls"))])


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama", "vllm"])
def test_calls_of_their_tools_are_checked(provider: str) -> None:
    for tool in TOOLS:
        pipeline = ResponsePipeline(plan_for(f"{provider}/m", ask="native", tools=Toolset([tool])))
        out = pipeline.feed([Start("r", "m"), *call(0, tool.name, '{"city": "Paris"}'), Finish(Stop("calls"))])
        assert isinstance(out[-1], Finish)
