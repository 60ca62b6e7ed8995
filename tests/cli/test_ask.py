"""`toolglot ask`: what a user types and sees."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agent.scripted import Scripted, call_reply, error_reply, text_reply
from toolglot.agent.agent import Agent
from toolglot.agent.record import replay
from toolglot.agent.runnable import runnable
from toolglot.agent.tool_file import load_tools
from toolglot.cli import ask as ask_command
from toolglot.errors import CallerError

TOOLS = '''
def get_weather(city: str) -> str:
    """The weather."""
    return f"18C in {city}"

def _private(x: int) -> int:
    return x

def untyped(x):
    return x
'''
MARKED = '''
from beside import NAME
from toolglot.schema.from_function import tool

@tool(name=NAME)
def a() -> int:
    """A."""
    return 1

def helper(x: int) -> int:
    return x
'''
CALL = call_reply(("a", "get_weather", '{"city":"Rome"}'))


@pytest.fixture
def tools(tmp_path: Path) -> str:
    (tmp_path / "my_tools.py").write_text(TOOLS)
    return str(tmp_path / "my_tools.py")


class Asked:
    """`toolglot ask` with a scripted provider."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.transport = Scripted()

    def __call__(self, *words: str, answers: Any = (), given: str = "", **more: Any) -> Result:
        self.transport = Scripted(*answers)
        self.monkeypatch.setattr(ask_command, "Agent", self._agent)
        return CliRunner().invoke(ask_command.command, ["-m", "openai/gpt-5", *words], input=given, **more)

    def _agent(self, *args: Any, **options: Any) -> Agent:
        return Agent(*args, **{"api_key": "k", **options, "transport": self.transport})


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.delenv("TOOLGLOT_RECORD", raising=False)
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "0")
    return Asked(monkeypatch)


def test_the_answer_is_on_stdout_and_the_calls_on_stderr(ask: Asked, tools: str) -> None:
    done = ask("Weather in Rome?", "--tools", tools, answers=[CALL, text_reply("It is| mild.")])
    assert done.exit_code == 0
    assert done.stdout == "It is mild.\n"
    assert 'call get_weather({"city":"Rome"})' in done.stderr
    assert "result get_weather: 18C in Rome" in done.stderr
    assert done.stderr.index("call ") < done.stderr.index("result ")


