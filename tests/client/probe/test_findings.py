"""From answers to faults, each by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client.probe.answers import ASKED, HERMES, calling, codes, heard, saying, seen
from toolglot.client.detection.told import Told
from toolglot.client.probe.findings import findings
from toolglot.client.probe.parsers import VLLM
from toolglot.client.probe.seen import FAULTS, Room
from toolglot.client.probe.verdict import outcome, right, verdict
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.dialects import find_dialect
from toolglot.errors import UpstreamError


def test_the_questions_cover_what_a_probe_must_ask() -> None:
    assert list(ASKED) == ["one_tool", "two_tools", "no_call", "enumerated", "number", "parallel", "use_result"]
    assert {len(one.tools) for one in ASKED.values()} == {1, 2, 3}
    assert len(ASKED["parallel"].gold) == 2
    for question in ASKED.values():
        said = calling(question) if question.gold else saying("19 degrees")
        assert right(outcome(heard(said, question))), question.id
        assert not right(outcome(heard(saying("I don't know"), question))) or question.id == "no_call"


def test_the_page_for_users_has_every_fault() -> None:
    page = Path(__file__).parents[3].joinpath("docs/how-to/probe.md").read_text(encoding="utf-8")
    assert [code for code in FAULTS if f"`{code}`" not in page] == []


def test_every_parser_of_a_server_is_of_a_dialect_that_there_is() -> None:
    assert [name for name in VLLM if find_dialect(name) is None] == []


def test_a_model_that_does_all_right_has_no_fault() -> None:
    full = [heard(calling(one, "tool_calls") if one.gold else saying("19 degrees"), one) for one in ASKED.values()]
    found = verdict(seen(*full), "native")
    assert (found.works, found.recommended, found.findings, found.toml) == (True, "native", (), None)
    assert found.said == "It works well asked native: 7 of 7 right; toolglot takes it by itself."
    assert (found.ways[0].due, found.ways[0].right_arguments, found.ways[0].no_call_due) == (5, 5, 2)


def test_tools_that_make_the_prompt_no_longer_never_reach_the_model() -> None:
    said = heard(saying("I can't see the weather.", usage=Usage(input=31, output=8)))
    assert codes(findings(seen(said, without_tools=31))) == ["tools_dropped"]
    assert "31 tokens with tools and 31 without" in findings(seen(said, without_tools=31))[0].evidence
    assert findings(seen(said, without_tools=12)) == (), "they are in the prompt, and the model will not call"
    assert findings(seen(said)) == (), "nothing is known"


def test_a_template_without_a_place_for_tools_drops_them() -> None:
    told = Told("GET /props", tools=False)
    said = heard(saying("I can't see the weather."), model="llamacpp/m")
    found = findings(seen(said, model="llamacpp/m", told=told))
    assert codes(found) == ["tools_dropped"]
    assert "GET /props" in found[0].evidence
    assert findings(seen(heard(calling()), told=told)) == (), "what the model does counts, not what the server says"


def test_a_model_that_calls_when_asked_otherwise_plainly_never_saw_the_tools() -> None:
    other = heard(saying('```json\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n```'), way="dialect:fenced_json")
    found = findings(seen(heard(saying("I can't see the weather.")), other))
    assert codes(found) == ["tools_dropped"]
    assert "dialect:fenced_json" in found[0].evidence


@pytest.mark.parametrize(
    ("model", "text", "code", "advice"),
    [
        ("vllm/my-qwen", HERMES, "parser_flag_missing", "--enable-auto-tool-choice --tool-call-parser hermes"),
        ("llamacpp/m", HERMES, "parser_flag_missing", "--jinja"),
        ("ollama/m", HERMES, "calls_as_text", "toolglot hears"),
        (
            "llamacpp/qwen2.5-coder-1.5b",
            '```json\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n```',
            "calls_as_text",
            "toolglot hears",
        ),
    ],
)
def test_calls_that_come_as_text(model: str, text: str, code: str, advice: str) -> None:
    found = findings(seen(heard(saying(text), model=model), model=model))
    assert codes(found) == [code]
    assert advice in found[0].advice
    assert "1 of 1 calls came as text" in found[0].evidence


def test_a_word_at_the_end_that_does_not_fit_the_calls() -> None:
    assert codes(findings(seen(heard(calling(raw="stop"))))) == ["finish_reason_wrong"]
    assert codes(findings(seen(heard(Reply(parts=(Text("hm"),), stop=Stop("stop", "tool_calls")))))) == ["finish_reason_wrong"]
    assert findings(seen(heard(calling(raw="stop"), model="gemini/g"), model="gemini/g")) == (), "Gemini has no word for it"
    ended = heard(calling(raw="end_turn"), model="anthropic/claude-x")
    assert codes(findings(seen(ended, model="anthropic/claude-x"))) == ["finish_reason_wrong"]
    cut = Reply(parts=(ToolCall("c", "get_weather", '{"ci', sealed=False),), stop=Stop("length", "length"))
    assert findings(seen(heard(cut))) == ()


def test_a_stream_that_differs_does_so_twice_while_whole_answers_agree() -> None:
    whole, stream = heard(calling()), heard(saying("Let me see."), stream=True)
    (found,) = findings(seen(whole, stream, whole, stream))
    assert (found.code, found.way) == ("stream_differs", "native")
    assert found.evidence == 'whole: get_weather({"city":"Lisbon"}); streamed: no call'
    porto = Reply(parts=(ToolCall("x", "get_weather", '{"city": "Porto"}'),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(whole, stream, heard(porto), stream)) == (), "whole answers differ too: it is the model"
    assert findings(seen(whole, stream, whole, heard(calling(), stream=True))) == (), "once it was the same"
    spaced = Reply(parts=(ToolCall("x", "get_weather", '{ "city": "Lisbon" }'),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(whole, heard(spaced, stream=True))) == (), "spaces in JSON are nothing"
    light, turned = ASKED["enumerated"], '{"state": "off", "room": "kitchen"}'
    streamed = Reply(parts=(ToolCall("x", "set_light", turned),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(heard(calling(light), light), heard(streamed, light, stream=True))) == (), "nor is the order of keys"


def test_a_stream_that_breaks_is_different() -> None:
    broken = heard(Reply(), stream=True, error=UpstreamError("the connection broke"))
    found = findings(seen(heard(calling()), broken))
    assert codes(found) == ["stream_differs"]
    assert "the connection broke" in found[0].evidence


def test_calls_that_the_guard_refuses() -> None:
    invented = Reply(parts=(ToolCall("c", "browse_the_web", "{}"),), stop=Stop("calls", "tool_calls"))
    wrong = Reply(parts=(ToolCall("c", "set_timer", '{"minutes": "soon"}'),), stop=Stop("calls", "tool_calls"))
    found = findings(seen(heard(invented), heard(wrong, ASKED["number"])))
    assert codes(found) == ["unknown_name", "invalid_arguments"]
    assert "browse_the_web" in found[0].evidence
    assert "1 in 2 questions" in found[1].evidence
    assert not any(finding.grave for finding in found)


def test_a_window_that_is_too_small() -> None:
    whole = heard(calling())
    cut = seen(whole, model="ollama/m", room=Room(4608, 2048))
    assert codes(findings(cut)) == ["context_too_small"]
    assert "cut to 2048" in findings(cut)[0].evidence
    assert "OLLAMA_CONTEXT_LENGTH" in findings(cut)[0].advice
    assert findings(seen(whole, model="ollama/m", room=Room(4608, 4700))) == ()
    short = Reply(parts=(Text("I w"),), stop=Stop("length", "length"), usage=Usage(input=500, output=12))
    assert codes(findings(seen(heard(short, limit=200)))) == ["context_too_small"]
    assert findings(seen(heard(short, limit=12))) == (), "it wrote as much as it might"
    noted = heard(calling(), notes=("tools: so", "context: about 900 tokens are needed and vllm gives 512"))
    assert findings(seen(noted))[0].evidence == "about 900 tokens are needed and vllm gives 512"
    told = findings(seen(whole, told=Told("GET /v1/models", context_length=2048)))
    assert codes(told) == ["context_too_small"]
    assert not told[0].grave


def test_a_long_prompt_that_is_refused_shows_the_window() -> None:
    error = UpstreamError(
        "request (4700 tokens) exceeds the available context size (4096 tokens)", 400, "exceed_context_size_error"
    )
    found = findings(seen(heard(calling()), room=Room(4608, None, error)))
    assert codes(found) == ["context_too_small"]
    assert findings(seen(heard(calling()), room=Room(4608, None, UpstreamError("busy", 503)))) == ()
