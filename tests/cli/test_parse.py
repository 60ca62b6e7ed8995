"""`toolglot parse`, run as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_convert import run
from toolglot import extract
from toolglot.cli.parse import show

TOOLS = [
    {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
]


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return str(path)


def test_calls_text_and_decisions_as_json(tools: str) -> None:
    text = "Let me see. <tool_call>{'name': 'get_weather', 'arguments': {'city': 'Rome'}}</tool_call>"
    done = run("parse", "--tools", tools, given=text)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert [(call["name"], call["arguments"]) for call in found["calls"]] == [("get_weather", {"city": "Rome"})]
    assert found["calls"][0]["fixes"]
    assert found["text"].strip() == "Let me see."
    assert found["dialect"] == "hermes"
    assert "rescued_text" in [decision["code"] for decision in found["decisions"]]


def test_tools_of_a_python_file_beside_those_of_a_json_file(tools: str, tmp_path: Path) -> None:
    path = tmp_path / "my_tools.py"
    path.write_text('print("loaded")\n\n\ndef add(a: int, b: int) -> int:\n    """Add."""\n    return a + b\n')
    text = '<tool_call>{"name": "add", "arguments": {"a": "2", "b": 3}}</tool_call>'
    text += '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    found = json.loads(run("parse", "--tools", tools, "--tools", str(path), given=text).stdout)
    assert [(call["name"], call["arguments"]) for call in found["calls"]] == [
        ("add", {"a": 2, "b": 3}),
        ("get_weather", {"city": "Rome"}),
    ]


def test_a_rejected_call_has_a_reason(tools: str) -> None:
    found = json.loads(
        run("parse", "--tools", tools, given='<tool_call>{"name": "launch", "arguments": {}}</tool_call>').stdout
    )
    assert found["calls"] == []
    assert found["decisions"][0]["code"] == "rejected_unknown_tool"
    assert "get_weather" in found["decisions"][0]["message"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--dialect", "hermse"), "did you mean hermes?"),
        (("--dialect", "template:no-such.json"), "there is no such file"),
        (("--dialect", f"template:{__file__}"), "is not JSON"),
        (("--policy", "lax"), "--policy"),
        (("--tools", "no-such.json"), "there is no such file"),
    ],
)
def test_usage_errors_exit_with_2(words: tuple[str, ...], expected: str) -> None:
    done = run("parse", *words, given="hi")
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_the_dialect_of_a_checkpoint(tools: str, tmp_path: Path) -> None:
    field = {"open": "<quux>", "close": "</quux>", "content": "json", "repeats": True}
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"response_template": {"start_anchor": "<|a|>", "fields": {"tool_calls": field}}}))
    text = '<quux>{"name": "get_weather", "arguments": {"city": "Rome"}}</quux>'
    done = run("parse", "--tools", tools, "--dialect", f"template:{config}", given=text)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [call["arguments"] for call in found["calls"]] == [{"city": "Rome"}]
    assert found["dialect"] == "template"


def test_a_terminal_obeys_nothing_that_a_model_wrote(capsys: pytest.CaptureFixture[str]) -> None:
    show(extract('a \x1b]0;title\x07b <tool_call>{"name": "c\\u001b[2J", "arguments": {}}</tool_call>'))
    output = capsys.readouterr().out
    assert "a b" in output
    assert "\x07" not in output
    assert "\x1b[2J" not in output
