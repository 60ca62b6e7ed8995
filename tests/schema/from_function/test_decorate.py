"""`@tool`: a tool that is still a function."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from toolglot.agent.agent import Agent
from toolglot.agent.runnable import runnable
from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.pipeline.formats import format_tools
from toolglot.schema.from_function import read_function, tool


@tool
def double(x: int) -> int:
    """Twice the number."""
    return 2 * x


@tool(name="half", description="Half of it.", timeout=3, cache_for=60, strict=True)
def a_half(x: float) -> float:
    """Not this."""
    return x / 2


def test_bare_it_is_a_tool_and_a_function() -> None:
    assert isinstance(double, Tool)
    assert (double.name, double.description) == ("double", "Twice the number.")
    assert double(4) == 8
    assert getattr(double, "__name__") == "double"  # noqa: B009  (in its dictionary, unknown to mypy)
    assert double.__doc__ == "Twice the number."


def test_with_arguments_it_says_more() -> None:
    assert (a_half.name, a_half.description, a_half.strict) == ("half", "Half of it.", True)
    assert (a_half.options.timeout, a_half.options.cache_for) == (3, 60)
    assert a_half(4) == 2


def test_it_is_written_as_any_tool_is() -> None:
    plain = Tool(double.name, double.description, double.schema)
    assert msgspec.json.encode(double) == msgspec.json.encode(plain)
    assert format_tools([double], "anthropic") == format_tools([plain], "anthropic")
    assert format_tools([a_half], "openai")[0]["function"]["strict"] is True


def test_a_method_is_a_tool_of_its_object() -> None:
    class Counter:
        def __init__(self, by: int) -> None:
            self.by = by

        @tool(name="count")
        def counted(self, x: int) -> int:
            """Counts."""
            return x + self.by

    two = Counter(2).counted
    assert two(1) == 3
    assert two.name == "count"
    assert two.schema == {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


class Shelf:
    @tool
    def marked(self, x: int) -> int:
        """Counts."""
        return x

    def plain(self, x: int) -> int:
        return x

    @staticmethod
    @tool
    def free(x: int) -> int:
        return x


@pytest.mark.parametrize("take", [lambda held: format_tools([held], "openai"), runnable, lambda held: Agent("local/m", [held])])
def test_a_method_without_its_object_is_no_tool(take: Callable[[Any], Any]) -> None:
    for held, name in ((Shelf.marked, "marked"), (Shelf.plain, "plain")):
        with pytest.raises(CallerError, match=rf"it is a method without its object; .* Shelf\(\.\.\.\)\.{name}"):
            take(held)
    for bound in (Shelf().marked, Shelf().plain, Shelf.free, functools.partial(Shelf.plain, Shelf())):
        take(bound)


def test_a_partial_of_a_tool_is_read_through() -> None:
    read = read_function(functools.partial(a_half.__wrapped__, x=1.0))  # type: ignore[attr-defined]
    assert read.tool.schema == {"type": "object", "properties": {}}
    assert read_function(functools.partial(double)).tool == read_function(double.read.function).tool


def test_pydantic_is_not_imported_without_need() -> None:
    code = (
        "import sys\n"
        "from toolglot.schema.from_function import tool\n"
        "@tool\n"
        "def f(x: int, y: list[str] | None = None) -> str:\n"
        "    'doc'\n"
        "    return str(x)\n"
        "f.read.bind({'x': 1, 'y': ['a']})\n"
        "sys.exit('pydantic' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_above_a_classmethod_it_says_where_it_belongs() -> None:
    def found(cls: type) -> str:
        """Found."""
        return cls.__name__

    with pytest.raises(CallerError, match="put @tool below @classmethod"):
        tool(classmethod(found))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cache_for": "60"}, "got `str` - at `cache_for`"),
        ({"timeout": 0}, "at `timeout`"),
        ({"name": ""}, "at `name`"),
        ({"description": 5}, "at `description`"),
    ],
)
def test_wrong_options_are_told_when_it_is_made(options: dict[str, Any], told: str) -> None:
    with pytest.raises(CallerError, match=told):
        tool(**options)
