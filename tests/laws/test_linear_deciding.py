"""Law 7 for deciding in place of a small model: work grows with the question and no faster, whatever the question is.

Counted in lines of our own Python. The tools are heavy on purpose: what is nested asks for parts of parts of the question.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.counted import lines_run
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Tool
from toolglot.pipeline.doubt import Doubts
from toolglot.pipeline.gate import gate
from toolglot.pipeline.told_values import told_values

SIZE = 1800  # characters
STEADY = 2.3  # at most, where the question is twice as long
MOST = 2_000_000  # lines, for the longest: parts of parts would need a thousand times as many

FLOODS = (
    "a and b, ",
    "3 x 4 and ",
    "Abc Def, ",
    "Abc ",
    "jo.x@example.com ",
    "on 3 May, ",
    "at 5 pm and ",
    '"a b" and ',
    "note: a: b; ",
    "1 22 333 ",
    "$5 and 3 euros ",
    "between 2 and ",
    "12 Abc Street, Def ",
    "Then book a trip. ",
    "book the trip to a city ",
    "a\n",
    "            a",
    'Book 3 rooms for Ann Lee at jo@x.org from 3 May, and "x y" for $5. ',
)

_THING = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"label": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["label", "amount"],
            },
        },
    },
    "required": ["name", "count"],
}
_PROPERTIES = {
    "city": {"type": "string", "description": "Name of the city"},
    "nights": {"type": "integer"},
    "max_price": {"type": "number", "description": "The highest price in euros"},
    "start_date": {"type": "string", "description": "YYYY-MM-DD"},
    "time": {"type": "string", "description": "HH:MM"},
    "email": {"type": "string"},
    "note": {"type": "string", "description": "Free text"},
    "mode": {"type": "string", "enum": ["fast mode", "slow mode", "abc"]},
    "notify": {"type": "boolean", "description": "Whether to notify the user"},
    "booking_id": {"type": "string", "description": "The id, e.g. A17"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "numbers": {"type": "array", "items": {"type": "number"}},
    "guest": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]},
    "things": {"type": "array", "items": _THING},
}
TOOLS = tuple(
    Tool(f"book_{what}", f"Book a {what}", schema={"type": "object", "properties": _PROPERTIES, "required": required})
    for what, required in (("trip", list(_PROPERTIES)), ("room", ["city", "things"]))
)
CALL = ToolCall("c", "book_room", arguments_json='{"city": "Oslo", "things": []}')


def flooded(flood: str, size: int) -> str:
    return (flood * (size // len(flood) + 1))[:size]


def asked(question: str) -> tuple[Message, ...]:
    return (Message("user", (Text(question),)),)


def decided(flood: str, size: int) -> int:
    return lines_run(lambda: gate(TOOLS, asked(flooded(flood, size))))


def told(flood: str, size: int) -> int:
    return lines_run(lambda: told_values(TOOLS[0], flooded(flood, size)))


def doubted(flood: str, size: int) -> int:
    def doubt() -> None:
        doubts = Doubts(asked(f"Book the trip: {flooded(flood, size)}"), TOOLS)
        doubts.of(CALL)
        doubts.set_right(CALL)

    return lines_run(doubt)


@pytest.fixture(autouse=True)
def _soon_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are slow to count; what bounds the looking at parts bounds it at any size."""
    monkeypatch.setattr("toolglot.pipeline.said._MOST_LOOKED", 20_000)


@pytest.mark.parametrize("flood", FLOODS)
def test_deciding_takes_twice_the_work_for_twice_the_question(flood: str) -> None:
    once, twice = decided(flood, SIZE), decided(flood, 2 * SIZE)
    assert twice <= STEADY * once
    assert twice <= MOST


@pytest.mark.parametrize("flood", FLOODS[:4])
@pytest.mark.parametrize("job", [told, doubted])
def test_doubting_takes_twice_the_work_for_twice_the_question(job: Callable[[str, int], int], flood: str) -> None:
    once, twice = job(flood, SIZE), job(flood, 2 * SIZE)
    assert twice <= STEADY * once
    assert twice <= MOST
