"""The record of runs: what is in it, what is not, and that it can be replayed to the same Run."""

from __future__ import annotations

import json
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted import SECRET, agent, call_reply, error_reply, text_reply
from toolglot.agent.agent import Agent
from toolglot.agent.limits import Limits
from toolglot.agent.record import ModelReplied, Record, RunEnded, RunInterrupted, RunStarted, ToolsRan, replay
from toolglot.agent.run import Run
from toolglot.agent.run_report import build_report
from toolglot.errors import CallerError, UpstreamError


def weather(city: str) -> str:
    """The weather."""
    if city == "Atlantis":
        raise ValueError("no such town")
    return f"18C in {city}"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def shot() -> bytes:
    """A picture."""
    return PNG


CALL = call_reply(("a", "weather", '{"city":"Rome"}'))
RUNS: dict[str, tuple[Any, ...]] = {
    "answered": (CALL, text_reply("Mild.")),
    "an error and a picture": (call_reply(("a", "weather", '{"city":"Atlantis"}'), ("b", "shot", "{}")), text_reply("ok")),
    "fixed": (call_reply(("a", "weather", "{city: 'Rome'}")), text_reply("ok")),
    "rescued": (text_reply('<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'), text_reply("ok")),
    "refused": (call_reply(("a", "launch", "{}")), call_reply(("a", "weather", '{"town":1}')), text_reply("I can't.")),
    "refused for good": (call_reply(("a", "launch", "{}")),) * 3,
    "repeated": (CALL, CALL, CALL, text_reply("ok")),
    "ids again": (
        call_reply(("a", "weather", '{"city":"Rome"}')),
        call_reply(("a", "weather", '{"city":"Oslo"}')),
        text_reply("ok"),
    ),
    "failed late": (CALL, error_reply(503, "busy")),
    "turns": (CALL,) * 2,
}


@pytest.mark.parametrize("suffix", ["jsonl", "sqlite"])
@pytest.mark.parametrize("name", RUNS)
def test_replayed_it_is_the_same_run(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"runs.{suffix}"
    limits = Limits(turns=2) if name == "turns" else Limits()
    asked, _ = agent(*RUNS[name], tools=[weather, shot], record=path, limits=limits)
    run = asked.run_sync("Weather in Rome?")
    again = replay(path)
    assert again == run
    assert again.messages == run.messages
    assert build_report(Record(path).entries()).end == run.end


def test_steps_with_their_times(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.jsonl"
    asked, _ = agent(CALL, text_reply("ok"), tools=[weather], record=path)
    asked.run_sync("go")
    entries = Record(path).entries()
    assert [type(entry) for entry in entries] == [RunStarted, ModelReplied, ToolsRan, ModelReplied, RunEnded]
    assert all(entry.at > 1e9 for entry in entries)
    assert all(later.now >= earlier.now for earlier, later in pairwise(entries))
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines] == ["begun", "replied", "ran", "replied", "ended"]


@pytest.mark.parametrize("suffix", ["jsonl", "db"])
def test_no_key_is_in_it(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "in-the-environment")
    monkeypatch.setenv("SOME_PASSWORD", 'odd"quoted\\one')

    def printenv(given: str = "") -> str:
        """The environment."""
        return f"SOME_TOKEN is in-the-environment, and the password {given}"

    path = tmp_path / f"runs.{suffix}"
    first = call_reply(("a", "printenv", json.dumps({"given": 'odd"quoted\\one'})))
    broken = [*text_reply("Hm")[:2], b'data: {"error": {"message": "bad key sk-not-to-be-seen-0123456789", "code": 500}}\n\n']
    for last in (error_reply(401, f"Incorrect API key provided: {SECRET}"), broken):
        asked, _ = agent(first, last, tools=[printenv], record=path)
        run = asked.run_sync("go")
        assert SECRET not in str(run)
        assert replay(path).why == run.why
    kept = path.read_bytes()
    assert SECRET.encode() not in kept
    assert b"in-the-environment" not in kept
    assert b"quoted" not in kept


def test_text_that_no_encoding_carries_is_kept_as_well_as_it_can_be(tmp_path: Path) -> None:
    def listed() -> list[str]:
        """Files."""
        return ["caf\udce9", "other"]

    def named() -> str:
        """A file."""
        return "caf\udce9"

    asked, _ = agent(
        call_reply(("a", "listed", "{}"), ("b", "named", "{}")),
        text_reply("ok"),
        tools=[listed, named],
        record=tmp_path / "r.jsonl",
    )
    assert asked.run_sync("caf\udce9?").end == "finished"
    again = replay(tmp_path / "r.jsonl")
    assert (again.end, again.messages[0]["content"], again.messages[3]["content"]) == ("finished", "caf\ufffd?", "caf\ufffd")


def test_many_runs_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    runs: list[Run] = []
    for word in ("one", "two", "three"):
        asked, _ = agent(CALL, text_reply(word), tools=[weather], record=path)
        runs.append(asked.run_sync(word))
    assert Record(path).runs() == [run.id for run in runs]
    assert replay(path) == runs[-1]
    assert replay(path, runs[0].id) == runs[0]
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT COUNT(DISTINCT run) FROM steps").fetchone() == (3,)
    base.close()


def test_a_run_that_was_raised_or_killed_is_on_record(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    asked, _ = agent(error_reply(500, "busy"), record=path)
    with pytest.raises(UpstreamError):
        asked.run_sync("go")
    assert isinstance(Record(path).entries()[1], RunInterrupted)
    assert replay(path).end == "failed"
    asked, _ = agent(CALL, text_reply("ok"), tools=[weather], record=path)
    asked.run_sync("go")
    kept = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(kept[:-3]) + b"\n" + kept[-3][:40])  # killed amid a line
    run = replay(path)
    assert (run.end, run.why) == ("stopped", "the record ends during a tool run")
    later = agent(text_reply("ok"), record=path)[0].run_sync("and now")
    assert replay(path) == later
    assert Record(path).runs()[-2:] == [run.id, later.id]


def test_a_file_that_is_not_a_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="not a readable record"):
        replay(tmp_path / "none.jsonl")
    (tmp_path / "poem.sqlite").write_text("roses are red, violets are blue" * 99)
    with pytest.raises(CallerError, match="not a readable record"):
        replay(tmp_path / "poem.sqlite")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(CallerError, match="no run"):
        replay(tmp_path / "empty.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(CallerError, match="can't be written"):
        agent(text_reply("x"), record=tmp_path / "file" / "runs.jsonl")[0].run_sync("go")


def test_a_record_may_be_shared(tmp_path: Path) -> None:
    import asyncio

    record = Record(tmp_path / "runs.sqlite")
    agents: list[Agent] = [agent(CALL, text_reply(str(number)), tools=[weather], record=record)[0] for number in range(5)]

    async def work() -> list[Run]:
        return list(await asyncio.gather(*(one.run("go") for one in agents)))

    for run in asyncio.run(work()):
        assert replay(record, run.id) == run


def test_a_record_that_fails_later_does_not_stop_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "runs.jsonl"

    def weather(city: str) -> str:
        """The weather."""
        path.unlink()
        path.mkdir()  # from now on nothing can be written there
        return "18C"

    asked, _ = agent(call_reply(("a", "weather", '{"city":"Rome"}')), text_reply("18C"), tools=[weather], record=path)
    assert asked.run_sync("Rome?").text == "18C"
    assert [record.getMessage().partition(":")[0].split()[-2:] for record in caplog.records] == [["is", "incomplete"]]
    with pytest.raises(CallerError, match="can't be written"):  # of the next run there would be nothing at all
        asked.run_sync("Rome?")
