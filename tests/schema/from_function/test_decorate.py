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


def test_without_options_it_is_a_tool_and_a_function() -> None:
    assert isinstance(double, Tool)
    assert (double.name, double.description) == ("double", "Twice the number.")
    assert double(4) == 8
    assert getattr(double, "__name__") == "double"  # noqa: B009  (in its dictionary, unknown to mypy)
    assert double.__doc__ == "Twice the number."


def test_options_override_the_function() -> None:
    assert (a_half.name, a_half.description, a_half.strict) == ("half", "Half of it.", True)
    assert (a_half.options.timeout, a_half.options.cache_for) == (3, 60)
    assert a_half(4) == 2


def test_it_encodes_as_a_tool() -> None:
    plain = Tool(double.name, double.description, double.schema)
    assert msgspec.json.encode(double) == msgspec.json.encode(plain)
    assert format_tools([double], "anthropic") == format_tools([plain], "anthropic")
    assert format_tools([a_half], "openai")[0]["function"]["strict"] is True


def test_a_bound_method_is_a_tool() -> None:
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


@pytest.mark.parametrize("take", [lambda one: format_tools([one], "openai"), runnable, lambda one: Agent("local/m", [one])])
def test_an_unbound_method_is_not_a_tool(take: Callable[[Any], Any]) -> None:
    for method, name in ((Shelf.marked, "marked"), (Shelf.plain, "plain")):
        with pytest.raises(CallerError, match=rf"it is an unbound method; .* Shelf\(\.\.\.\)\.{name}"):
            take(method)
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
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_above_a_classmethod_it_is_rejected_with_advice() -> None:
    def found(cls: type) -> str:
        """Found."""
        return cls.__name__

    with pytest.raises(CallerError, match="put @tool below @classmethod"):
        tool(classmethod(found))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache_for": "60"}, "got `str` - at `cache_for`"),
        ({"timeout": 0}, "at `timeout`"),
        ({"name": ""}, "at `name`"),
        ({"description": 5}, "at `description`"),
    ],
)
def test_invalid_options_are_rejected_at_definition(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CallerError, match=message):
        tool(**options)
