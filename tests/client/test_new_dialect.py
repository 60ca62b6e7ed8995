"""A new dialect is one file: a server's chat template is recognized by what the dialect itself declares.

It takes part in `auto` too, also if another package provides it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.client.detecting import one_note, profile_from
from tests.client.discovery_server import recorded
from toolglot.catalog.profile import Profile
from toolglot.core.plugins import plugins
from toolglot.dialects import all_dialects, find_dialect
from toolglot.pipeline.response.scanned_dialects import _all_dialects

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
    points = "[toolglot.dialects]\nzorblax = zorblax_plugin:DIALECT\nbroken = no_such_module:DIALECT\nnone = sys:path\n"
    (meta / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    _forget()
    yield
    sys.modules.pop("zorblax_plugin", None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    plugins.cache_clear()
    find_dialect.cache_clear()
    all_dialects.cache_clear()
    _all_dialects.cache_clear()


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


CALL = '<zorblax_think>Hm.</zorblax_think>Here: <zorblax_call>{"name": "g", "arguments": {"a": 1}}</zorblax_call>'


def tools_of(test: str) -> list[dict[str, object]]:
    """New for each test: what is derived from tools is cached with them."""
    return [{"name": "g", "description": test, "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("policy", ["strict", "balanced", "eager"])
def test_its_calls_are_parsed_unaided(policy: Any) -> None:
    found = toolglot.extract(CALL, tools_of(f"unaided, {policy}"), policy=policy)
    assert [(call.name, call.arguments) for call in found.calls] == [("g", {"a": 1})]
    assert (found.dialect, found.text.strip(), found.reasoning) == ("zorblax", "Here:", "Hm.")


def test_without_it_they_are_text() -> None:
    assert toolglot.extract(CALL, tools_of("without it")).calls == []


@pytest.mark.usefixtures("installed")
def test_a_package_that_can_not_be_loaded_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    assert [one.name for one in all_dialects()][-1] == "zorblax"
    assert "dialects broken of zorblax-plugin 1.0 can't be loaded" in caplog.text
    assert "dialects none of zorblax-plugin 1.0 can't be loaded: it is not a Dialect but list" in caplog.text
    with pytest.raises(ModuleNotFoundError):
        toolglot.extract("x", dialect="broken")
    with pytest.raises(toolglot.CallerError, match="no dialect 'none'"):
        toolglot.extract("x", dialect="none")


# -- a checkpoint's own parser, which vLLM shows with --enable-tokenizer-info-endpoint

CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "chat_template": TEMPLATE.replace("tool_call>", "quux_call>"),
    "response_template": {
        "start_anchor": "<|quux|>",
        "fields": {"tool_calls": {"open": "<quux_call>", "close": "</quux_call>", "content": "json", "repeats": True}},
    },
}


def profile_of_vllm(**changes: object) -> Profile:
    table = {
        "GET /v1/models": (200, recorded("vllm/models.json")),
        "GET /tokenizer_info": (200, json.dumps({**CONFIG, **changes}).encode()),
    }
    return profile_from("vllm", "house-lora", table)


def test_a_server_shows_the_checkpoints_own_parser() -> None:
    known = profile_of_vllm()
    assert known.dialect is not None
    assert known.dialect.startswith("template:")
    assert (known.family, known.context_length) == ("qwen2.5", 16384), "the facts of the first question are kept"
    text = '<quux_call>{"name": "g", "arguments": {"a": 1}}</quux_call>'
    found = toolglot.extract(text, tools_of("shown"), dialect=known.dialect, policy="strict")
    assert [(call.name, call.arguments) for call in found.calls] == [("g", {"a": 1})]
    assert toolglot.extract(text, tools_of("shown")).calls == []
    assert profile_of_vllm().dialect == known.dialect


def test_a_known_chat_template_comes_first() -> None:
    assert profile_of_vllm(chat_template="{{ tools }}[TOOL_CALLS]").dialect == "mistral"
    assert profile_of_vllm(response_template=None).dialect == "hermes", "as in the catalog"


def test_a_parser_that_is_not_supported_is_a_note() -> None:
    fields = {"tool_calls": {"open_pattern": r"<quux (?P<name>(a+)+)>", "close": "</quux>", "content": "json"}}
    known = profile_of_vllm(response_template={"fields": fields})
    assert known.dialect == "hermes"
    one_note(known, "own parser is not used", "a repeated group")
