from __future__ import annotations

import pytest

from toolglot.core.tools import Tool
from toolglot.schema.tool_names import ToolNames

TOOLS = [
    Tool("get_weather"),
    Tool("SearchDatabase"),
    Tool("math.factorial"),
    Tool("read_file", namespace="fs"),
    Tool("mcp__github__list_issues"),
    Tool("save_file"),
    Tool("saveFile"),
    Tool("close", namespace="a"),
    Tool("close", namespace="b"),
    Tool("bash_20250124", kind="server", extra={"anthropic": {"type": "bash_20250124", "name": "bash"}}),
]
NAMES = ToolNames(TOOLS)
EXACT = ["get_weather", "math.factorial", "fs__read_file", "fs.read_file", "mcp__github__list_issues", "saveFile", "bash"]
FIXED = {
    "functions.get_weather": "get_weather",
    "default_api.get_weather": "get_weather",
    "default_api.functions.get_weather": "get_weather",
    "get_weather<|channel|>commentary": "get_weather",
    "functions.get_weather:0": "get_weather",
    "get_weather()": "get_weather",
    " `get_weather` ": "get_weather",
    "GetWeather": "get_weather",
    "get-weather": "get_weather",
    "GET WEATHER": "get_weather",
    "search_database": "SearchDatabase",
    "functions.search-database": "SearchDatabase",
    "math_factorial": "math.factorial",
    "github__list_issues": "mcp__github__list_issues",
    "list_issues": "mcp__github__list_issues",
    "read_file": "fs__read_file",
    "functions.bash": "bash_20250124",
}
UNKNOWN = [
    "",
    "get_wether",
    "weather",
    "get_weather_now",
    "factorial",
    "save-file",
    "close",
    "os.remove",
    "mcp__evil__get_weather",
    "mcp__evil__list_issues",
    "mcp.get_weather",
    "tools.get_weather",
    "api.get_weather",
    "evil.get_weather",
    "evil__read_file",
    "x" * 10_000,
    "functions.",
]


@pytest.mark.parametrize("name", EXACT)
def test_exact_names(name: str) -> None:
    found = NAMES.find(name, exact=True)
    assert found is not None
    assert not found.fixed


@pytest.mark.parametrize("name", FIXED)
def test_misspellings_that_match_exactly_one_tool(name: str) -> None:
    found = NAMES.find(name)
    assert found is not None
    assert (found.tool.full_name, found.fixed) == (FIXED[name], True)
    assert NAMES.find(name, exact=True) is None


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_names_match_no_tool(name: str) -> None:
    assert NAMES.find(name) is None


def test_a_namespace_distinguishes_tools_with_the_same_name() -> None:
    for namespace in "ab":
        found = NAMES.find("close", namespace)
        assert found is not None
        assert (found.tool.namespace, found.fixed) == (namespace, False)
    found = NAMES.find("get_weather", "functions")
    assert found is not None
    assert found.fixed
