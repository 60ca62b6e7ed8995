"""Which way is recommended, and how that is written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client.probe.answers import ASKED, ONE, calling, codes, observed, saying, seen
from toolglot.catalog.profiles import profile
from toolglot.client.probe.verdict import outcome, result, right, verdict
from toolglot.core.reply import Reply, Stop
from toolglot.evaluation.questions import Question
from toolglot.io.json_codec import dumps


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def fenced(question: Question) -> Reply:
    name, arguments = question.gold[0]
    return saying(f"```json\n{dumps({'name': name, 'arguments': arguments})}\n```")


def test_the_way_with_the_most_right_answers_is_recommended_beyond_chance() -> None:
    due = [ASKED[name] for name in ("one_tool", "two_tools", "enumerated", "number")]
    other = [observed(fenced(one), one, "dialect:fenced_json") for one in due]
    half = [observed(calling(one) if at < 2 else saying("no idea"), one) for at, one in enumerate(due)]
    found = verdict(seen(*half, *other), "native")
    assert [(tool_mode.tool_mode, tool_mode.right, tool_mode.mark) for tool_mode in found.tool_modes] == [
        ("native", 2, "works"),
        ("dialect:fenced_json", 4, "works well"),
    ]
    assert found.recommended == "dialect:fenced_json"
    assert "toolglot uses native by default." in found.summary
    most = [observed(calling(one) if at < 3 else saying("no idea"), one) for at, one in enumerate(due)]
    assert verdict(seen(*most, *other), "native").recommended == "native", "one answer more is no proof"
    assert verdict(seen(*most, *other), "dialect:tagged").recommended == "dialect:fenced_json"


@pytest.mark.parametrize("model", ["Qwen2.5-7B-Instruct", "qwen2.5-coder-1.5b.gguf", "qwen3:8b", "my-model", "org/My_Model-3B"])
def test_the_row_that_is_recommended_is_taken(model: str, tmp_path: Path) -> None:
    failed = observed(saying("no idea"), tool_mode="dialect:tagged")
    found = verdict(seen(observed(calling()), failed, model=f"vllm/{model}"), "dialect:tagged")
    assert found.toml is not None
    (tmp_path / "toolglot.toml").write_text(found.toml)
    assert profile(model, "vllm").ask == "native"
    assert profile("llama3.1:8b", "vllm").ask != "native"


def test_what_was_not_tried_is_not_thought_worse() -> None:
    found = verdict(seen(observed(calling())), "dialect:tagged")
    assert (found.recommended, found.toml) == ("native", None)
    assert found.summary.endswith("toolglot uses dialect:tagged by default, which was not tested.")


def test_of_equal_ways_the_one_that_streams_well_then_the_one_taken_anyway() -> None:
    tagged = observed(
        saying('~~~tool_call\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n~~~'), tool_mode="dialect:tagged"
    )
    native, stream = observed(calling()), observed(saying("no"), stream=True)
    assert right(outcome(tagged))
    assert verdict(seen(native, tagged), "native").recommended == "native"
    assert verdict(seen(native, tagged), "dialect:tagged").recommended == "dialect:tagged"
    assert verdict(seen(native, stream, native, stream, tagged), "native").recommended == "dialect:tagged"


def test_false_calls_of_the_recommended_mode_are_reported() -> None:
    answers = [observed(calling(one)) for one in ASKED.values() if one.gold]
    answers.append(observed(Reply(parts=calling(ONE).parts, stop=Stop("calls", "tool_calls")), ASKED["no_call"]))
    found = verdict(seen(observed(calling(ASKED["two_tools"]), ASKED["two_tools"]), answers[-1]), "native")
    assert found.works
    assert codes(found.findings) == ["false_call"]
    assert "1 of 1" in found.findings[0].evidence


def test_an_answer_that_was_asked_again_counts_once() -> None:
    counted = result("native", [observed(calling()), observed(saying("no"))])
    assert (counted.asked, counted.right) == (1, 1)
