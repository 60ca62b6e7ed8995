"""The client on every wire, over real sockets: what comes back, what is tried again, and what is never run twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.client.fault_server import FaultServer, fault_server
from tests.client.running import run
from tests.laws.conversations import body, meaning, stream
from toolglot import AsyncClient, CallerError, Fault, Request, UpstreamError, fold
from toolglot.client.mode_stats import ModeStats, server_name
from toolglot.client.retry import Policy
from toolglot.core.events import Delta

PROVIDERS = {
    "openai-chat": ("openai", "/v1/chat/completions", "/v1/chat/completions"),
    "openai-responses": ("openai-responses", "/v1/responses", "/v1/responses"),
    "anthropic": ("anthropic", "/v1/messages", "/v1/messages"),
    "gemini": ("gemini", "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent"),
    "gemini-interactions": ("gemini-interactions", "/v1beta/interactions", "/v1beta/interactions"),
    "ollama": ("ollama-cloud", "/api/chat", "/api/chat"),
}
CASES = ("one_call", "parallel_calls")
FAST = Policy(first=0.01, most=0.02)
TOOL = {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}


def http(data: bytes, kind: str = "application/json", status: str = "200 OK", headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
    return head.encode() + data


def chat(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return http(msgspec.json.encode({"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice]}))


def asking(server: FaultServer, provider: str = "openai", tmp: Path | None = None, **options: Any) -> AsyncClient:
    kept = ModeStats(tmp / "tool_modes.json") if tmp is not None else None
    return AsyncClient(
        f"{provider}/m", base_url=server.url(""), api_key="k1", retries=FAST, detect=False, mode_stats=kept, **options
    )


@pytest.mark.parametrize("wire", sorted(PROVIDERS))
@pytest.mark.parametrize("case", CASES)
def test_every_wire_whole_and_streamed(wire: str, case: str, tmp_path: Path) -> None:
    provider, whole_path, stream_path = PROVIDERS[wire]
    asked = meaning(case).request
    wanted = [(call.name, call.arguments) for call in meaning(case).reply.calls]

    async def work() -> None:
        async with fault_server() as server:
            client = asking(server, provider, tmp_path)
            request = msgspec.structs.replace(asked, model=f"{provider}/m", choice=None)
            server.says(whole_path, http(msgspec.json.encode(body(case, wire, "reply"))))
            reply = await client.complete(request)
            assert [(call.name, call.arguments) for call in reply.calls] == wanted
            assert reply.stop is not None
            assert reply.stop.reason == "calls"
            kind = "application/x-ndjson" if wire == "ollama" else "text/event-stream"
            server.says(stream_path, http(stream(case, wire), kind))
            streamed = fold([event async for event in client.stream(request)])
            assert [(call.name, call.arguments) for call in streamed.calls] == wanted
            assert streamed.text == reply.text
            await client.aclose()

    run(work())


def test_a_call_in_text_is_rescued_and_one_that_is_invented_is_not(tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            client = asking(server, tmp=tmp_path)
            server.says(
                "/v1/chat/completions", chat('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>')
            )
            reply = await client.complete("Weather in Rome?", tools=[TOOL])
            assert [call.arguments for call in reply.calls] == [{"city": "Rome"}]
            assert reply.calls[0].id.startswith("call_")
            server.says("/v1/chat/completions", chat('<tool_call>{"name": "launch", "arguments": {}}</tool_call>'))
            reply = await client.complete("Weather in Rome?", tools=[TOOL])
            assert reply.calls == []
            assert [decision.code for decision in reply.decisions] == ["rejected_unknown_tool"] * 2  # it was asked again once
            once = await client.complete("Weather in Rome?", tools=[TOOL], call_retries=0)
            assert [decision.code for decision in once.decisions] == ["rejected_unknown_tool"]
            plain = await client.complete("Weather in Rome?")
            assert plain.calls == []
            assert "launch" in plain.text  # no tools: text is text
            await client.aclose()

    run(work())


@pytest.mark.parametrize(
    "status", ["429 Too Many Requests", "503 Unavailable", "529 Overloaded", "408 Timeout", "409 Conflict"]
)
def test_what_may_be_tried_again_is(status: str, tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            answers = [http(b'{"error": {"message": "busy"}}', status=status, headers="retry-after-ms: 5\r\n"), chat("hi")]

            async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: FaultServer) -> None:
                writer.write(answers.pop(0))
                await writer.drain()
                writer.close()

            server.scripts["/v1/chat/completions"] = script
            client = asking(server, tmp=tmp_path)
            assert (await client.complete("hello")).text == "hi"
            assert len(server.requests) == 2
            await client.aclose()

    run(work())


def test_an_error_status_is_raised_with_the_providers_message(tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says(
                "/v1/chat/completions", http(b'{"error": {"message": "no such model", "code": "nope"}}', status="404 Not Found")
            )
            client = asking(server, tmp=tmp_path)
            with pytest.raises(UpstreamError, match="no such model") as caught:
                await client.complete("hello")
            assert caught.value.status == 404
            assert len(server.requests) == 1
            await client.aclose()

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_that_breaks_off_is_still_a_refusal(stream: bool, tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            client = asking(server, tmp=tmp_path)
            head = b"HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\n"
            server.says("/v1/chat/completions", head + b"who are you?")
            with pytest.raises(UpstreamError) as caught:
                await (anext(client.stream("hi")) if stream else client.complete("hi"))
            assert (caught.value.status, caught.value.message) == (401, "who are you?")
            assert len(server.requests) == 1
            await client.aclose()

    run(work())


def test_after_the_first_event_nothing_is_tried_again(tmp_path: Path) -> None:
    data = b'data: {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}\n\n'
    cut = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (
        len(data),
        data,
    )

    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", cut)
            client = asking(server, tmp=tmp_path)
            events = [event async for event in client.stream("hello")]
            assert isinstance(events[-1], Fault)
            assert "".join(event.text for event in events if isinstance(event, Delta)) == "Hel"
            assert len(server.requests) == 1
            await client.aclose()

    run(work())


def test_leaving_a_stream_closes_the_upstream(tmp_path: Path) -> None:
    data = b'data: {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}\n\n'
    begun = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (
        len(data),
        data,
    )

    async def work() -> None:
        async with fault_server() as server:
            server.stalls("/v1/chat/completions", begun)
            client = asking(server, tmp=tmp_path)
            events = client.stream("hello")
            async for event in events:
                if isinstance(event, Delta):
                    break
            await events.aclose()  # type: ignore[attr-defined]
            await server.left.wait()
            await client.aclose()

    run(work())


def test_a_stream_that_was_not_asked_for_is_read_all_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", http(stream("one_call", "openai-chat"), "text/event-stream; charset=utf-8"))
            client = asking(server, tmp=tmp_path)
            request = msgspec.structs.replace(meaning("one_call").request, model="openai/m", choice=None)
            reply = await client.complete(request)
            wanted = [(call.name, call.arguments) for call in meaning("one_call").reply.calls]
            assert [(call.name, call.arguments) for call in reply.calls] == wanted
            server.says("/v1/chat/completions", http(b"", "text/event-stream"))
            with pytest.raises(UpstreamError, match="ended early"):
                await client.complete(request)
            await client.aclose()

    run(work())


PAGE = http(b"<html>log in</html>", "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("answer", "code", "said", "asked"),
    [
        (http(b"", status="301 Moved", headers="Location: https://h/v2?key=k\r\n"), "redirected", "to https://h/v2: if", 1),
        (PAGE, "bad_answer", "a web page: check base_url", 1),
        (http(b"[1]"), "bad_answer", "not a JSON object", 1),
        (http(b""), "cut_off", "was cut off", 3),
        (http(b'{"choices": ['), "cut_off", "was cut off", 3),
        (http(b'{"detail": "Not Found"}'), "bad_answer", "contains no reply: check base_url.*Not Found", 3),
        (http(b'{"choices": []}'), "bad_answer", "contains no reply", 3),
    ],
)
def test_an_answer_of_another_kind_is_named_and_not_asked_for_again(
    answer: bytes, code: str, said: str, asked: int, tmp_path: Path
) -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", answer)
            client = asking(server, tmp=tmp_path)
            with pytest.raises(UpstreamError, match=said) as caught:
                await client.complete("hello")
            assert (caught.value.code, len(server.requests)) == (code, asked)
            await client.aclose()

    run(work())


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (PAGE, 1),
        (http(b"", status="301 Moved", headers="Location: https://h/\r\n"), 1),
        (http(b'{"detail": "Not Found"}'), 3),
    ],
)
def test_so_it_is_where_a_stream_was_asked_for(answer: bytes, asked: int, tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", answer)
            client = asking(server, tmp=tmp_path)
            with pytest.raises(UpstreamError, match="base_url"):
                await anext(client.stream("hello"))
            assert len(server.requests) == asked
            await client.aclose()

    run(work())


def test_a_key_that_the_server_repeats_is_masked(tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", http(b'{"error": {"message": "bad key sk-12345678!"}}', status="401 No"))
            client = AsyncClient("openai/m", base_url=server.url(""), api_key="sk-12345678", detect=False)
            for asked in (client.complete("hello"), anext(client.stream("hello"))):
                with pytest.raises(UpstreamError, match=r"bad key \*\*\*!"):
                    await asked
            await client.aclose()

    run(work())


@pytest.mark.parametrize("stream", [True, False])
def test_nor_is_it_where_the_answer_had_begun(stream: bool, tmp_path: Path) -> None:
    async def work() -> None:
        async with fault_server() as server:
            text = b'data: {"choices": [{"index": 0, "delta": {"content": "he"}}]}\n\n'
            broken = b'data: {"error": {"message": "bad key sk-12345678!"}}\n\n'
            server.says("/v1/chat/completions", http(text + broken, "text/event-stream"))
            client = AsyncClient("openai/m", base_url=server.url(""), api_key="sk-12345678", detect=False)
            events = [event async for event in client.stream("hello")] if stream else []
            reply = fold(events) if stream else await client.complete("hello")
            assert reply.text == "he"
            assert reply.error is not None
            assert reply.error.message == "bad key ***!"
            await client.aclose()
            target = client._target(client.route("openai/m"), "auto", 0)
            assert "sk-12345678" not in repr(target)

    run(work())


def test_the_key_is_sent_to_its_provider_only_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)

    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", http(b'{"error": {"message": "bad key"}}', status="401 Unauthorized"))
            client = asking(server, tmp=tmp_path)
            with pytest.raises(UpstreamError) as caught:
                await client.complete("hello")
            assert server.requests[0].headers["authorization"] == "Bearer k1"
            assert "k1" not in repr(caught.value)
            with pytest.raises(CallerError, match="MISTRAL_API_KEY"):
                await client.complete("hello", "mistral/x")
            await client.aclose()

    run(work())


def test_what_worked_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)

    async def work() -> None:
        async with fault_server() as server:
            kept = ModeStats(tmp_path / "tool_modes.json")
            client = AsyncClient("openai/m", base_url=server.url(""), api_key="k", detect=False, mode_stats=kept)
            server.says(
                "/v1/chat/completions", chat('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>')
            )
            await client.complete("Weather?", tools=[TOOL])
            server.says("/v1/chat/completions", chat("It is sunny."))
            await client.complete("Weather?", tools=[TOOL])
            await client.aclose()
            route = client.route("openai/m")
            mode_counts = ModeStats(tmp_path / "tool_modes.json").mode_counts(server_name(route.provider), "m")
            assert {tool_mode: (tally.tried, tally.good) for tool_mode, tally in mode_counts.items()} == {"native": (1, 1)}

    run(work())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"retries": 3}, "retries: expected a RetryPolicy"),
        ({"limits": 30}, "limits: expected TransportLimits"),
        ({"api_key": 3}, "api_key: expected a string"),
        ({"base_url": "localhost:8000"}, "base_url: must begin with http"),
        (
            {"base_url": "http://me:hush@host/v1"},
            "base_url: contains a user or password; send them as a header; an address is (?!.*hush)",
        ),
        ({"base_url": "http://host/v1?key=hush"}, "base_url: an address is http.*, with nothing behind it$"),
        ({"headers": {"x-a": None}}, "headers: expected strings"),
        ({"fallbacks": "opnai/b"}, "did you mean openai"),
        ({"fallbacks": ["gpt-5"]}, "provider/model"),
        ({"policy": "bold"}, "policy: there is no policy 'bold'"),
        ({"calls": "keep"}, "calls: there is no calls mode 'keep'"),
    ],
)
def test_wrong_use_raises_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(CallerError, match=told):
        AsyncClient(**{"model": "openai/m", "api_key": "k", **options})


def test_the_method_decides_whether_it_streams() -> None:
    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", chat("hi"))
            client: Any = AsyncClient("openai/m", base_url=server.url(""), api_key="k", detect=False)
            assert (await client.complete("hello", stream=False)).text == "hi"
            assert fold([event async for event in client.stream("hello", stream=True)]).text == "hi"
            for asked in (client.complete("hello", stream=True), anext(client.stream("hello", stream=False))):
                with pytest.raises(CallerError, match="stream: complete"):
                    await asked
            await client.aclose()

    run(work())


def test_without_a_model_key_and_address_are_the_first_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)

    async def work() -> None:
        async with fault_server() as server:
            server.says("/v1/chat/completions", chat("hi"))
            client = AsyncClient(base_url=server.url(""), api_key="k7", detect=False, mode_stats=ModeStats(tmp_path / "r"))
            assert (await client.complete("hello", "openai/m")).text == "hi"
            assert server.requests[0].headers["authorization"] == "Bearer k7"
            with pytest.raises(CallerError, match="MISTRAL_API_KEY"):
                await client.complete("hello", "mistral/m")
            await client.aclose()

    run(work())


def test_a_request_object_holds_its_own() -> None:
    async def work() -> None:
        client = AsyncClient("openai/m", api_key="k")
        with pytest.raises(CallerError, match="already contains tools"):
            await client.complete(Request("openai/m"), tools=[TOOL])
        with pytest.raises(CallerError, match="provider/model"):
            await AsyncClient().complete("hello")
        await client.aclose()

    run(work())
