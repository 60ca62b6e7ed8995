"""What people ask first of an agent on the embedded model, with the tools of every tutorial: most have no descriptions."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool
from toolglot.pipeline.gate import gate

TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def tool(name: str, description: str, /, *required: str, **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required or properties)}
    return Tool(name, description, schema)


ADD = tool("add", "Add two numbers.", "a", a=WHOLE, b={**WHOLE, "default": 1})
SUMS = [
    tool(name, f"{name.capitalize()} two numbers.", a=NUMBER, b=NUMBER) for name in ("add", "subtract", "multiply", "divide")
]
CALCULATOR = tool("calculator", "Evaluate a math expression", expression=TEXT)
WEATHER = tool("get_weather", "Get the weather in a city", city=TEXT)
SEARCH = tool("web_search", "Search the web", query=TEXT)
NOW = tool("now", "The current date and time.")
JOKE = tool("get_joke", "Get a random joke")
STOCK = tool("get_stock_price", "Get the current stock price", ticker=TEXT)
DICE = tool("roll_dice", "Roll dice", "sides", sides=WHOLE, count={**WHOLE, "default": 1})
LETTERS = tool("count_letters", "Count how often a letter occurs in a word", word=TEXT, letter=TEXT)
TRANSLATE = tool("translate", "Translate text into another language", text=TEXT, target_language=TEXT)
READ, LIST = tool("read_file", "Read a file", path=TEXT), tool("list_directory", "List files in a directory", path=TEXT)
ROOT = tool("square_root", "Square root of a number", x=NUMBER)


def due(question: str, *tools: Tool) -> list[tuple[str, dict[str, Any]]]:
    """Each call, with the values that it is held to."""
    found = gate(tools, (Message("user", (Text(question),)),))
    return [
        (
            one.tool.name,
            {name: own["enum"][0] for name, own in one.filled.schema["properties"].items() if len(own["enum"]) == 1},
        )
        for (one, *_) in found.calls
    ]


@pytest.mark.parametrize(
    ("question", "tools", "name", "values"),
    [
        ("Add 3 and 4", [ADD], "add", {"a": 3, "b": 4}),
        ("Add 5", [ADD], "add", {"a": 5}),
        ("What is 3 + 4?", SUMS, "add", {"a": 3, "b": 4}),
        ("What is 17 times 23?", SUMS, "multiply", {"a": 17, "b": 23}),
        ("What is 17*23?", SUMS, "multiply", {"a": 17, "b": 23}),
        ("What is 9 - 5?", SUMS, "subtract", {"a": 9, "b": 5}),
        ("what is 84 / 7", SUMS, "divide", {"a": 84, "b": 7}),
        ("What is 25 * 4 + 10?", [CALCULATOR, WEATHER], "calculator", {"expression": "25 * 4 + 10"}),
        ("(12 + 8) / 4", [CALCULATOR], "calculator", {"expression": "(12 + 8) / 4"}),
        ("How much is 1,234 times 56?", [CALCULATOR], "calculator", {"expression": "1234 * 56"}),
        ("What is 2 to the power of 10?", [CALCULATOR], "calculator", {"expression": "2 ** 10"}),
        ("What is 2^10?", [CALCULATOR], "calculator", {"expression": "2 ^ 10"}),
        ("what is 15% of 200", [CALCULATOR], "calculator", {"expression": "15 / 100 * 200"}),
        ("Calculate the square root of 144", [CALCULATOR], "calculator", {"expression": "sqrt(144)"}),
        ("What is the square root of 81?", [ROOT, CALCULATOR], "square_root", {"x": 81}),
        ("sqrt of 2", [ROOT], "square_root", {"x": 2}),
        ("What time is it?", [NOW, WEATHER], "now", {}),
        ("What's today's date?", [NOW], "now", {}),
        ("Tell me a joke", [JOKE, WEATHER], "get_joke", {}),
        ("What is Apple's stock price?", [STOCK], "get_stock_price", {"ticker": "AAPL"}),
        ("What is Tesla trading at?", [STOCK], "get_stock_price", {"ticker": "TSLA"}),
        ("roll a d20", [DICE], "roll_dice", {"sides": 20}),
        ("How many r are in strawberry?", [LETTERS], "count_letters", {"word": "strawberry", "letter": "r"}),
        ("How many r's are in strawberry?", [LETTERS], "count_letters", {"word": "strawberry", "letter": "r"}),
        (
            "How do you say thank you in Japanese?",
            [TRANSLATE],
            "translate",
            {"text": "thank you", "target_language": "Japanese"},
        ),
        ("What files are in /srv/data?", [READ, LIST], "list_directory", {"path": "/srv/data"}),
        ("Google the best pizza in Naples", [SEARCH], "web_search", {}),
        ("Who won the world cup in 2022?", [SEARCH, WEATHER], "web_search", {"query": "Who won the world cup in 2022"}),
        ("What is the population of Iceland?", [SEARCH], "web_search", {"query": "What is the population of Iceland"}),
        ("What's the weather in Oslo?", [SEARCH, WEATHER], "get_weather", {"city": "Oslo"}),
    ],
)
def test_one_call_is_due(question: str, tools: list[Tool], name: str, values: dict[str, Any]) -> None:
    found = due(question, *tools)
    assert [called for called, _ in found] == [name]
    assert values.items() <= found[0][1].items()


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        ("What is 3 + 4?", [WEATHER]),
        ("What is 3 + 4?", SUMS[2:3]),  # which only multiplies
        ("Tell me a joke", [WEATHER]),
        ("Who won the world cup in 2022?", [WEATHER]),
        ("How are you?", [SEARCH]),
        ("What is your name?", [SEARCH]),
        ("Where do I live?", [SEARCH]),
        ("What is the meaning of life?", [SEARCH]),
        ("Write a poem about the sea", [SEARCH]),
        ("What is the population of Iceland?", [tool("search_images", "Search the web for pictures", query=TEXT)]),
    ],
)
def test_no_call_is_due(question: str, tools: list[Tool]) -> None:
    assert due(question, *tools) == []


@pytest.mark.parametrize("text", ["It is 5-7 days", "on 2024-10-20", "call 555-1234", "9-5"])
def test_a_dash_is_no_minus(text: str) -> None:
    assert "calculator" not in [name for name, _ in due(f"What is {text}?", CALCULATOR)]
