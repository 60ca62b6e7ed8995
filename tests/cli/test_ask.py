"""`toolglot ask`: what a user types and sees."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agent.scripted import Scripted, called, fails, said
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
CALL = called(("a", "get_weather", '{"city":"Rome"}'))


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


def test_the_answer_is_on_stdout_and_the_way_there_on_stderr(ask: Asked, tools: str) -> None:
    done = ask("Weather in Rome?", "--tools", tools, answers=[CALL, said("It is| mild.")])
    assert done.exit_code == 0
    assert done.stdout == "It is mild.\n"
    assert 'call get_weather({"city":"Rome"})' in done.stderr
    assert "result get_weather: 18C in Rome" in done.stderr
    assert done.stderr.index("call ") < done.stderr.index("result ")


def test_fixes_refusals_and_errors_are_shown(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def half(n: int) -> int:\n    '''Halves.'''\n    raise ValueError('odd')\n")
    answers = [called(("a", "launch", "{}")), called(("b", "half", "{n: 3}")), said("No.")]
    done = ask("go", "--tools", str(tmp_path / "t.py"), answers=answers)
    assert "rejected_unknown_tool" in done.stderr
    assert "there are half" in done.stderr
    assert "as written: {n: 3}" in done.stderr
    assert "error half: ValueError: odd" in done.stderr
    assert done.exit_code == 0


def test_colours_only_where_they_are_wanted(ask: Asked, tools: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in ask("go", "--tools", tools, answers=[CALL, said("ok")], color=True).stderr
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in ask("go", "--tools", tools, answers=[CALL, said("ok")], color=True).stderr


def test_a_tool_can_not_steer_the_terminal(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def evil() -> str:\n    '''Evil.'''\n    return 'a\\x1b[2Jb\\x1b]0;title\\x07c\\x07'\n")
    done = ask("go", "--tools", str(tmp_path / "t.py"), answers=[called(("a", "evil", "{}")), said("ok")])
    assert "result evil: abc" in done.stderr


def test_what_is_piped_in_stands_behind_the_question(ask: Asked) -> None:
    ask("Review", "this:", given="diff --git\n", answers=[said("ok")])
    assert ask.transport.sent[0]["messages"][-1]["content"] == "Review this:\n\ndiff --git"
    ask(given="only this", answers=[said("ok")])
    assert ask.transport.sent[0]["messages"][-1]["content"] == "only this"


def test_options_reach_the_request(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type":"object"}')
    words = ["--system", "Be brief.", "-o", "temperature=0", "-o", "user=me", "--schema", str(tmp_path / "s.json")]
    ask("go", *words, answers=[said("{}")])
    sent = ask.transport.sent[0]
    assert sent["messages"][0]["content"] == "Be brief."
    assert (sent["temperature"], sent["user"]) == (0, "me")
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_schema_may_be_piped_in(ask: Asked) -> None:
    done = ask("go", "--schema", "-", answers=[said("{}")], given='{"type": "object"}')
    assert (done.exit_code, done.stdout) == (0, "{}\n")
    assert ask.transport.sent[0]["messages"][-1]["content"] == "go"


def test_an_answer_that_misses_its_schema_is_no_answer(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}')
    for text, code, told in (
        ('{"age": 36}', 0, ""),
        ('{"age": "old"}', 1, 'asks for: age: expected an integer, got a string ("old")'),
        ("36.", 1, "asks for: it is no JSON"),
    ):
        done = ask("go", "--schema", str(tmp_path / "s.json"), answers=[said(text)])
        assert (done.exit_code, done.stdout) == (code, f"{text}\n")
        assert told in done.stderr
    run = json.loads(ask("go", "--schema", str(tmp_path / "s.json"), "--json", answers=[said("36.")]).stdout)
    assert run["notes"] == ["the answer is not what the schema asks for: it is no JSON"]


def test_the_whole_run_as_json(ask: Asked, tools: str) -> None:
    done = ask("go", "--tools", tools, "--json", answers=[CALL, said("Mild.")])
    held = json.loads(done.stdout)
    assert (held["text"], held["end"], held["turns"]) == ("Mild.", "finished", 2)
    assert held["calls"][0]["arguments"] == {"city": "Rome"}
    assert [message["role"] for message in held["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert held["usage"] == {"input": 20, "output": 10}
    assert done.stderr == ""


def test_what_a_tool_prints_is_no_result(ask: Asked, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("print('loaded')\ndef loud() -> str:\n    'Loud.'\n    print('noise')\n    return 'x'\n")
    loud = called(("a", "loud", "{}"))
    done = ask("go", "--tools", str(tmp_path / "t.py"), "--json", answers=[loud, said("ok")])
    assert json.loads(done.stdout)["text"] == "ok"
    assert done.stderr == "loaded\nnoise\n"
    assert ask("go", "--tools", str(tmp_path / "t.py"), answers=[loud, said("ok")]).stdout == "ok\n"


def test_words_that_no_encoding_carries(ask: Asked, tmp_path: Path) -> None:
    done = ask("caf\udce9", "--record", str(tmp_path / "r.jsonl"), answers=[said("ok")])
    assert (done.exit_code, ask.transport.sent[0]["messages"][0]["content"]) == (0, "caf\ufffd")


def test_a_record_and_its_replay(ask: Asked, tools: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    done = ask("go", "--tools", tools, "--record", str(path), "--json", answers=[CALL, said("Mild.")])
    assert replay(path).id == json.loads(done.stdout)["id"]


def test_dry_run_sends_nothing(ask: Asked, tools: str) -> None:
    done = ask("Weather?", "--tools", tools, "--dry-run", "--base-url", "http://127.0.0.1:9/v1")
    held = json.loads(done.stdout)
    assert held["url"] == "http://127.0.0.1:9/v1/chat/completions"
    assert held["headers"]["Authorization"] == "Bearer $OPENAI_API_KEY"
    assert held["body"]["tools"][0]["function"]["name"] == "get_weather"
    assert ask.transport.sent == []
    assert ask("x", "--dry-run", "--json").stdout.count("\n") == 1
    shown = ask("x", "-m", "vllm/m", "--api-key", "env:MINE", "--dry-run").stdout
    assert json.loads(shown)["headers"]["Authorization"] == "Bearer $MINE"


def test_who_failed_is_named(ask: Asked) -> None:
    done = ask("x", "--mcp", f"{sys.executable} -c 1")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"error: {sys.executable} -c 1 could not be reached")


def test_ends_that_are_no_answer_exit_with_1_and_say_why(ask: Asked, tools: str) -> None:
    done = ask("go", "--tools", tools, "--max-turns", "1", answers=[CALL])
    assert done.exit_code == 1
    assert "turns: the model was asked once, which is the limit" in done.stderr
    refused = fails(400, "no such model")
    done = ask("go", answers=[refused])
    assert done.exit_code == 1
    assert "error: openai/gpt-5: no such model" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "there is no question"),
        (("x", "-m", "opnai/gpt-5"), "did you mean openai"),
        (("x", "--tools", "no-such.py"), "there is no file"),
        (("x", "--max-turns", "0"), "--max-turns"),
        (("x", "-o", "temperature"), "is not NAME=VALUE"),
        (("x", "-o", "messages=1"), "messages is no option of the request"),
        (("x", "-o", "max_turns=1"), "max_turns is no option of the request"),
        (("x", "-o", "api_key=sk-1"), "api_key is no option of the request"),
        (("x", "--api-key", "sk-123"), "env:NAME"),
    ],
)
def test_wrong_use_ends_with_2(ask: Asked, words: tuple[str, ...], told: str) -> None:
    done = ask(*words)
    assert done.exit_code == 2
    assert told in done.stderr


TYPED = {
    "y\n": "18C in Rome",
    "n\n": "The call was not allowed.",
    "not there\n": "The call was not allowed: not there",
    "": "The call was not allowed.",
}


@pytest.mark.parametrize("typed", TYPED)
def test_approval_is_asked_on_the_terminal(ask: Asked, tools: str, tmp_path: Path, typed: str) -> None:
    told = TYPED[typed]
    (tmp_path / "tty").write_text(typed)
    ask.monkeypatch.setattr(ask_command, "TERMINAL", str(tmp_path / "tty"))
    done = ask("go", "--tools", tools, "--approve", answers=[called(("a", "get_weather", "{city: 'Rome'}")), said("ok")])
    assert '? get_weather({"city":"Rome"})' in done.stderr
    assert "as the model wrote it: {city: 'Rome'}" in done.stderr
    assert told in ask.transport.told(1)[0]["content"]


def test_without_anybody_to_ask_nothing_is_allowed(
    ask: Asked, tools: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask_command, "TERMINAL", str(tmp_path / "none"))
    ask("go", "--tools", tools, "--approve", answers=[CALL, said("ok")])
    assert "there is nobody to ask" in ask.transport.told(1)[0]["content"]


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
    ("text", "told"),
    [
        ("x = 1\n", "has no tools"),
        ("def f(x): ...\n", "f has parameters without type hints"),
        ("\n1/0\n", "line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(4)\n", "line 2: SystemExit: 4"),
        ("def f(:\n", "SyntaxError"),
    ],
)
def test_a_file_without_tools_says_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(CallerError, match=told):
        load_tools(tmp_path / "bad.py")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--tools", "~nobody-here/tools.py"), "there is no file"),
        (("-m", "local/~nobody-here/model.gguf"), "neither known"),
    ],
)
def test_a_home_that_nobody_has_is_a_folder_that_is_not_there(words: tuple[str, ...], told: str) -> None:
    done = CliRunner().invoke(ask_command.command, ["hi", *words])
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_tool_with_two_names_is_one_tool(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(TOOLS + "\n\nalso = get_weather\n")
    assert len(load_tools(tmp_path / "plain.py")) == 1


def test_files_of_one_name_keep_their_own_classes(tmp_path: Path) -> None:
    """Hints are resolved by the module's name."""
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Outer:\n    held: {0}\n"
        "@dataclass\nclass {0}:\n    x: int\n"
        "def take_{0}(outer: Outer) -> None:\n    pass\n"
    )
    for name in ("City", "Town"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tools.py").write_text(source.format(name))
    found = [load_tools(tmp_path / name / "tools.py")[0] for name in ("City", "Town")]
    assert [runnable(one).tool.name for one in found] == ["take_City", "take_Town"]


def test_the_tools_of_two_mcp_servers_are_told_apart(ask: Asked) -> None:
    server = f"{sys.executable} {Path(__file__).parents[1] / 'agent' / 'mcp_server.py'} stdio"
    calls = called(("a", "one__add", '{"a":2,"b":3}'), ("b", "two-b__add", '{"a":1}'))
    done = ask("2 + 3?", "--mcp", f"one={server}", "--mcp", f"two-b={server}", answers=[calls, said("5")])
    assert (done.exit_code, done.stdout) == (0, "5\n")
    assert "result one__add: 5" in done.stderr
    assert "result two-b__add: 2" in done.stderr
    done = ask("2 + 3?", "--mcp", server, "--mcp", server)
    assert done.exit_code == 2
    assert "two tools with the name 'add'" in done.stderr
    assert "--mcp NAME=" in done.stderr
