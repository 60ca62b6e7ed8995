"""From answers to faults, each by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client.probe.answers import ASKED, HERMES, calling, codes, observed, saying, seen
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.probe.findings import findings
from toolglot.client.probe.observations import FAULTS, WindowTest
from toolglot.client.probe.parsers import VLLM
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
        assert right(outcome(observed(said, question))), question.id
        assert not right(outcome(observed(saying("I don't know"), question))) or question.id == "no_call"


def test_the_page_for_users_has_every_fault() -> None:
    page = Path(__file__).parents[3].joinpath("docs/how-to/probe.md").read_text(encoding="utf-8")
    assert [code for code in FAULTS if f"`{code}`" not in page] == []


def test_every_parser_of_a_server_is_of_a_dialect_that_there_is() -> None:
    assert [name for name in VLLM if find_dialect(name) is None] == []


def test_a_model_that_does_all_right_has_no_fault() -> None:
    full = [observed(calling(one, "tool_calls") if one.gold else saying("19 degrees"), one) for one in ASKED.values()]
    found = verdict(seen(*full), "native")
    assert (found.works, found.recommended, found.findings, found.toml) == (True, "native", (), None)
    assert found.summary == "It works well in mode native: 7 of 7 right; toolglot uses it by default."
    assert (found.tool_modes[0].due, found.tool_modes[0].right_arguments, found.tool_modes[0].no_call_due) == (5, 5, 2)


def test_tools_that_make_the_prompt_no_longer_never_reach_the_model() -> None:
    said = observed(saying("I can't see the weather.", usage=Usage(input=31, output=8)))
    assert codes(findings(seen(said, without_tools=31))) == ["tools_dropped"]
    assert "31 tokens with tools and 31 without" in findings(seen(said, without_tools=31))[0].evidence
    assert findings(seen(said, without_tools=12)) == (), "they are in the prompt, and the model will not call"
    assert findings(seen(said)) == (), "nothing is known"


def test_a_template_without_a_place_for_tools_drops_them() -> None:
    facts = ServerFacts("GET /props", tools=False)
    said = observed(saying("I can't see the weather."), model="llamacpp/m")
    found = findings(seen(said, model="llamacpp/m", server=facts))
    assert codes(found) == ["tools_dropped"]
    assert "GET /props" in found[0].evidence
    assert findings(seen(observed(calling()), server=facts)) == (), "what the model does counts, not what the server says"


def test_a_model_that_calls_when_asked_otherwise_plainly_never_saw_the_tools() -> None:
    other = observed(
        saying('```json\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n```'), tool_mode="dialect:fenced_json"
    )
    found = findings(seen(observed(saying("I can't see the weather.")), other))
    assert codes(found) == ["tools_dropped"]
    assert "dialect:fenced_json" in found[0].evidence


@pytest.mark.parametrize(
    ("model", "text", "code", "advice"),
    [
        ("vllm/my-qwen", HERMES, "parser_flag_missing", "--enable-auto-tool-choice --tool-call-parser hermes"),
        ("llamacpp/m", HERMES, "parser_flag_missing", "--jinja"),
        ("ollama/m", HERMES, "calls_as_text", "toolglot parses"),
        (
            "llamacpp/qwen2.5-coder-1.5b",
            '```json\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n```',
            "calls_as_text",
            "toolglot parses",
        ),
    ],
)
def test_calls_that_come_as_text(model: str, text: str, code: str, advice: str) -> None:
    found = findings(seen(observed(saying(text), model=model), model=model))
    assert codes(found) == [code]
    assert advice in found[0].advice
    assert "1 of 1 calls were text" in found[0].evidence


def test_a_finish_reason_that_does_not_match_the_calls() -> None:
    assert codes(findings(seen(observed(calling(raw="stop"))))) == ["finish_reason_wrong"]
    assert codes(findings(seen(observed(Reply(parts=(Text("hm"),), stop=Stop("stop", "tool_calls")))))) == [
        "finish_reason_wrong"
    ]
    assert findings(seen(observed(calling(raw="stop"), model="gemini/g"), model="gemini/g")) == (), "Gemini has none"
    ended = observed(calling(raw="end_turn"), model="anthropic/claude-x")
    assert codes(findings(seen(ended, model="anthropic/claude-x"))) == ["finish_reason_wrong"]
    cut = Reply(parts=(ToolCall("c", "get_weather", '{"ci', sealed=False),), stop=Stop("length", "length"))
    assert findings(seen(observed(cut))) == ()


def test_a_stream_that_differs_does_so_twice_while_whole_answers_agree() -> None:
    whole, stream = observed(calling()), observed(saying("Let me see."), stream=True)
    (found,) = findings(seen(whole, stream, whole, stream))
    assert (found.code, found.tool_mode) == ("stream_differs", "native")
    assert found.evidence == 'whole: get_weather({"city":"Lisbon"}); streamed: no call'
    porto = Reply(parts=(ToolCall("x", "get_weather", '{"city": "Porto"}'),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(whole, stream, observed(porto), stream)) == (), "whole answers differ too: it is the model"
    assert findings(seen(whole, stream, whole, observed(calling(), stream=True))) == (), "once it was the same"
    spaced = Reply(parts=(ToolCall("x", "get_weather", '{ "city": "Lisbon" }'),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(whole, observed(spaced, stream=True))) == (), "spaces in JSON are nothing"
    light, turned = ASKED["enumerated"], '{"state": "off", "room": "kitchen"}'
    streamed = Reply(parts=(ToolCall("x", "set_light", turned),), stop=Stop("calls", "tool_calls"))
    assert findings(seen(observed(calling(light), light), observed(streamed, light, stream=True))) == (), "nor is key order"


def test_a_stream_that_breaks_is_different() -> None:
    broken = observed(Reply(), stream=True, error=UpstreamError("the connection broke"))
    found = findings(seen(observed(calling()), broken))
    assert codes(found) == ["stream_differs"]
    assert "the connection broke" in found[0].evidence


def test_calls_that_the_guard_refuses() -> None:
    invented = Reply(parts=(ToolCall("c", "browse_the_web", "{}"),), stop=Stop("calls", "tool_calls"))
    wrong = Reply(parts=(ToolCall("c", "set_timer", '{"minutes": "soon"}'),), stop=Stop("calls", "tool_calls"))
    found = findings(seen(observed(invented), observed(wrong, ASKED["number"])))
    assert codes(found) == ["unknown_name", "invalid_arguments"]
    assert "browse_the_web" in found[0].evidence
    assert "1 in 2 questions" in found[1].evidence
    assert not any(finding.grave for finding in found)


def test_a_window_that_is_too_small() -> None:
    whole = observed(calling())
    cut = seen(whole, model="ollama/m", window=WindowTest(4608, 2048))
    assert codes(findings(cut)) == ["context_too_small"]
    assert "cut to 2048" in findings(cut)[0].evidence
    assert "OLLAMA_CONTEXT_LENGTH" in findings(cut)[0].advice
    assert findings(seen(whole, model="ollama/m", window=WindowTest(4608, 4700))) == ()
    short = Reply(parts=(Text("I w"),), stop=Stop("length", "length"), usage=Usage(input=500, output=12))
    assert codes(findings(seen(observed(short, limit=200)))) == ["context_too_small"]
    assert findings(seen(observed(short, limit=12))) == (), "it wrote as much as it might"
    noted = observed(calling(), notes=("tools: so", "context: about 900 tokens are needed and vllm gives 512"))
    assert findings(seen(noted))[0].evidence == "about 900 tokens are needed and vllm gives 512"
    found = findings(seen(whole, server=ServerFacts("GET /v1/models", context_length=2048)))
    assert codes(found) == ["context_too_small"]
    assert not found[0].grave


def test_a_long_prompt_that_is_refused_shows_the_window() -> None:
    error = UpstreamError(
        "request (4700 tokens) exceeds the available context size (4096 tokens)", 400, "exceed_context_size_error"
    )
    found = findings(seen(observed(calling()), window=WindowTest(4608, None, error)))
    assert codes(found) == ["context_too_small"]
    assert findings(seen(observed(calling()), window=WindowTest(4608, None, UpstreamError("busy", 503)))) == ()
