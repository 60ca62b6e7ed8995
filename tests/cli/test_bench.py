"""`toolglot bench`: the figures are there and fit each other; how large they are is the machine's matter."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.client.probe.upstream import Body, Said, completion, tool_calls, upstream
from toolglot.catalog.providers import providers
from toolglot.cli.bench import command
from toolglot.client.mode_stats import ModeStats
from toolglot.speed import figures
from toolglot.speed.parts import PARTS

LISTED = {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 32768}]}


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "TOOLGLOT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "SECONDS", 0.001)  # each is run a few times: here it matters that, not how fast


def run(*words: str) -> Result:
    return CliRunner().invoke(command, ["--rounds", "2", *words], catch_exceptions=False)


def in_json(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def answering(body: Body) -> Said:
    if body.get("tools"):
        return 200, completion(body, None, tool_calls([("get_weather", {"city": "Oslo"})]))
    return 200, completion(body, "January, February, March.")


def test_every_part_has_figures_that_fit_each_other() -> None:
    found = in_json(run("--json"))
    assert list(found) == ["toolglot", "python", "implementation", "machine", "rounds", "calibration_us", *PARTS]
    assert found["rounds"] == 2
    assert found["calibration_us"] > 0
    for part in PARTS:
        for one in found[part]:
            assert one["us"] > 0, one
            assert ("ratio" in one) == ("floor_us" in one) == (part != "extract")
            assert ("mb_s" in one) == (part == "extract")
            if part == "extract":
                assert one["mb_s"] > 0
            else:
                assert one["floor_us"] > 0
                assert one["ratio"] == pytest.approx(one["us"] / one["floor_us"])


def test_a_table_on_stdout_progress_on_stderr() -> None:
    done = run("--only", "validate")
    assert done.exit_code == 0
    assert "\033" not in done.stdout
    head, _, title, columns, *rows = done.stdout.splitlines()
    assert "the best of 2 rounds" in head
    assert title.startswith("Validating a call: ")
    assert columns.split() == ["OF", "A", "US", "FLOOR", "US", "RATIO"]
    assert [row.split(",")[0].split()[0] for row in rows] == ["valid", "repaired", "rejected"]
    assert done.stderr.splitlines() == ["0/2 warming up", "1/2 measuring", "2/2 measuring"]


@pytest.mark.parametrize("only", [["extract"], ["validate", "stream"]])
def test_only_narrows(only: list[str]) -> None:
    found = in_json(run("--json", *(word for part in only for word in ("--only", part))))
    assert [part for part in PARTS if part in found] == sorted(only, key=list(PARTS).index)


def test_a_model_is_asked_and_reported_separately() -> None:
    with upstream(answering, listed=LISTED) as server:
        found = in_json(run("--json", "--only", "model", "-m", "vllm/m", "--base-url", server.url))
    assert not set(PARTS) & set(found)
    assert found["model"]["name"] == "vllm/m"
    assert [one["name"] for one in found["model"]["questions"]] == ["in words", "with a tool"]
    for one in found["model"]["questions"]:
        assert len(one["requests"]) == 2  # the first of three does not count
        assert 0 < one["first_event_ms"] <= one["first_delta_ms"] <= one["end_ms"]
        assert one["events_s"] == pytest.approx(one["events"] / one["end_ms"] * 1000)
        assert one["own_share"] == pytest.approx(one["own_cpu_ms"] / one["end_ms"])
        assert one["events"] == 5
        assert one["own_cpu_ms"] > 0
    assert ["response_format" in body for body in server.asked] == [False] * 3 + [True] * 3


def test_a_model_is_printed_after_the_rest() -> None:
    with upstream(answering, listed=LISTED) as server:
        done = run("--only", "validate", "--only", "model", "-m", "vllm/m", "--base-url", server.url)
    assert done.stdout.index("Validating a call") < done.stdout.index("Asking vllm/m: the median of 2 requests each")
    assert "2/2 asking vllm/m with a tool" in done.stderr


def test_the_mode_statistics_are_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "1")
    with upstream(answering, listed=LISTED) as server:
        in_json(run("--json", "--only", "model", "-m", "vllm/m", "--base-url", server.url))
    assert not ModeStats().path.exists()


def test_the_key_is_the_one_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-0123456789")
    with upstream(answering, listed=LISTED) as server:
        words = ("--only", "model", "-m", "vllm/m", "--base-url", server.url, "--api-key", "env:SOME_KEY")
        assert run(*words).exit_code == 0
    assert set(server.keys) == {"Bearer sk-0123456789"}


def test_a_model_that_fails_takes_nothing_from_the_rest() -> None:
    def down(_: Body) -> Said:
        return 400, {"error": {"message": "the model is being fetched", "type": "invalid_request_error"}}

    with upstream(down, listed=LISTED) as server:
        words = ("-m", "vllm/m", "--base-url", server.url, "--only", "model")
        alone, beside = run(*words), run(*words, "--only", "validate", "--json")
    assert (alone.exit_code, alone.stdout) == (1, "")
    assert "error: vllm/m: the model is being fetched" in alone.stderr
    assert beside.exit_code == 1
    assert len(json.loads(beside.stdout)["validate"]) == 3
    assert "model" not in json.loads(beside.stdout)


def test_refused_calls_are_not_logged_thousands_of_times(caplog: pytest.LogCaptureFixture) -> None:
    assert run("--only", "validate").exit_code == 0
    assert caplog.records == []
    assert not logging.getLogger("toolglot").disabled


def test_usage_errors_exit_with_2_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cases: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        (("--only", "gard"), (*PARTS, "model")),
        (("--only", "model"), ("which model?",)),
        (("-m", "qwen"), ("provider/model",)),
        (("-m", "olama/qwen"), ("did you mean ollama?", *providers())),
        (("-m", "openai/gpt-x"), ("OPENAI_API_KEY",)),
        (("-m", "vllm/m", "--api-key", "sk-123"), ("name its variable",)),
        (("-m", "vllm/m", "--only", "validate"), ("add --only model",)),
        (("--base-url", "http://127.0.0.1:1"), ("--base-url: it needs -m",)),
        (("--api-key", "env:HOME"), ("--api-key: it needs -m",)),
        (("--rounds", "0"), ("--rounds",)),
    ]
    for words, expected in cases:
        done = run(*words)
        assert (done.exit_code, done.stdout) == (2, ""), (words, done.output)
        assert "measuring" not in done.stderr
        for word in expected:
            assert word in done.stderr, words


def test_help_shows_examples_and_exit_codes() -> None:
    output = run("--help").stdout
    assert "toolglot bench -m ollama/qwen3:8b" in output
    assert "Exit codes" in output


# -- a real model


def test_the_embedded_model_is_timed(smollm2_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_LOCAL_THREADS", "1")
    found = in_json(run("--rounds", "1", "--only", "model", "-m", f"local/{smollm2_path}", "--json"))
    for one in found["model"]["questions"]:
        assert one["events"] >= 2  # a start and an end: what lies between is the model's choice
        assert 0 < one["own_cpu_ms"] < one["end_ms"]
