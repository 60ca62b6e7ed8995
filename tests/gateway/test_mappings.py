"""What several vendors have under other names arrives under the upstream's name: marks of caches, examples, summaries."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

import toolglot
from tests.gateway.running import config, run, serving
from tests.gateway.scripts import in_turn, text
from tests.gateway.upstream_server import upstream_server
from toolglot.pipeline.request.route import resolve
from toolglot.wires import find_wire

MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
BREAKPOINT = {"mode": "explicit"}
TOOL = {
    "name": "f",
    "description": "Does it.",
    "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "input_examples": [{"a": 1}, {"a": 2}],
}


@pytest.mark.parametrize(
    ("model", "marked"),
    [("openai/gpt-5.6", True), ("openai-responses/gpt-5.6-luna", True), ("openai/gpt-5", False), ("vllm/gpt-5.6", False)],
)
def test_cache_control_is_a_breakpoint_where_the_model_has_them(model: str, marked: bool) -> None:
    wire, route, notes = find_wire("anthropic"), resolve(model), []  # type: ignore[var-annotated]
    assert wire is not None
    messages = [{"role": "user", "content": [MARKED, {"type": "text", "text": "y"}]}]
    request = wire.read_request({"model": route.model, "max_tokens": 9, "messages": messages})
    written = route.wire.write_request(request, notes, route.provider.quirks)
    first = (written.get("messages") or written["input"])[0]["content"][0]
    assert (first.get("prompt_cache_breakpoint") == BREAKPOINT, bool(notes)) == (marked, not marked)


@pytest.mark.parametrize(("ttl", "control"), [(None, {}), ("30m", {}), ("12h", {"ttl": "1h"})])
@pytest.mark.parametrize("source", ["openai-responses", "openai-chat"])
def test_a_breakpoint_is_cache_control(source: str, ttl: str | None, control: dict[str, str]) -> None:
    mark = {**BREAKPOINT, **({"ttl": ttl} if ttl else {})}
    kind, key = ("input_text", "input") if source == "openai-responses" else ("text", "messages")
    messages = [{"role": "user", "content": [{"type": kind, "text": "x", "prompt_cache_breakpoint": mark}]}]
    written: Any = toolglot.convert({"model": "m", key: messages}, source=source, target="anthropic")
    assert written["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", **control}


@pytest.mark.parametrize("ask", ["native", "dialect:hermes", "constrained"])
def test_examples_of_arguments_reach_every_model(ask: str) -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(text("x"))) as up,
            serving(config(up, "openai-chat", route=f'ask = "{ask}"')) as gateway,
        ):
            body = {"model": "openai-chat/m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "tools": [TOOL]}
            await gateway.ask("POST", "/v1/messages", body)
            sent = str(up.requests[0].body).replace("\\", "")
            assert "Examples of arguments:" in sent
            assert '{"a":1}' in sent

    run(work())


def test_examples_stay_examples_where_the_api_has_them() -> None:
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "tools": [TOOL]}
    written: Any = toolglot.convert(asked, source="anthropic", target="anthropic")
    assert written["tools"] == [TOOL]


def test_a_summary_stands_for_what_came_before_it() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("x"))) as up, serving(config(up, "openai-chat", "anthropic")) as gateway:
            compaction = {"type": "compaction", "content": "They spoke of otters."}
            messages: Any = [
                {"role": "user", "content": "long ago"},
                {"role": "assistant", "content": [{"type": "text", "text": "old"}]},
                {"role": "user", "content": "more"},
                {"role": "assistant", "content": [compaction, {"type": "text", "text": "After it."}]},
                {"role": "user", "content": "And now?"},
            ]
            async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="x", max_retries=0) as client:
                for model in ("openai-chat/m", "anthropic/m"):
                    await client.messages.create(model=model, max_tokens=9, system="Be kind.", messages=messages)
            chat, own = (one.body["messages"] for one in up.requests)
            assert [(one["role"], one["content"]) for one in chat] == [
                ("system", "Be kind."),
                ("user", "Summary of the conversation up to here:\nThey spoke of otters."),
                ("assistant", "After it."),
                ("user", "And now?"),
            ]
            assert own[3]["content"][0] == compaction

    run(work())


CALLERS = {"anthropic": ["code_execution_20260120"], "openai-responses": ["programmatic"]}


def _with_callers(wire: str, callers: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}}
    tool: dict[str, Any]
    if wire == "anthropic":
        tool = {"name": "f", "input_schema": schema, "allowed_callers": callers}
        return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "tools": [tool]}
    tool = {"type": "function", "name": "f", "parameters": schema, "strict": False, "allowed_callers": callers}
    return {"model": "m", "input": "?", "tools": [tool]}


@pytest.mark.parametrize(("source", "target"), [tuple(CALLERS), tuple(reversed(CALLERS))])
def test_that_only_the_model_may_call_a_tool_is_carried_and_programs_are_a_note(source: str, target: str) -> None:
    read, write = find_wire(source), find_wire(target)
    assert read is not None
    assert write is not None
    for callers in (["direct"], CALLERS[source]):
        direct, notes = callers == ["direct"], []  # type: ignore[var-annotated]
        body = _with_callers(source, callers)
        [tool] = write.write_request(read.read_request(body), notes, resolve("anthropic/m").provider.quirks)["tools"]
        assert tool.get("allowed_callers") == (callers if direct else None)
        assert any("allowed_callers" in note for note in notes) is not direct
        assert read.write_request(read.read_request(body), [], resolve("anthropic/m").provider.quirks)["tools"] == body["tools"]


PROGRAM = {"type": "program", "caller_id": "c0"}
HISTORY: dict[str, list[dict[str, Any]]] = {
    "openai-responses": [
        {"type": "program", "id": "p", "call_id": "c0", "code": "f()", "fingerprint": "FP"},
        {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}", "caller": PROGRAM},
        {"type": "function_call_output", "call_id": "t1", "output": "1", "caller": PROGRAM},
        {"type": "program_output", "id": "o", "call_id": "c0", "result": "1", "status": "completed"},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "f()"}},
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "f",
                    "input": {},
                    "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"},
                },
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}]},
    ],
}


@pytest.mark.parametrize(("source", "target"), [tuple(CALLERS), tuple(reversed(CALLERS))])
def test_calls_that_a_program_made_stay_whole_at_home_and_are_plain_calls_elsewhere(source: str, target: str) -> None:
    read, write = find_wire(source), find_wire(target)
    assert read is not None
    assert write is not None
    key = "messages" if source == "anthropic" else "input"
    quirks, notes = resolve("anthropic/m").provider.quirks, []  # type: ignore[var-annotated]
    body = {**_with_callers(source, CALLERS[source]), key: HISTORY[source]}
    assert read.write_request(read.read_request(body), notes, quirks)[key] == HISTORY[source]
    assert notes == []
    written = write.write_request(read.read_request(body), notes, quirks)
    assert "t1" in str(written)
    assert "caller" not in str(written)
    assert any("call t1: caller exists only on" in note for note in notes)
    assert any("block that only" in note for note in notes)
