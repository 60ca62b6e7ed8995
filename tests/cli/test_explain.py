"""`toolglot explain`: why each call was rescued, fixed or rejected, or why there was none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agent.scripted import HANG, agent, call_reply, error_reply, text_reply
from tests.gateway.running import config, request_of, serving
from tests.gateway.running import run as run_async
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import upstream_server, whole
from toolglot.agent.limits import Limits
from toolglot.agent.run import Run
from toolglot.cli.explain import command
from toolglot.errors import UpstreamError


def get_weather(city: str) -> str:
    """The weather."""
    return f"18C in {city}"


CALL = call_reply(("a", "get_weather", '{"city":"Rome"}'))
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


CASES: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "native": (
        [CALL, text_reply("Mild.")],
        {},
        ["native tool call", "valid as written", "result: 18C in Rome"],
    ),
    "rescued": ([text_reply(TEXT_CALL), text_reply("ok")], {}, ["parsed from text, dialect hermes", "rescued_text"]),
    "fixed": ([call_reply(("a", "get_weather", "{city: 'Rome'}")), text_reply("ok")], {}, ["as written: {city: 'Rome'}"]),
    "unknown": (
        [call_reply(("a", "launch", "{}")), text_reply("ok")],
        {},
        ["rejected rejected_unknown_tool", "there are get_weather"],
    ),
    "schema": (
        [call_reply(("a", "get_weather", '{"x":1}')), text_reply("ok")],
        {},
        ["rejected rejected_schema", 'as written: {"x":1}'],
    ),
    "words": (
        [text_reply("Mild, I guess.")],
        {},
        ["no call: the model answered with text, and nothing in it looks like a call"],
    ),
    "no tools": ([text_reply("Mild.")], {"tools": []}, ["tools: none", "no call: there were no tools to call"]),
    "forbidden": ([text_reply("Mild.")], {"tool_choice": "none"}, ["no call: the request forbids calls"]),
    "cut": ([text_reply("Let me", "length")], {}, ["no call: the answer was cut off"]),
    "missing": ([text_reply("No.")], {"tool_choice": "required"}, ["no call: a call was required, but the model wrote none"]),
    "repeated": ([CALL, CALL, CALL, text_reply("ok")], {}, ["not run, or not finished", "repeated: get_weather was called"]),
    "half": (
        [[*text_reply("Well")[:2], HANG]],
        {"limits": Limits(seconds=0.5)},
        [
            "turn 1",
            "text: Well",
            "no call: the run ended during the reply",
            "time: the limit of 0.5 seconds is reached (1 ",
        ],
    ),
    "failed": ([CALL, error_reply(503, "busy")], {}, ["failed: the request to the model failed: busy"]),
}


@pytest.mark.parametrize("name", CASES)
def test_why(name: str, path: Path) -> None:
    answers, options, expected = CASES[name]
    run = recorded(path, *answers, **options)
    done = explain(path)
    assert done.exit_code == 0
    assert run.id in done.stdout
    assert "Weather in Rome?" in done.stdout
    for words in expected:
        assert words in done.stdout
    assert run.end in done.stdout


def test_by_id_by_its_beginning_and_from_the_environment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = recorded(path, text_reply("one")), recorded(path, text_reply("two"))
    assert "text: two" in explain(path).stdout
    assert "text: one" in explain(first.id, "--record", path).stdout
    assert "text: one" in explain(first.id[:12], "--record", path).stdout
    monkeypatch.setenv("TOOLGLOT_RECORD", str(path))
    assert "text: two" in explain(second.id).stdout
    listed = explain(path, "--list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [first.id, second.id]


def test_json(path: Path) -> None:
    run = recorded(path, call_reply(("a", "launch", "{}")), CALL, text_reply("ok"))
    found = json.loads(explain(path, "--json").stdout)
    assert found["run"] == run.id
    assert found["turns"][0]["refused"][0]["code"] == "rejected_unknown_tool"
    assert found["turns"][1]["calls"][0]["run"]["result"]["parts"][0]["text"] == "18C in Rome"
    assert found["turns"][2]["why_none"] == "the model answered with text"
    assert [one["end"] for one in json.loads(explain(path, "--list", "--json").stdout)] == ["finished"]


def test_each_call_has_its_result_whichever_ended_first(path: Path) -> None:
    async def wait(seconds: float) -> str:
        """Waits."""
        await asyncio.sleep(seconds)
        return f"after {seconds}"

    first = call_reply(("a", "wait", '{"seconds":0.03}'), ("b", "wait", '{"seconds":0.0}'))
    recorded(path, first, first, text_reply("ok"), tools=[wait])  # in the second turn the ids are replaced
    for turn in json.loads(explain(path, "--json").stdout)["turns"][:2]:
        pairs = [
            (json.loads(one["call"]["arguments_json"])["seconds"], one["run"]["result"]["parts"][0]["text"])
            for one in turn["calls"]
        ]
        assert pairs == [(0.03, "after 0.03"), (0.0, "after 0.0")]


def test_a_run_that_never_began_to_answer(path: Path) -> None:
    with pytest.raises(UpstreamError):
        recorded(path, error_reply(500, "busy"))
    assert "failed: the request to the model failed: busy (0 turns" in explain(path).stdout


def test_colours_where_they_are_wanted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(path, CALL, text_reply("ok"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in explain(path, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in explain(path, color=True).stdout


def test_usage_errors_exit_with_2(path: Path) -> None:
    nowhere = explain("run_x", "--gateway", "http://127.0.0.1:9")
    assert (nowhere.exit_code, "run_x is not a file" in nowhere.stderr) == (2, True)
    recorded(path, text_reply("x"))
    assert "has no run run_x" in explain("run_x", "--record", path).stderr
    assert "has 2 runs run_" in (recorded(path, text_reply("x")), explain("run_", "--record", path).stderr)[1]
    assert "is not a readable record" in explain("run_x", "--record", "~nobody-here/runs.jsonl").stderr
    path.write_text("")
    assert "has no runs" in explain(path).stderr


def test_an_old_reason_code_names_the_new_one() -> None:
    done = explain("merged_repeat", "--gateway", "http://127.0.0.1:9")
    assert (done.exit_code, done.stderr) == (2, "error: RUN: merged_repeat is an old reason code; it is duplicate_call now\n")


# -- a request of a gateway


def test_a_request_of_a_running_gateway() -> None:
    async def work() -> None:
        reply = text('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": "2"}}</tool_call>')
        async with upstream_server(in_turn(reply)) as up, serving(config(up, "openai-chat")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
            _, _, headers = await gateway.ask("POST", path, sent)
            known = headers["x-request-id"]
            output = await asyncio.to_thread(explain, known, "--gateway", gateway.url)
            assert output.exit_code == 0, output.output
            assert "coerced_type" in output.output
            found = json.loads((await asyncio.to_thread(explain, known, "--gateway", gateway.url, "--json")).output)
            assert found["id"] == known
            unknown = await asyncio.to_thread(explain, "req_nope", "--gateway", gateway.url)
            assert (unknown.exit_code, "on record" in unknown.output) == (2, True)

    run_async(work())


def test_no_gateway_there() -> None:
    output = explain("req_1", "--gateway", "http://127.0.0.1:9")
    assert output.exit_code == 2
    assert "no gateway answers" in output.output


def test_sentences_without_recorded_contents() -> None:
    async def work() -> None:
        bad = text('<tool_call>{"name": "get_weather", "arguments": {"days": 1}}</tool_call>')
        fixed = text('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome",}}</tool_call>')
        failed = whole({"error": {"message": "the queue is full"}}, 429)
        play = in_turn(fixed, bad, text("Sunny."), failed)
        shown = []
        async with upstream_server(play) as up, serving(config(up, "openai-chat", route="retries = 0")) as gateway:
            for _ in range(4):
                path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
                _, _, headers = await gateway.ask("POST", path, sent)
                found = await asyncio.to_thread(explain, headers["x-request-id"], "--gateway", gateway.url)
                assert found.exit_code == 0
                shown.append(found.stdout)
        assert "get_weather  parsed from the model's text, dialect hermes; repaired" in shown[0]
        assert "(trailing_comma): There was a comma after the last value." in shown[0]
        assert "rejected (rejected_schema): The arguments do not satisfy the tool's schema." in shown[1]
        assert "no call: the model answered with text, and nothing in it looks like a call" in shown[2]
        assert "no call: the request failed" in shown[3]
        assert "the queue is full [vllm m, status 429" in shown[3]

    run_async(work())
