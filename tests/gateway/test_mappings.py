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
