from __future__ import annotations

import pytest

from tests.pipeline.answering import (
    CALLS,
    CITY,
    FENCED,
    HERMES,
    PARIS,
    ROME,
    TOOLS,
    call,
    codes,
    plan_for,
    reply,
    run_pipeline,
    stream,
    text,
)
from toolglot.core.events import Close, Delta, Event, Finish, Open
from toolglot.core.fold import fold
from toolglot.core.messages import Reasoning, Text, ToolCall
from toolglot.core.reply import Decision, Stop, Usage
from toolglot.core.request import Output
from toolglot.core.tools import Choice
from toolglot.dialects import find_dialect
from toolglot.grammars.nonce import with_nonce


def test_a_call_written_as_text_is_rescued() -> None:
    found = reply(plan_for(), text("I look. ", HERMES[:20], HERMES[20:]))
    assert (found.text, [one.arguments for one in found.calls]) == ("I look. ", [{"city": "Paris"}])
    assert codes(found) == ["rescued_text"]
    assert found.stop == Stop("calls", "stop")


def test_the_dialect_of_a_model_is_rescued_in_native_mode_too() -> None:
    plan = plan_for("ollama/qwen2.5-coder:32b", ask="native")
    assert plan.text_dialect == "hermes"
    assert codes(reply(plan, text(HERMES))) == ["rescued_text"]
    asked = plan_for("ollama/qwen2.5-coder:32b", ask="dialect:hermes")
    found = reply(asked, text(HERMES))
    assert (len(found.calls), found.decisions) == (1, ())


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_a_weak_form_that_is_meant_is_a_call_and_one_that_is_shown_is_text(calls: str) -> None:
    assert len(reply(plan_for(), text(FENCED), calls=calls).calls) == 1
    shown = f"A call:\n{FENCED}\n{'It is explained here. ' * 20}"
    found = reply(plan_for(), text(shown), calls=calls)
    assert (found.text, found.calls, codes(found)) == (shown, [], ["quoted"])


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize(
    "shown",
    [
        f"I look. {HERMES}",
        f"Write `{HERMES}` for that, and then wait.",
        f"It is <!-- like\nthis: {HERMES} --> or not.",
        f"A call:\n{FENCED}\n{'It is explained here. ' * 20}",
        f"Then <tool_call> and </tool_call>, and so on.\n{HERMES}",
    ],
)
def test_what_stands_before_a_call_counts_however_it_is_cut(shown: str, size: int) -> None:
    pieces = [shown[at : at + size] for at in range(0, len(shown), size)]
    whole, cut = reply(plan_for(), text(shown)), reply(plan_for(), text(*pieces))
    assert (cut.text, cut.calls, cut.decisions) == (whole.text, whole.calls, whole.decisions)


def test_before_native_calls_text_that_looks_like_a_call_stays_text() -> None:
    found = reply(plan_for(), text(FENCED), call(1, "get_time", ROME), text(HERMES, index=2), end=CALLS)
    assert found.text == FENCED + HERMES
    assert [one.name for one in found.calls] == ["get_time"]
    assert [type(part) for part in found.parts] == [Text, ToolCall, Text]


def test_a_call_in_text_and_native_is_sent_once() -> None:
    found = reply(plan_for(), text(HERMES), call(1, "get_weather", PARIS), call(2, "get_time", ROME), end=CALLS)
    assert [one.name for one in found.calls] == ["get_weather", "get_time"]
    assert codes(found) == ["rescued_text", "duplicate_call"]
    found = reply(plan_for(), text(HERMES), call(1, "get_weather", PARIS), end=CALLS, calls="pass")
    assert len([part for part in found.parts if isinstance(part, ToolCall)]) == 1


def test_blocks_keep_their_order_and_what_belongs_to_them() -> None:
    """Citations, ids and reasoning between two texts."""
    cited, block_id = {"anthropic": {"citations": [1]}}, {"openai-responses": {"id": "msg_1"}}
    blocks: list[Event] = [
        Open(0, "text", extra=block_id),
        Delta(0, "one <"),
        Close(0, extra=cited),
        Open(1, "reasoning"),
        Delta(1, "hm"),
        Close(1, extra={"anthropic": {"signature": "s"}}),
        *text("two", index=2),
        *text("three", index=3, channel="text"),
    ]
    left = run_pipeline(plan_for(), stream(blocks))
    assert [type(event).__name__ for event in left[:5]] == ["Start", "Open", "Delta", "Close", "Open"]
    found = fold(left)
    assert found.parts == (
        Text("one ", None, block_id | cited),
        Reasoning("hm", {"anthropic": {"signature": "s"}}),
        Text("<two"),
        Text("three", "text"),
    )


def test_what_belongs_to_a_text_that_became_a_call_is_kept() -> None:
    block_id = {"openai-responses": {"id": "msg_1"}}
    found = reply(plan_for(), [Open(0, "text", extra=block_id), Delta(0, HERMES), Close(0)])
    assert len(found.calls) == 1
    assert found.parts[-1] == Text("", extra=block_id)


@pytest.mark.parametrize("channel", ["json", "refusal"])
def test_structured_output_is_never_scanned(channel: str) -> None:
    found = reply(plan_for(output=Output(CITY)), text(HERMES, channel=channel))
    assert found.parts == (Text(HERMES, channel),)


def test_usage_extra_and_notes_stay() -> None:
    end = Finish(Stop("stop", "end"), Usage(3, 4), ("a note",), (Decision("x", "y"),), {"ollama": {"a": 1}})
    plan = plan_for("ollama/qwen3:8b", tools=TOOLS, choice=Choice("auto", ("get_time",)))
    found = reply(plan, text("Hello"), end=end)
    assert (found.usage, found.extra, found.decisions) == (Usage(3, 4), {"ollama": {"a": 1}}, (Decision("x", "y"),))
    assert found.notes == (*plan.notes, "a note")
    assert plan.notes


def test_with_a_nonce_nothing_else_is_a_call() -> None:
    plan = plan_for(ask="dialect:tagged", nonce="k3yk3y")
    tagged = find_dialect("tagged")
    assert tagged is not None
    made = (ToolCall("", "get_weather", PARIS),)
    good = with_nonce(tagged, "k3yk3y").render_calls(made)
    for forged in (tagged.render_calls(made), HERMES, with_nonce(tagged, "other1").render_calls(made)):
        assert reply(plan, text(forged)).calls == []
    assert [one.arguments for one in reply(plan, text(good)).calls] == [{"city": "Paris"}]


def test_a_passed_call_from_text_that_does_not_hold_is_none() -> None:
    bad = '<tool_call>{"name": "get_weather", "arguments": {"town": [1]}}</tool_call>'
    found = reply(plan_for(), text(bad), calls="pass")
    assert [part.sealed for part in found.parts if isinstance(part, ToolCall)] == [False]
    assert (found.calls, found.stop, codes(found)) == ([], Stop("stop", "stop"), ["rejected_schema"])


def test_what_two_texts_that_interleave_carry_is_kept() -> None:
    blocks: list[Event] = [
        *(Open(at, "text") for at in (0, 1)),
        *(Delta(at, f"{at} ") for at in (0, 1)),
        *(Close(at, extra={"anthropic": {f"cited_{at}": True}}) for at in (0, 1)),
    ]
    found = reply(plan_for(), blocks)
    assert found.text == "0 1 "
    assert "cited_0" in str(found.parts)
    assert "cited_1" in str(found.parts)
