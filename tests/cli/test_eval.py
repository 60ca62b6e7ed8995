"""`toolglot eval`: exact figures from a scripted server, a run that goes on, wrong use, and a real model."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from tests.client.probe.upstream import Body, Said, completion, tool_calls, upstream
from toolglot.catalog.providers import providers
from toolglot.cli import eval as evaluating
from toolglot.cli.eval import command
from toolglot.client.mode_stats import ModeStats, server_name

LISTED = {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 32768}]}
FORECAST = {
    "name": "forecast",
    "description": "The weather of the coming days.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
}
TIME = {
    "name": "time_in",
    "description": "The time in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
OSLO, ROME = {"city": "Oslo", "days": 3}, {"city": "Rome", "days": 2}


def due(id: str, tag: str, *calls: Body, **more: Any) -> Body:
    expected = [
        {"name": "forecast", "arguments": {key: [value] for key, value in arguments.items()}} for arguments in calls or (OSLO,)
    ]
    return {"id": id, "tags": [tag], "question": id, "tools": ["forecast", "time_in"], "expected": expected, **more}


def none_due(id: str) -> Body:
    return {"id": id, "tags": ["no_call"], "question": id, "tools": ["forecast"], "no_call": True}


QUESTIONS: list[Body] = [
    {"tool": FORECAST},
    {"tool": TIME},
    due("right", "one"),
    due("repaired", "one"),
    due("rescued", "one"),
    due("other tool", "several"),
    due("one of two", "parallel", OSLO, ROME),
    none_due("false"),
    none_due("quiet"),
    none_due("refused"),
    due("loop", "loop", loop={"results": {"forecast": "Snow on all days."}, "final": ["snow"]}),
]
ANSWERS: dict[str, tuple[str | None, list[tuple[str, Body]]]] = {
    "right": (None, [("forecast", OSLO)]),
    "repaired": (None, [("forecast", {"city": "Oslo", "days": "3"})]),
    "rescued": ('```json\n{"name": "forecast", "arguments": {"city": "Oslo", "days": 3}}\n```', []),
    "other tool": (None, [("time_in", {"city": "Oslo"})]),
    "one of two": (None, [("forecast", OSLO)]),
    "false": (None, [("forecast", OSLO)]),
    "quiet": ("Hello to you.", []),
    "refused": (None, [("browse_the_web", {})]),
    "loop": (None, [("forecast", OSLO)]),
}
# measure: as the model wrote it, as it left, of how many
FIGURES = {
    "valid": (4, 6, 6),
    "right_tool": (3, 4, 6),
    "right_arguments": (2, 4, 6),
    "false_calls": (2, 1, 3),
    "final": (1, 1, 1),
    "right": (3, 6, 9),
}


def scripted(body: Body) -> Said:
    if body["messages"][-1]["role"] == "tool":
        return 200, completion(body, f"It says: {body['messages'][-1]['content']}", prompt=100)
    text, calls = ANSWERS.get(str(body["messages"][-1]["content"]), ("Nothing.", []))  # also where a call goes back
    return 200, completion(body, text, tool_calls(calls), prompt=100)


def down(_: Body) -> Said:
    return 400, {"error": {"message": "the model is being fetched", "type": "invalid_request_error"}}


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "TOOLGLOT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("TOOLGLOT_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), catch_exceptions=False)


def ask(url: str, *words: str) -> Result:
    return run("-m", "vllm/m", "--base-url", url, "--questions", "q.jsonl", "--ask", "native", *words)


def in_json(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("at_a_time", ["1", "5"])
def test_the_figures_are_exact(at_a_time: str) -> None:
    with upstream(scripted, listed=LISTED) as server:
        done = ask(server.url, "--json", "--concurrency", at_a_time)
    assert done.exit_code == 0, done.output
    found = in_json(done)
    overall = {
        name: (both["written"]["hits"], both["left"]["hits"], both["left"]["of"]) for name, both in found["overall"].items()
    }
    assert overall == FIGURES
    assert found["decisions"] == {"coerced_type": 1, "rejected_unknown_tool": 1, "rescued_text": 1}
    assert [one["id"] for one in found["answers"] if one["right"]] == [
        "right",
        "repaired",
        "rescued",
        "quiet",
        "refused",
        "loop",
    ]
    assert found["by_tag"]["one"]["right"]["left"] == {
        "hits": 3,
        "of": 3,
        "share": 1.0,
        "low": pytest.approx(0.4385, abs=1e-4),
        "high": 1.0,
    }
    assert found["by_tag"]["one"]["right"]["written"]["hits"] == 1
    # two questions take two turns: the loop, and the rejected call
    assert found["tokens"] == {
        "input": pytest.approx(1100 / 9),
        "output": pytest.approx(132 / 9),
    }
    assert len(server.asked) == 11
    assert all((body["temperature"], body["max_tokens"]) == (0, 1024) for body in server.asked)


def test_a_table_on_stdout_progress_with_an_estimate_on_stderr() -> None:
    with upstream(scripted, listed=LISTED) as server:
        done = ask(server.url)
    assert done.stdout.startswith("vllm/m, asked native, policy balanced: 9 questions")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("all right"))
    assert line.split() == ["all", "right", "33%", "[12%,", "65%]", "67%", "[35%,", "88%]", "+33", "points", "9"]
    output = done.stderr.splitlines()
    assert len(output) == 9
    assert output[0].startswith("1/9 right     right (")
    assert "about" in output[0]
    assert output[3].startswith("4/9 wrong     other tool (")
    assert "left" not in output[8]


def test_strict_repairs_nothing() -> None:
    with upstream(scripted, listed=LISTED) as server:
        found = in_json(ask(server.url, "--json", "--policy", "strict"))
    assert found["overall"]["right"]["left"]["hits"] == 4  # neither repaired nor rescued


def test_by_default_it_uses_the_mode_of_the_client() -> None:
    with upstream(scripted, listed=LISTED) as server:
        done = run("-m", "vllm/m", "--base-url", server.url, "--questions", "q.jsonl", "--only", "right", "--json")
        assert (in_json(done)["ask"], in_json(done)["tool_mode"]) == ("auto", "constrained")
        asked = run(
            "-m", "vllm/m", "--base-url", server.url, "--questions", "q.jsonl", "--only", "quiet", "--ask", "tagged", "--json"
        )
    assert in_json(asked)["tool_mode"] == "dialect:tagged"
    assert "tools" not in server.asked[-1]


def test_a_measurement_neither_uses_nor_changes_the_mode_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "1")
    with upstream(scripted, listed=LISTED) as server:
        known = ModeStats()
        name = server_name(msgspec.structs.replace(providers()["vllm"], base_url=server.url))
        for good, tool_mode in ((True, "native"), (False, "constrained")):
            for _ in range(20):
                known.note(name, "m", tool_mode, good)
        known.flush()
        before = known.path.read_bytes()
        done = run("-m", "vllm/m", "--base-url", server.url, "--questions", "q.jsonl", "--only", "right", "--json")
    assert in_json(done)["tool_mode"] == "constrained"
    assert "tools" not in server.asked[0]
    assert known.path.read_bytes() == before


def test_a_run_can_be_resumed() -> None:
    with upstream(scripted, listed=LISTED) as server:
        first = ask(server.url, "--save", "a.jsonl", "--only", "one", "--json")
        assert len(server.asked) == 3
        assert ask(server.url, "--save", "a.jsonl").exit_code == 2
        rest = ask(server.url, "--resume", "a.jsonl", "--json")
        assert len(server.asked) == 11
        again = ask(server.url, "--resume", "a.jsonl", "--json")
        assert len(server.asked) == 11
    assert in_json(first)["questions"] == 3
    assert in_json(rest)["overall"] == in_json(again)["overall"]
    assert in_json(rest)["overall"]["right"]["left"]["hits"] == 6
    assert "3 of 9 are answered in a.jsonl" in rest.stderr


def test_partial_failed_and_outdated_answers_are_asked_again() -> None:
    def without(missing: str) -> Callable[[Body], Said]:
        return lambda body: down(body) if body["messages"][-1]["content"] == missing else scripted(body)

    with upstream(without("rescued"), listed=LISTED) as server:
        first = ask(server.url, "--resume", "a.jsonl", "--only", "one", "--json")
    assert first.exit_code == 0
    assert in_json(first)["unanswered"] == {"rescued": "the model is being fetched"}
    assert in_json(first)["overall"]["right"]["left"]["hits"] == 2
    kept = Path("a.jsonl").read_text()
    Path("a.jsonl").write_text(kept[: kept.index('"question":"repaired"') + 30])
    Path("q.jsonl").write_text(Path("q.jsonl").read_text().replace('"question": "right"', '"question": "quiet"', 1))
    with upstream(scripted, listed=LISTED) as server:
        rest = ask(server.url, "--resume", "a.jsonl", "--only", "one", "--json")
    assert [body["messages"][-1]["content"] for body in server.asked] == ["quiet", "repaired", "rescued"]
    assert in_json(rest)["overall"]["right"]["left"]["hits"] == 2


def test_answers_are_judged_again_without_a_server() -> None:
    with upstream(scripted, listed=LISTED) as server:
        done = ask(server.url, "--save", "a.jsonl", "--json")
    again = run("--score", "a.jsonl", "--questions", "q.jsonl", "--json")
    assert (again.exit_code, in_json(again)) == (0, in_json(done))
    Path("q.jsonl").write_text(Path("q.jsonl").read_text().replace('"days": [3]', '"days": [4]', 1))
    other_gold = run("--score", "a.jsonl", "--questions", "q.jsonl", "--only", "one", "--wrong")
    assert "right: other arguments" in other_gold.stdout
    assert "note: 6 answers to other questions are ignored" in other_gold.stderr
    Path("q.jsonl").write_text(Path("q.jsonl").read_text().replace('"question": "false"', '"question": "fake"', 1))
    assert "note: 1 answers are to another wording" in run("--score", "a.jsonl", "--questions", "q.jsonl").stderr
    assert "no answer to any" in run("--score", "a.jsonl").stderr


def test_responses_are_saved_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret-0123456789")

    def echoing(body: Body) -> Said:
        return 200, completion(body, f"Your key is {server.keys[-1]}.")

    with upstream(scripted, listed=LISTED) as server:
        ask(server.url, "--save", "a.jsonl", "--only", "repaired", "--only", "loop")
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "kind": "setting",
        "model": "vllm/m",
        "ask": "native",
        "tool_mode": "native",
        "policy": "balanced",
        "options": {"temperature": 0, "max_tokens": 1024},
    }
    (raw,) = rows[1]["raw"]
    assert json.loads(raw)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo", "days": "3"}'
    assert (rows[2]["turns"], len(rows[2]["raw"])) == (2, 2)
    assert rows[2]["raw"][0].startswith("data: ")
    with upstream(echoing, listed=LISTED) as server:
        ask(server.url, "--save", "b.jsonl", "--only", "quiet", "--api-key", "env:SOME_KEY")
        assert server.keys == ["Bearer sk-very-secret-0123456789"]
    assert "very-secret" not in json.loads(Path("b.jsonl").read_text().splitlines()[1])["raw"][0]


def test_answers_of_two_settings_are_not_mixed() -> None:
    with upstream(scripted, listed=LISTED) as server:
        ask(server.url, "--resume", "a.jsonl", "--only", "right")
        for words, expected in (
            (("--policy", "eager"), "a.jsonl: its answers have the policy balanced, and this run eager"),
            (("-m", "vllm/other"), "the model vllm/m, and this run vllm/other"),
            (("-o", "temperature=1"), "the options"),
            (("--ask", "auto"), "the ask native"),
        ):
            done = ask(server.url, "--resume", "a.jsonl", *words)
            assert (done.exit_code, done.stdout) == (2, ""), words
            assert expected in done.stderr
        assert len(server.asked) == 1


def test_below_the_least_share_it_fails() -> None:
    with upstream(scripted, listed=LISTED) as server:
        good = ask(server.url, "--resume", "a.jsonl", "--min-right", "0.66")
        bad = ask(server.url, "--resume", "a.jsonl", "--min-right", "0.67")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert "all right" in bad.stdout
    assert "6 of 9 are right, which is less than 67%" in bad.stderr


def test_a_server_that_never_answers_is_a_failure() -> None:
    with upstream(down, listed=LISTED) as server:
        done = ask(server.url, "--json")
        assert len(server.asked) == 3
    assert (done.exit_code, done.stdout) == (1, "")
    assert "3 questions, and no answer to any: the model is being fetched" in done.stderr


def test_a_drawing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with upstream(scripted, listed=LISTED) as server:
        assert ask(server.url, "--resume", "a.jsonl", "--plot", "a.svg").exit_code == 0
    assert "67%" in Path("a.svg").read_text()
    ET.fromstring(Path("a.svg").read_text())  # noqa: S314  (we wrote it ourselves)

    class Cairo:
        @staticmethod
        def svg2png(bytestring: bytes, **_: object) -> bytes:
            return b"PNG of " + bytestring[:4]

    monkeypatch.setattr(evaluating, "find_spec", lambda name: name)
    monkeypatch.setattr(evaluating, "import_module", lambda name: Cairo)
    assert run("--score", "a.jsonl", "--questions", "q.jsonl", "--plot", "a.png").exit_code == 0
    assert Path("a.png").read_bytes() == b"PNG of <svg"
    monkeypatch.setattr(evaluating, "find_spec", lambda name: None)
    done = run("--score", "a.jsonl", "--questions", "q.jsonl", "--plot", "b.png")
    assert (done.exit_code, done.stderr) == (2, "error: --plot: a .png needs the package cairosvg; .svg needs nothing\n")


def test_bfcl_files_can_be_used_together_with_ours() -> None:
    asked = {"id": "simple_python_0", "question": [[{"role": "user", "content": "right"}]], "function": [FORECAST]}
    Path("possible_answer").mkdir()
    Path("BFCL.json").write_text(json.dumps(asked))
    answer = {"id": "simple_python_0", "ground_truth": [{"forecast": {"city": ["Oslo"], "days": [3]}}]}
    Path("possible_answer/BFCL.json").write_text(json.dumps(answer))
    with upstream(scripted, listed=LISTED) as server:
        done = ask(server.url, "--questions", "BFCL.json", "--only", "bfcl", "--only", "no_call", "--json")
    assert [(one["id"], one["right"]) for one in in_json(done)["answers"]] == [
        ("false", False),
        ("quiet", True),
        ("refused", True),
        ("simple_python_0", True),
    ]


def test_usage_errors_exit_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("bad.jsonl").write_text('{"id": "a", "question": "b", "tools": []}\n')
    Path("kept.jsonl").write_text("{}\n")
    cases: list[tuple[tuple[str, ...], str]] = [
        ((), "which model?"),
        (("-m", "qwen"), "provider/model"),
        (("-m", "olama/qwen"), "did you mean ollama?"),
        (("-m", "vllm/m", "--ask", "taged"), "did you mean tagged?"),
        (("-m", "deepseek/m", "--ask", "constrained", "--api-key", "env:HOME"), "does not support constrained decoding"),
        (("-m", "openai/gpt-x"), "OPENAI_API_KEY"),
        (("-m", "vllm/m", "--api-key", "sk-123"), "name its variable"),
        (("-m", "vllm/m", "--questions", "none.jsonl"), "none.jsonl: there is no such file"),
        (("-m", "vllm/m", "--questions", "bad.jsonl"), "bad.jsonl: line 1, expected"),
        (("-m", "vllm/m", "--questions", "q.jsonl", "--questions", "q.jsonl"), "2 questions have the id"),
        (("-m", "vllm/m", "--only", "paralel"), "no question has the tag or id 'paralel'"),
        (("-m", "vllm/m", "--plot", "a.gif"), "neither .svg nor .png"),
        (("-m", "vllm/m", "--plot", "none/a.svg"), "there is no folder none"),
        (("-m", "vllm/m", "--ask", "native", "--save", "none/a.jsonl"), "can't be written"),
        (("-m", "vllm/m", "-o", "temperature"), "NAME=VALUE"),
        (("-m", "vllm/m", "--min-right", "80"), "min-right"),
        (("-m", "vllm/m", "--ask", "native", "--resume", "kept.jsonl"), "kept.jsonl: line 1"),
        (("--score", "none.jsonl"), "none.jsonl: there is no such file"),
        (("--score", "kept.jsonl", "--save", "b.jsonl"), "nothing to save"),
    ]
    for words, expected in cases:
        done = run(*words)
        assert (done.exit_code, done.stdout) == (2, ""), (words, done.output)
        assert expected in done.stderr, words


def test_an_option_may_be_taken_away() -> None:
    with upstream(scripted, listed=LISTED) as server:
        done = ask(server.url, "--only", "right", "-o", "temperature=null", "-o", "max_tokens=64", "-o", "user=me", "--json")
    (body,) = server.asked
    assert in_json(done)["options"] == {"max_tokens": 64, "user": "me"}
    assert "temperature" not in body
    assert (body["max_tokens"], body["user"]) == (64, "me")


def test_help_shows_examples_and_exit_codes() -> None:
    output = run("--help").stdout
    assert "toolglot eval -m ollama/qwen3:8b" in output
    assert "Exit codes" in output


# -- a real model


def test_the_embedded_model_answers_three_questions_of_ours(smollm2_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_LOCAL_THREADS", "1")
    model = f"local/{smollm2_path}"
    only = [word for id in ("one-alarm", "no-lawnmower", "loop-tromso") for word in ("--only", id)]
    done = run("-m", model, *only, "--ask", "constrained", "-o", "max_tokens=64", "--save", "a.jsonl", "--json")
    assert done.exit_code == 0, done.output
    found = in_json(done)
    assert (found["questions"], found["unanswered"]) == (3, {})
    assert found["tokens"]["input"] > 50
    assert found["seconds"]["median"]["value"] > 0
    assert found["overall"]["valid"]["left"]["of"] == 2
    assert found["overall"]["final"]["left"]["of"] == 1
    again = run("--score", "a.jsonl", *only, "--json")
    assert in_json(again) == found
