"""Tools that come again: the same ones, cut out of the body; never those of somebody else, and never too many."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest

from toolglot import CallerError
from toolglot.core.fold import unfold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.pipeline.request import request_bytes as translate
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.request_bytes import read_request_bytes, write_request_bytes
from toolglot.pipeline.request.route import resolve, wire_format
from toolglot.pipeline.request.toolset_cache import MARK, ToolsetCache
from toolglot.pipeline.response.response_pipeline import ResponsePipeline
from toolglot.wires import NAMES

CHAT = "openai-chat"


def tools(*names: str) -> list[Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def body(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> ToolsetCache:
    known = ToolsetCache()
    monkeypatch.setattr(translate, "_TOOLS", known)
    return known


def read(data: bytes, wire: str = CHAT) -> Request:
    return read_request_bytes(data, wire_format(wire).wire)


@pytest.mark.parametrize("space", [b"", b" ", b"\n  "])
def test_a_hit_and_a_miss_give_the_same(space: bytes) -> None:
    data = encode(body(temperature=0.5, tools=tools("alpha", "beta"), user="u")).replace(b'"tools":', b'"tools":' + space)
    first, second = read(data), read(data)
    assert first == second
    assert first.tools is second.tools
    assert [tool.name for tool in first.tools] == ["alpha", "beta"]


def test_they_are_cut_out_where_they_stand(fresh: ToolsetCache) -> None:
    raw = encode(tools("alpha"))
    data = encode(body(tools=tools("alpha"), user="u"))
    assert fresh.cut_out(CHAT, data) is None
    known = fresh.read(CHAT, raw)
    found = fresh.cut_out(CHAT, data)
    assert found is not None
    assert found[0] == data.replace(raw, MARK)
    assert found[1] is known
    assert fresh.cut_out("anthropic", data) is None
    assert fresh.cut_out(CHAT, data.replace(b"alpha", b"alphb")) is None


def test_what_is_new_in_a_body_is_looked_at() -> None:
    data = encode(body(tools=tools("alpha"), user="u"))
    seen: list[bytes] = []
    for _ in range(2):
        read_request_bytes(data, wire_format(CHAT).wire, seen.append)
    assert seen == [data, data.replace(encode(tools("alpha")), MARK)]
    seen.clear()
    deeper = encode({"metadata": {"tools": tools("alpha")}, **body()})
    read_request_bytes(deeper, wire_format(CHAT).wire, seen.append)
    assert seen[-1] == deeper  # they were not the request's tools, and all of it is read


def test_tools_that_differ_behind_the_same_beginning() -> None:
    for names in (("alpha", "beta"), ("alpha", "zeta"), ("alpha", "gamma"), ("alpha",), ("alpha", "beta", "gamma")) * 2:
        assert tuple(tool.name for tool in read(encode(body(tools=tools(*names)))).tools) == names


def test_the_same_text_elsewhere_is_not_the_requests_tools() -> None:
    known = tools("alpha", "beta")
    read(encode(body(tools=known)))
    assert read(encode({"metadata": {"tools": known}, **body()})).tools == ()
    assert [tool.name for tool in read(encode({"metadata": {"tools": known}, **body(tools=tools("mine"))})).tools] == ["mine"]
    assert read(encode({'a"tools': known, **body()})).tools == ()
    call = {"role": "user", "content": '{"tools":' + encode(known).decode() + "}"}
    assert read(encode({**body(), "messages": [call]})).messages[0].parts[0].text == call["content"]  # type: ignore[union-attr]


def test_an_error_speaks_of_the_body_as_it_came() -> None:
    good = encode(body(tools=tools("alpha", "beta"), user="u"))
    bad = good.replace(b'"u"', b"u")
    with pytest.raises(CallerError) as unknown:
        read(bad)
    read(good)
    with pytest.raises(CallerError) as known:
        read(bad)
    assert str(known.value) == str(unknown.value)


def test_what_a_wire_knows_another_does_not() -> None:
    raw = [{"name": "alpha", "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}}}]
    assert read(encode(body(max_tokens=9, tools=raw)), "anthropic").tools[0].schema == raw[0]["input_schema"]
    assert read(encode(body(tools=raw))).tools[0].schema is None


def test_no_more_than_so_many_and_so_large() -> None:
    few = ToolsetCache(most=3)
    used = few.read(CHAT, encode(tools("again")))
    for at in range(10):
        few.read(CHAT, encode(tools(f"tool_{at}")))
        assert few.read(CHAT, encode(tools("again"))) is used
    assert len(few) == 3
    assert few.cut_out(CHAT, encode(body(tools=tools("again")))) is not None
    assert few.cut_out(CHAT, encode(body(tools=tools("tool_3")))) is None
    small = ToolsetCache(most_bytes=64_000)
    for at in range(50):
        small.read(CHAT, encode(tools(f"tool_{at}")))
    assert 0 < len(small) * len(encode(tools("tool_10"))) <= 1000
    small.read(CHAT, encode(tools("x" * 2000)))
    assert len(small) == 0


def test_nothing_that_is_done_with_them_changes_them() -> None:
    data = encode(body(tools=tools("alpha", "beta"), tool_choice="required"))
    kept = read(data).tools
    before = encode(kept)
    for wire in NAMES:
        write_request_bytes(read(data), wire_format(wire), [])
    for model in ("openai/gpt-5.2", "gemini/gemini-2.5-pro", "ollama/llama3.2:1b"):
        plan = fit_request(read(data), resolve(model))
        pipeline = ResponsePipeline(plan)
        reply = Reply(parts=(ToolCall("c", "alpha", '{"q": 7}'), ToolCall("d", "beta", "{")), stop=Stop("calls"))
        assert [out for event in unfold(reply) for out in pipeline.feed([event])]
    assert read(data).tools is kept
    assert encode(kept) == before


def test_the_bound_is_one_of_memory_held_and_not_of_json() -> None:
    limit = 2_000_000
    cache = ToolsetCache(most_bytes=limit)
    cache.read(CHAT, encode(tools("warm")))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for at in range(60):
            cache.read(CHAT, encode([tool for number in range(20) for tool in tools(f"tool_{at}_{number}")]))
        assert len(cache) > 5
        assert tracemalloc.get_traced_memory()[0] - before <= limit
    finally:
        tracemalloc.stop()
