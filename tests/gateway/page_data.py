"""A gateway with a past: recorded requests of several models, the same in every run."""

from __future__ import annotations

import random
import time

import msgspec

from tests.gateway.running import Running
from toolglot.catalog.prices import Price, cost
from toolglot.core.reply import Usage
from toolglot.gateway.records import Record, RecordedCall, RecordedDecision

MODELS = (
    "qwen2.5-coder:32b",
    "llama3.2:3b",
    "claude-sonnet-4-5",
    "gpt-5.5",
    "phi3",
    "gemma4:12b",
    "mistral-small",
    "deepseek-chat",
)
UPSTREAMS = ("home", "home", "anthropic", "openai", "home", "home", "mistral", "deepseek")
CLIENTS = (
    ("anthropic", "claude-cli/2.1.197"),
    ("openai-responses", "codex/0.166.0"),
    ("openai-chat", "OpenAI/Python"),
    ("gemini", "GeminiCLI/0.61.0"),
)
PRICES = (Price("gpt-5.5", 1.25, 10.0), Price("mistral-small", 0.1, 0.3), Price("deepseek-chat", 0.28, 0.42))  # invented
TOOLS = ("Read", "Bash", "Edit", "get_weather", "search_files")
CODES = ("trailing_comma", "coerced_type", "single_quotes", "fixed_name")
REJECTED = ("rejected_unknown_tool", "rejected_schema", "rejected_truncated")


def fill(gateway: Running, requests: int, models: int = len(MODELS), seconds: float = 3480) -> None:
    """Requests over the last hour, oldest first."""
    dice = random.Random(20)  # noqa: S311
    history, now = gateway.gateway.history, time.time()
    for number in range(requests):
        at = now - seconds * (requests - number) / requests
        history._clock = lambda at=at: at  # type: ignore[misc]
        gateway.gateway.records.add(_record(dice, number, at, models))
    history._clock = time.time


def _record(dice: random.Random, number: int, at: float, models: int) -> Record:
    place = number if number < models else min(int(dice.expovariate(4 / models)), models - 1)
    model = MODELS[place] if place < len(MODELS) else f"model-{place}:7b"
    wire, client = dice.choice(CLIENTS)
    record = Record(
        f"req_{number:032x}", wire, at, model=model, target=model, upstream=UPSTREAMS[place % len(UPSTREAMS)], client=client
    )
    record.upstream_wire, record.tool_mode, record.stream, record.owner = "openai-chat", "native", True, "anyone"
    record.seconds = dice.lognormvariate(0.6, 0.7)
    record.status, record.first = 200, record.seconds / 4
    if dice.random() < 0.04:
        record.status, record.code = 503, "overloaded"
        record.error = f"{record.upstream}/{model} answered 503: the server is busy, try again in 5 seconds"
        return record
    record.input, record.output = dice.randrange(800, 24_000), dice.randrange(20, 900)
    record.cost = cost(model, record.upstream, Usage(record.input, record.output), PRICES)
    for _ in range(dice.choice((0, 1, 1, 1, 2, 3))):
        is_text = model in ("llama3.2:3b", "phi3", "gemma4:12b") and dice.random() < 0.7
        dialect = dice.choice(("hermes", "fenced_json")) if is_text else "native"
        luck = dice.random()
        if luck < 0.05:
            call = RecordedCall(dialect, "refused", dice.choice(REJECTED), dice.choice(TOOLS))
        elif luck < 0.2:
            call = RecordedCall(dialect, "fixed", dice.choice(CODES), dice.choice(TOOLS))
        else:
            call = RecordedCall(dialect, "passed", "", dice.choice(TOOLS))
        record.calls.append(call)
        record.decisions += [RecordedDecision(code) for code in (call.code, "rescued_text" if is_text else "") if code]
    return record


TEXT = """I'll look at the weather first.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris", "days": "3",}}
</tool_call>
"""
SHOWN = Record(
    "req_" + "5f" * 16,
    "anthropic",
    0.0,
    model="claude-sonnet-4-5",
    target="llama3.2:3b",
    upstream="home",
    upstream_wire="ollama",
    tool_mode="prompted",
    stream=True,
    status=200,
    seconds=1.84,
    first=0.41,
    input=1834,
    output=61,
    calls=[RecordedCall("hermes", "fixed", "trailing_comma", "get_weather", '{"city": "Paris", "days": "3",}')],
    decisions=[
        RecordedDecision("rescued_text", "get_weather: the model wrote the call into its text, in the form of hermes."),
        RecordedDecision("trailing_comma", "get_weather: there was a comma after the last value."),
        RecordedDecision("coerced_type", "get_weather: days was a string and is an integer now."),
    ],
    content=msgspec.Raw(
        msgspec.json.encode(
            {
                "request": {
                    "model": "claude-sonnet-4-5",
                    "max_tokens": 1000,
                    "messages": [{"role": "user", "content": "What's the weather in Paris for the next three days?"}],
                    "tools": [
                        {
                            "name": "get_weather",
                            "description": "The weather of a city",
                            "input_schema": {
                                "type": "object",
                                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                                "required": ["city"],
                            },
                        }
                    ],
                },
                "written": [{"type": "text", "text": TEXT}],
                "reply": [
                    {"type": "text", "text": "I'll look at the weather first."},
                    {"type": "call", "id": "call_1", "name": "get_weather", "arguments_json": '{"city":"Paris","days":3}'},
                ],
            }
        )
    ),
    client="claude-cli/2.1.197",
    owner="anyone",
)


def show_one(gateway: Running) -> None:
    """One more request, with its contents."""
    gateway.gateway.records.add(msgspec.structs.replace(SHOWN, began=time.time() - 2))