def test_fixes_refusals_and_errors_are_shown(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def half(n: int) -> int:\n    '''Halves.'''\n    raise ValueError('odd')\n")
    answers = [call_reply(("a", "launch", "{}")), call_reply(("b", "half", "{n: 3}")), text_reply("No.")]
    done = ask("go", "--tools", str(tmp_path / "t.py"), answers=answers)
    assert "rejected_unknown_tool" in done.stderr
    assert "there are half" in done.stderr
    assert "as written" not in done.stderr
    verbose = ask("go", "--tools", str(tmp_path / "t.py"), "--verbose", answers=answers).stderr
    assert "as written: {n: 3}" in verbose
    assert "error half: ValueError: odd" in done.stderr
    assert done.exit_code == 0


def test_notes_are_shown_with_verbose_only(ask: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_command, "demo_note", lambda model: f"note: {model} is small")
    assert ask("Hi", answers=[text_reply("Hello.")]).output == "Hello.\n"
    assert "note: openai/gpt-5 is small" in ask("Hi", "-v", answers=[text_reply("Hello.")]).stderr


def test_colours_only_where_they_are_wanted(ask: Asked, tools: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in ask("go", "--tools", tools, answers=[CALL, text_reply("ok")], color=True).stderr
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in ask("go", "--tools", tools, answers=[CALL, text_reply("ok")], color=True).stderr


def test_a_tool_can_not_steer_the_terminal(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def evil() -> str:\n    '''Evil.'''\n    return 'a\\x1b[2Jb\\x1b]0;title\\x07c\\x07'\n")
    done = ask("go", "--tools", str(tmp_path / "t.py"), answers=[call_reply(("a", "evil", "{}")), text_reply("ok")])
    assert "result evil: abc" in done.stderr


def test_piped_input_is_appended_to_the_question(ask: Asked) -> None:
    ask("Review", "this:", given="diff --git\n", answers=[text_reply("ok")])
    assert ask.transport.sent[0]["messages"][-1]["content"] == "Review this:\n\ndiff --git"
    ask(given="only this", answers=[text_reply("ok")])
    assert ask.transport.sent[0]["messages"][-1]["content"] == "only this"


def test_options_reach_the_request(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type":"object"}')
    words = ["--system", "Be brief.", "-o", "temperature=0", "-o", "user=me", "--schema", str(tmp_path / "s.json")]
    ask("go", *words, answers=[text_reply("{}")])
    sent = ask.transport.sent[0]
    assert sent["messages"][0]["content"] == "Be brief."
    assert (sent["temperature"], sent["user"]) == (0, "me")
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_schema_may_be_piped_in(ask: Asked) -> None:
    done = ask("go", "--schema", "-", answers=[text_reply("{}")], given='{"type": "object"}')
    assert (done.exit_code, done.stdout) == (0, "{}\n")
    assert ask.transport.sent[0]["messages"][-1]["content"] == "go"


def test_an_answer_that_does_not_match_its_schema_is_a_failure(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}')
    schema = "--schema", str(tmp_path / "s.json")
    for text, code, expected in (
        ('{"age": 36}', 0, ""),
        ('{"age": "old"}', 1, 'match the schema: age: expected an integer, got a string ("old")'),
        ("36.", 1, "match the schema: it is not JSON"),
    ):
        done = ask("go", *schema, answers=[text_reply(text), text_reply(text)])
        assert (done.exit_code, done.stdout) == (code, f"{text}\n")
        assert expected in done.stderr
    run = json.loads(ask("go", *schema, "--json", answers=[text_reply("36."), text_reply("37.")]).stdout)
    assert (run["end"], run["why"]) == ("invalid", "the answer does not match the schema: it is not JSON")


def test_an_answer_that_does_not_match_its_schema_is_asked_for_again_and_not_printed(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type":"object","required":["age"]}')
    done = ask("go", "--schema", str(tmp_path / "s.json"), answers=[text_reply("36."), text_reply('{"age": 36}')])
    assert (done.exit_code, done.stdout) == (0, '{"age": 36}\n')


def test_the_whole_run_as_json(ask: Asked, tools: str) -> None:
    done = ask("go", "--tools", tools, "--json", answers=[CALL, text_reply("Mild.")])
    found = json.loads(done.stdout)
    assert (found["text"], found["end"], found["turns"]) == ("Mild.", "finished", 2)
    assert found["calls"][0]["arguments"] == {"city": "Rome"}
    assert [message["role"] for message in found["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert found["usage"] == {"input": 20, "output": 10}
    assert done.stderr == "runs without approval: get_weather (--approve asks before each call)\n"


def test_what_a_tool_prints_goes_to_stderr(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("print('loaded')\ndef loud() -> str:\n    'Loud.'\n    print('noise')\n    return 'x'\n")
    loud = call_reply(("a", "loud", "{}"))
    done = ask("go", "--tools", str(tmp_path / "t.py"), "--json", answers=[loud, text_reply("ok")])
    assert json.loads(done.stdout)["text"] == "ok"
    assert done.stderr.splitlines()[::2] == ["loaded", "noise"]
    assert ask("go", "--tools", str(tmp_path / "t.py"), answers=[loud, text_reply("ok")]).stdout == "ok\n"


def test_invalid_unicode_in_the_question_is_replaced(ask: Asked, tmp_path: Path) -> None:
    done = ask("caf\udce9", "--record", str(tmp_path / "r.jsonl"), answers=[text_reply("ok")])
    assert (done.exit_code, ask.transport.sent[0]["messages"][0]["content"]) == (0, "caf\ufffd")


def test_a_record_and_its_replay(ask: Asked, tools: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    done = ask("go", "--tools", tools, "--record", str(path), "--json", answers=[CALL, text_reply("Mild.")])
    assert replay(path).id == json.loads(done.stdout)["id"]


def test_dry_run_sends_nothing(ask: Asked, tools: str) -> None:
    done = ask("Weather?", "--tools", tools, "--dry-run", "--base-url", "http://127.0.0.1:9/v1")
    found = json.loads(done.stdout)
    assert found["url"] == "http://127.0.0.1:9/v1/chat/completions"
    assert found["headers"]["Authorization"] == "Bearer $OPENAI_API_KEY"
    assert found["body"]["tools"][0]["function"]["name"] == "get_weather"
    assert ask.transport.sent == []
    assert ask("x", "--dry-run", "--json").stdout.count("\n") == 1
    shown = ask("x", "-m", "vllm/m", "--api-key", "env:MINE", "--dry-run").stdout
    assert json.loads(shown)["headers"]["Authorization"] == "Bearer $MINE"


def test_an_error_names_what_failed(ask: Asked) -> None:
    done = ask("x", "--mcp", f"{sys.executable} -c 1")
    assert done.exit_code == 1
    assert f"\nerror: {sys.executable} -c 1 could not be reached" in done.stderr


def test_a_run_without_an_answer_exits_with_1_and_the_reason(ask: Asked, tools: str) -> None:
    done = ask("go", "--tools", tools, "--max-turns", "1", answers=[CALL])
    assert done.exit_code == 1
    assert "turns: the model was asked once, which is the limit" in done.stderr
    refused = error_reply(400, "no such model")
    done = ask("go", answers=[refused])
    assert done.exit_code == 1
    assert "error: openai/gpt-5: no such model" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "there is no question"),
        (("x", "-m", "opnai/gpt-5"), "did you mean openai"),
        (("x", "--tools", "no-such.py"), "there is no file"),
        (("x", "--max-turns", "0"), "--max-turns"),
        (("x", "-o", "temperature"), "is not NAME=VALUE"),
        (("x", "-o", "messages=1"), "messages is not a request option"),
        (("x", "-o", "max_turns=1"), "max_turns is not a request option"),
        (("x", "-o", "api_key=sk-1"), "api_key is not a request option"),
        (("x", "--api-key", "sk-123"), "env:NAME"),
    ],
)
def test_usage_errors_exit_with_2(ask: Asked, words: tuple[str, ...], expected: str) -> None:
    done = ask(*words)
    assert done.exit_code == 2
    assert expected in done.stderr


TYPED = {
    "y\n": "18C in Rome",
    "n\n": "The call was not allowed.",
    "not there\n": "The call was not allowed: not there",
    "": "The call was not allowed.",
}


@pytest.mark.parametrize("typed", TYPED)
def test_approval_is_asked_on_the_terminal(ask: Asked, tools: str, tmp_path: Path, typed: str) -> None:
    output = TYPED[typed]
    (tmp_path / "tty").write_text(typed)
    ask.monkeypatch.setattr(ask_command, "TERMINAL", str(tmp_path / "tty"))
    done = ask(
        "go", "--tools", tools, "--approve", answers=[call_reply(("a", "get_weather", "{city: 'Rome'}")), text_reply("ok")]
    )
    assert '? get_weather({"city":"Rome"})' in done.stderr
    assert "as the model wrote it: {city: 'Rome'}" in done.stderr
    assert output in ask.transport.tool_results(1)[0]["content"]


def test_what_runs_without_approval_is_listed(ask: Asked, tools: str) -> None:
    note = "runs without approval: get_weather (--approve asks before each call)\n"
    assert note in ask("hi", "--tools", tools, answers=[text_reply("ok")]).stderr
    assert "approval" not in ask("hi", "--tools", tools, "--approve", answers=[text_reply("ok")]).stderr
    assert "approval" not in ask("hi", answers=[text_reply("ok")]).stderr
    server = f"{sys.executable} -c 1 --password=hunter2"
    shown = f"runs without approval: all tools of {sys.executable} -c 1 --password=*** ("
    assert ask("hi", "--mcp", server).stderr.startswith(shown)


def test_without_a_terminal_no_call_is_approved(
    ask: Asked, tools: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask_command, "TERMINAL", str(tmp_path / "none"))
    ask("go", "--tools", tools, "--approve", answers=[CALL, text_reply("ok")])
    assert "no terminal to ask for approval" in ask.transport.tool_results(1)[0]["content"]


def test_help_has_examples() -> None:
    done = CliRunner().invoke(ask_command.command, ["--help"])
    assert done.exit_code == 0
    for word in ("--dry-run", "--approve", "Examples:", "Exit codes"):
        assert word in done.stdout


# -- the file of tools


def test_tools_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(TOOLS)
    assert [tool.__name__ for tool in load_tools(tmp_path / "plain.py")] == ["get_weather"]
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    (tmp_path / "marked.py").write_text(MARKED)
    assert [tool.name for tool in load_tools(tmp_path / "marked.py")] == ["beside"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", "has no tools"),
        ("def f(x): ...\n", "f has parameters without type hints"),
        ("\n1/0\n", "line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(4)\n", "line 2: SystemExit: 4"),
        ("def f(:\n", "SyntaxError"),
    ],
)
def test_a_file_without_tools_is_an_error(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(CallerError, match=expected):
        load_tools(tmp_path / "bad.py")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--tools", "~nobody-here/tools.py"), "there is no file"),
        (("-m", "local/~nobody-here/model.gguf"), "neither known"),
    ],
)
def test_an_unknown_home_folder_is_an_error(words: tuple[str, ...], expected: str) -> None:
    done = CliRunner().invoke(ask_command.command, ["hi", *words])
    assert done.exit_code == 2
    assert expected in done.stderr


def test_a_tool_with_two_names_is_one_tool(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(TOOLS + "\n\nalso = get_weather\n")
    assert len(load_tools(tmp_path / "plain.py")) == 1


def test_files_of_the_same_name_keep_their_classes(tmp_path: Path) -> None:
    """Hints are resolved by the module's name."""
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Outer:\n    inner: {0}\n"
        "@dataclass\nclass {0}:\n    x: int\n"
        "def take_{0}(outer: Outer) -> None:\n    pass\n"
    )
    for name in ("City", "Town"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tools.py").write_text(source.format(name))
    found = [load_tools(tmp_path / name / "tools.py")[0] for name in ("City", "Town")]
    assert [runnable(one).tool.name for one in found] == ["take_City", "take_Town"]


def test_the_tools_of_two_mcp_servers_get_a_prefix(ask: Asked) -> None:
    server = f"{sys.executable} {Path(__file__).parents[1] / 'agent' / 'mcp_server.py'} stdio"
    calls = call_reply(("a", "one__add", '{"a":2,"b":3}'), ("b", "two-b__add", '{"a":1}'))
    done = ask("2 + 3?", "--mcp", f"one={server}", "--mcp", f"two-b={server}", answers=[calls, text_reply("5")])
    assert (done.exit_code, done.stdout) == (0, "5\n")
    assert "result one__add: 5" in done.stderr
    assert "result two-b__add: 2" in done.stderr
    done = ask("2 + 3?", "--mcp", server, "--mcp", server)
    assert done.exit_code == 2
    assert "two tools with the name 'add'" in done.stderr
    assert "--mcp NAME=" in done.stderr
