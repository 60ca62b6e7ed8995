"""The public names, and which modules `import toolglot` loads."""

from __future__ import annotations

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.pages import SECTIONS

import toolglot
from tests.agent.scripted import agent, call_reply, text_reply

SERVER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent / "agent")!r})
import mcp_server

only = mcp_server.kit.FastMCP("sums") if hasattr(mcp_server.kit, "FastMCP") else mcp_server.kit.MCPServer("sums")
only.add_tool(mcp_server.add)
only.run("stdio")
"""

HEAVY = (
    "httpx",
    "httpcore",
    "aiohttp",
    "requests",
    "pydantic",
    "uvicorn",
    "starlette",
    "asyncio",
    "http.client",
    "ssl",
    "click",
    "rich",
)


def test_every_public_name_exists_and_the_list_is_sorted() -> None:
    assert toolglot.__all__ == sorted(toolglot.__all__)
    for name in toolglot.__all__:
        assert getattr(toolglot, name) is not None
    assert set(toolglot.__all__) <= set(dir(toolglot))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        toolglot.no_such_name  # noqa: B018


@pytest.mark.parametrize("used", ["", "toolglot.convert({'model':'m','messages':[]}); toolglot.prepare('hi', 'ollama/x')"])
def test_import_loads_no_heavy_modules(used: str) -> None:
    code = f"import sys, toolglot; {used or 'pass'}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in HEAVY if name in loaded] == []
    assert "toolglot" in loaded


def test_import_alone_loads_almost_nothing() -> None:
    code = "import sys; before = set(sys.modules); import toolglot; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in ("typing", "re", "msgspec", "json") if name in loaded] == []


def test_the_library_prints_no_log() -> None:
    """Without a handler of the program's own, Python would print warnings to stderr."""
    code = "import toolglot\nfrom toolglot.core.log import log\ntoolglot.extract('f(', [{'name': 'f'}])\n"
    code += "log.warning('printed')\nlog.getChild('gateway').error('printed')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_api_reference_has_every_public_name_once() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(toolglot.__all__)


def get_weather(city: str) -> str:
    return f"18 degrees in {city}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples run: with the files that they name."""
    place = tmp_path_factory.mktemp("examples")
    (place / "server.py").write_text(SERVER)
    replies = call_reply(("c1", "get_weather", '{"city": "Paris"}')), text_reply("It is mild.")
    asked, _ = agent(*replies, tools=[get_weather], record=place / "runs.jsonl")
    asked.run_sync("Weather in Paris?")
    return place


@pytest.mark.parametrize("name", toolglot.__all__)
def test_every_public_name_has_a_docstring_and_its_examples_are_true(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
    value = getattr(toolglot, name)
    assert value.__doc__
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(value, name, globs={"toolglot": toolglot, name: value}):
        runner.run(test)
    assert runner.failures == 0


def test_every_public_function_shows_an_example() -> None:
    functions = [name for name in toolglot.__all__ if inspect.isfunction(inspect.unwrap(getattr(toolglot, name)))]
    without = {name for name in functions if ">>> " not in (getattr(toolglot, name).__doc__ or "")}
    assert without == {"dialect_from_template"}  # a template is long
