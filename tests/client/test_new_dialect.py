"""A new dialect is one file: a server's chat template is recognized by what the dialect itself declares."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolglot
from tests.client.detecting import profile_from
from tests.client.discovery_server import recorded
from toolglot.catalog.profile import Profile
from toolglot.dialects import all_dialects, find_dialect

DECLARATION = """
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TaggedJson

DIALECT = Dialect(
    name="zorblax",
    grammars=(TaggedJson(("<zorblax_call>",), ("</zorblax_call>",)),),
    render_tools=tool_lines(),
    render_calls=each_call("<zorblax_call>", "</zorblax_call>"),
    render_result=result_text("<zorblax_result>", "</zorblax_result>"),
    reasoning=(("<zorblax_think>", "</zorblax_think>"),),
    template_markers=(("<zorblax_call>",),),
)
"""
# It has the tags of another family, too, as many real templates have.
TEMPLATE = (
    "{% for tool in tools %}{{ tool | tojson }}{% endfor %}<zorblax_think><zorblax_call>{{ call }}</zorblax_call>"
    "{% for message in messages %}{{ message.role }}<tool_call>{{ message.content }}</tool_call>{% endfor %}"
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The declaration as a package of its own. In the project it is a file in `dialects/`, with no entry point."""
    (tmp_path / "zorblax_plugin.py").write_text(DECLARATION, encoding="utf-8")
    meta = tmp_path / "zorblax_plugin-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: zorblax-plugin\nVersion: 1.0\n", encoding="utf-8")
    (meta / "entry_points.txt").write_text("[toolglot.dialects]\nzorblax = zorblax_plugin:DIALECT\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    _forget()
    yield
    sys.modules.pop("zorblax_plugin", None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    find_dialect.cache_clear()
    all_dialects.cache_clear()


def profile_of_server() -> Profile:
    props = {
        **json.loads(recorded("llamacpp/qwen2.5-coder-1.5b/props.json")),
        "model_path": "z.gguf",
        "chat_template": TEMPLATE,
    }
    return profile_from("llamacpp", "a-model-without-a-row", {"GET /props": (200, json.dumps(props).encode())})


@pytest.mark.usefixtures("installed")
def test_it_is_detected_from_the_template_of_a_server() -> None:
    profile = profile_of_server()
    assert profile.dialect == "zorblax"
    assert profile.reasoning == ("<zorblax_think>", "</zorblax_think>")


def test_without_it_the_template_is_taken_for_another() -> None:
    assert profile_of_server().dialect == "hermes"


@pytest.mark.usefixtures("installed")
def test_its_calls_are_parsed() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
    found = toolglot.extract('<zorblax_call>{"name": "f", "arguments": {"a": 1}}</zorblax_call>', tools, dialect="zorblax")
    assert [(call.name, call.arguments) for call in found.calls] == [("f", {"a": 1})]
