"""Generations under a grammar on a real llama.cpp server, and how many parse back: `python bench/grammar.py [N] [weights]`.

Each is in another dialect, in turn: half with `required`, half with free text first, sampled at temperature 0.6. The model is
asked to repeat a call, which small ones do badly: the grammar makes it one. An answer is good if it has only valid calls, or
only text where text is free. One that the limit of tokens cuts off is counted apart: no grammar can finish it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.llamacpp import serving  # noqa: E402

import toolglot  # noqa: E402
from toolglot.client.weights import find_or_fetch  # noqa: E402
from toolglot.core.messages import ToolCall  # noqa: E402
from toolglot.dialects import dialect_names, find_dialect  # noqa: E402

TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather in a city",
        "schema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["C", "F"]},
                "days": {"type": "integer"},
            },
            "required": ["city"],
        },
    },
    {
        "name": "add_event",
        "description": "Add an event to the calendar",
        "schema": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "guests": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "place": {"type": "object", "properties": {"room": {"type": "string"}, "floor": {"type": "integer"}}},
                "all_day": {"type": "boolean"},
            },
            "required": ["title", "all_day"],
        },
    },
]
ARGUMENTS = (
    ("get_weather", {"city": "Paris"}),
    ("add_event", {"title": "Lunch", "guests": ["Ann"], "all_day": False}),
    ("get_weather", {"city": "Rome", "unit": "F", "days": 3}),
    ("add_event", {"title": "Trip", "place": {"room": "12", "floor": 2}, "all_day": True}),
)
MAX_TOKENS = 100


def ask(address: str, model: str, dialect: str, number: int, *, required: bool) -> tuple[str, str]:
    """The answer's text, and why it ended."""
    grammar = toolglot.grammar(TOOLS, dialect, "gbnf", required=required, parallel=False)
    name, arguments = ARGUMENTS[number // 2 % len(ARGUMENTS)]
    declared = find_dialect(dialect)
    assert declared is not None
    call = declared.render_calls((ToolCall("call_1", name, json.dumps(arguments)),))
    messages = [{"role": "user", "content": f"Repeat: {call}"}]
    body = {"model": model, "messages": messages, "max_tokens": MAX_TOKENS, "temperature": 0.6, "seed": number, **grammar.body}
    request = Request(f"{address}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(request) as response:
        choice = json.load(response)["choices"][0]
    return choice["message"]["content"] or "", choice["finish_reason"]


def verdict(text: str, reason: str, dialect: str, *, required: bool) -> str:
    if reason == "length":
        return "cut off"
    found = toolglot.extract(text, TOOLS, dialect=dialect)
    if any(one.code.startswith("rejected") for one in found.decisions) or (required and not found.calls):
        return "bad"
    return "calls" if found.calls else "text only"


def main() -> None:
    count, weights = int((sys.argv[1:] or ["200"])[0]), (sys.argv[2:] or ["smollm2"])[0]
    counts: Counter[str] = Counter()
    with serving(find_or_fetch(weights), weights) as server:
        for number in range(count):
            dialect = dialect_names()[number // 2 % len(dialect_names())]
            declared = find_dialect(dialect)
            required = bool(number % 2) or (declared is not None and declared.weak)
            text, reason = ask(server.address, server.model, dialect, number, required=required)
            found = verdict(text, reason, dialect, required=required)
            counts[found] += 1
            if found == "bad":
                print(json.dumps({"dialect": dialect, "required": required, "text": text}), flush=True)
            print(f"{number + 1}/{count} {dict(counts)}", file=sys.stderr, flush=True)
    print(json.dumps({"model": weights, "generations": count, **counts}))


if __name__ == "__main__":
    main()
