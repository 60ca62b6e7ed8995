"""`toolglot explain`: why each call was rescued, fixed or refused, and why none was made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agent.scripted import HANG, agent, called, fails, said
from toolglot.agent.limits import Limits
from toolglot.agent.run import Run
from toolglot.cli.explain import command
from toolglot.errors import UpstreamError


def get_weather(city: str) -> str:
    """The weather."""
    return f"18C in {city}"


CALL = called(("a", "get_weather", '{"city":"Rome"}'))
TEXT_CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'


def recorded(path: Path, *answers: Any, **options: Any) -> Run:
    options = {"tools": [get_weather], **options}
    return agent(*answers, record=path, **options)[0].run_sync("Weather in Rome?")


def explain(*words: str | Path, **more: Any) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], **more)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TOOLGLOT_RECORD", raising=False)
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "0")
    return tmp_path / "runs.jsonl"


STORIES: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "native": (
        [CALL, said("Mild.")],
        {},
        ["the provider's own call", "it satisfied its schema as it was", "result: 18C in Rome"],
    ),
    "rescued": ([said(TEXT_CALL), said("ok")], {}, ["read out of the text, in the form hermes", "rescued_text"]),
    "fixed": ([called(("a", "get_weather", "{city: 'Rome'}")), said("ok")], {}, ["as written: {city: 'Rome'}"]),
    "unknown": ([called(("a", "launch", "{}")), said("ok")], {}, ["refused rejected_unknown_tool", "there are get_weather"]),
    "schema": ([called(("a", "get_weather", '{"x":1}')), said("ok")], {}, ["refused rejected_schema", 'as written: {"x":1}']),
    "words": ([said("Mild, I guess.")], {}, ["no call: the model answered in words, and nothing in them looks like a call"]),
    "no tools": ([said("Mild.")], {"tools": []}, ["tools: none", "no call: there were no tools to call"]),
    "forbidden": ([said("Mild.")], {"tool_choice": "none"}, ["no call: the request forbids calls"]),
    "cut": ([said("Let me", "length")], {}, ["no call: the answer was cut short"]),
    "missing": ([said("No.")], {"tool_choice": "required"}, ["no call: one was required, and the model wrote none"]),
    "repeated": ([CALL, CALL, CALL, said("ok")], {}, ["it was not run", "repeated: get_weather was called"]),
    "half": (
        [[*said("Well")[:2], HANG]],
        {"limits": Limits(seconds=0.5)},
        ["turn 1", "said: Well", "no call: the run ended while the model spoke", "time: 0.5 seconds are over (1 turn,"],
    ),
    "failed": ([CALL, fails(503, "busy")], {}, ["failed: the model could not be asked: busy"]),
}


@pytest.mark.parametrize("name", STORIES)
def test_why(name: str, path: Path) -> None:
    answers, options, told = STORIES[name]
    run = recorded(path, *answers, **options)
    done = explain(path)
    assert done.exit_code == 0
    assert run.id in done.stdout
    assert "Weather in Rome?" in done.stdout
    for words in told:
        assert words in done.stdout
    assert run.end in done.stdout


def test_by_id_by_its_beginning_and_from_the_environment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = recorded(path, said("one")), recorded(path, said("two"))
    assert "said: two" in explain(path).stdout
    assert "said: one" in explain(first.id, "--record", path).stdout
    assert "said: one" in explain(first.id[:12], "--record", path).stdout
    monkeypatch.setenv("TOOLGLOT_RECORD", str(path))
    assert "said: two" in explain(second.id).stdout
    listed = explain(path, "--list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [first.id, second.id]


def test_json(path: Path) -> None:
    run = recorded(path, called(("a", "launch", "{}")), CALL, said("ok"))
    held = json.loads(explain(path, "--json").stdout)
    assert held["run"] == run.id
    assert held["turns"][0]["refused"][0]["code"] == "rejected_unknown_tool"
    assert held["turns"][1]["calls"][0]["run"]["result"]["parts"][0]["text"] == "18C in Rome"
    assert held["turns"][2]["why_none"] == "the model answered in words"
    assert [one["end"] for one in json.loads(explain(path, "--list", "--json").stdout)] == ["finished"]


def test_each_call_has_its_own_result_whichever_ended_first(path: Path) -> None:
    async def wait(seconds: float) -> str:
        """Waits."""
        await asyncio.sleep(seconds)
        return f"after {seconds}"

    first = called(("a", "wait", '{"seconds":0.03}'), ("b", "wait", '{"seconds":0.0}'))
    recorded(path, first, first, said("ok"), tools=[wait])  # in the second turn the ids are made new
    for turn in json.loads(explain(path, "--json").stdout)["turns"][:2]:
        pairs = [
            (json.loads(one["call"]["arguments_json"])["seconds"], one["run"]["result"]["parts"][0]["text"])
            for one in turn["calls"]
        ]
        assert pairs == [(0.03, "after 0.03"), (0.0, "after 0.0")]


def test_a_run_that_never_began_to_answer(path: Path) -> None:
    with pytest.raises(UpstreamError):
        recorded(path, fails(500, "busy"))
    assert "failed: the model could not be asked: busy (0 turns" in explain(path).stdout


def test_colours_where_they_are_wanted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(path, CALL, said("ok"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in explain(path, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in explain(path, color=True).stdout


def test_wrong_use_ends_with_2(path: Path) -> None:
    nowhere = explain("run_x", "--gateway", "http://127.0.0.1:9")
    assert (nowhere.exit_code, "run_x is no file" in nowhere.stderr) == (2, True)
    recorded(path, said("x"))
    assert "holds no run run_x" in explain("run_x", "--record", path).stderr
    assert "holds 2 runs run_" in (recorded(path, said("x")), explain("run_", "--record", path).stderr)[1]
    assert "is no record that can be read" in explain("run_x", "--record", "~nobody-here/runs.jsonl").stderr
    path.write_text("")
    assert "holds no runs" in explain(path).stderr
