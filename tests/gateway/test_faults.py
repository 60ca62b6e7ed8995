"""Failing upstreams and invalid requests: errors in the client's format, and retries where they can help."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import fixture, in_turn, question, response_to, text
from tests.gateway.upstream_server import UpstreamResponse, streamed, upstream_server, whole
from tests.laws.conversations import stream as recorded
from toolglot.core.events import Fault
from toolglot.core.fold import fold
from toolglot.gateway.config import read_config
from toolglot.pipeline.request.route import wire_format


def message_in(wire: str, body: Any) -> str:
    """The error message in each API's format."""
    message = body["error"] if wire == "ollama" else body["error"]["message"]
    assert isinstance(message, str)
    return message


def shape_of(wire: str, body: Any) -> None:
    if wire == "anthropic":
        assert body["type"] == "error"
        assert body["error"]["type"]
    elif wire == "gemini":
        assert isinstance(body["error"]["code"], int)
        assert body["error"]["status"].isupper()
    elif wire == "gemini-interactions":
        assert isinstance(body["error"]["code"], str)
    elif wire == "ollama":
        assert next(iter(body)) == "error"
    else:
        assert body["error"]["type"]


@pytest.mark.parametrize("client", WIRES)
def test_an_upstream_error_keeps_status_message_and_retry_after(client: str) -> None:
    async def work() -> None:
        refusal = whole({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, 429, retry_after="7")
        async with upstream_server(in_turn(refusal)) as up, serving(config(up)) as gateway:
            for stream in (False, True):
                path, sent = request_of(client, question(client, "openai-chat/m"), stream=stream)
                status, body, headers = await gateway.ask("POST", path, sent)
                assert (status, headers["retry-after"]) == (429, "7")
                assert headers["x-toolglot-upstream"] == "openai-chat/m"
                shape_of(client, body)
                advice = "the server limits requests: wait, or use another model or key"
                assert message_in(client, body) == f"slow down [vllm m, status 429, {advice}]"
            up.play = in_turn(whole({"error": {"message": "slow down"}}, 429))
            assert (await gateway.ask("POST", path, sent))[0] == 429
            assert len(up.requests) == 3  # 429 is not retried

    run(work())


@pytest.mark.parametrize(
    ("keys", "status", "advice"),
    [
        ('api_key = "a-key-that-is-wrong"', 401, "status 401, the API key from the configuration is invalid]"),
        ("", 401, "status 401, the API key is missing: set VLLM_API_KEY]"),
        ("", 404, "status 404, check the model's name and base_url]"),
        ("", 400, "status 400]"),
    ],
)
def test_an_upstream_error_says_whose_it_is_and_what_to_do(keys: str, status: int, advice: str) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(whole({"error": {"message": "Nope."}}, status))) as up:
            rows = f'[server]\ndetect = false\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n{keys}\n'
            async with serving(read_config(rows + '[[route]]\nmodel = "*"\nto = "u/m"\n', environ={})) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "x"), stream=False)
                code, body, headers = await gateway.ask("POST", path, sent)
                assert (code, message_in("openai-chat", body)) == (status, f"Nope. [vllm m, {advice}")
                _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
                assert record["error"] == message_in("openai-chat", body)

    run(work())


WRONG: list[Callable[[dict[str, Any]], Any]] = [
    lambda sent: b"{",
    lambda sent: b"[]",
    lambda sent: b"\xff\xfe",
    lambda sent: {**sent, "messages": 5, "input": 5, "contents": 5},
    lambda sent: {**sent, "tools": "x"},
    lambda sent: b'{"a":' + b"[" * 5000,
    lambda sent: b'{"model":"m","messages":' + b"[" * 500 + b"]" * 500 + b"}",
]


def test_a_bad_request_error_has_the_clients_format() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for client, change in product(WIRES, WRONG):
                path, sent = request_of(client, question(client, "anthropic/m"), stream=False)
                got, body, headers = await gateway.ask("POST", path, change(sent))
                assert got == 400
                shape_of(client, body)
                assert headers["x-request-id"].startswith("req_")
            assert up.requests == []

    run(work())


@pytest.mark.parametrize("client", WIRES)
def test_lone_surrogates_are_replaced(client: str) -> None:
    """JavaScript clients may truncate a tool result inside a surrogate pair. It must not break every later request."""

    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server="record = true")) as gateway:
            for upstream in WIRES:
                path, sent = request_of(client, question(client, f"{upstream}/m", words="cut@here"), stream=False)
                body = msgspec.json.encode(sent).replace(b"@", rb"\ud83d")
                status, _, headers = await gateway.ask("POST", path, body)
                assert status == 200
                assert "cut\ufffdhere" in str(up.requests[-1].body)
                _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
                assert "cut\ufffdhere" in str(record["content"])

    run(work())


def test_unknown_models_paths_and_methods() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for client in WIRES:
                path, sent = request_of(client, question(client, "nowhere"), stream=True)
                status, body, _ = await gateway.ask("POST", path, sent)
                assert status == 404
                assert "nowhere" in message_in(client, body)
            for client in WIRES:
                path, sent = request_of(client, question(client, "gemini/" + "x" * 400), stream=False)
                assert (await gateway.ask("POST", path, sent))[0] == 404  # names are cached, so their length is limited
            for method, path, status, allowed in (
                ("GET", "/nothing", 404, None),
                ("GET", "/v1/messages", 405, "POST"),
                ("POST", "/v1/models", 405, "GET, HEAD"),
                ("POST", "/v1/responses/resp_1", 405, "DELETE, GET, HEAD"),
                ("GET", "/v1/responses", 405, "POST"),
                ("GET", "/v1beta/nothing", 404, None),
                ("POST", "/v1beta/models/x", 405, "GET, HEAD"),
                ("DELETE", "/v1/chat/completions", 405, "POST"),
            ):
                got, _, headers = await gateway.ask(method, path)
                assert (got, headers.get("allow")) == (status, allowed), path

    run(work())


@pytest.mark.parametrize("version", ["/v1beta", "/v1", ""])
def test_unsupported_gemini_methods(version: str) -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            path = f"{version}/models/gemini/m:embedContent"
            status, body, _ = await gateway.ask("POST", path, {"content": {}}, x_goog_api_key="x")
            assert (status, body["error"]["code"], body["error"]["status"]) == (404, 404, "NOT_FOUND")
            for word in ("models/gemini/m ", "embedContent", "generateContent", "streamGenerateContent", "countTokens"):
                assert word in body["error"]["message"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_error_is_retried_once(stream: bool) -> None:
    async def work() -> None:
        broken = whole({"error": {"message": "oops"}}, 503)
        async with upstream_server(in_turn(broken, text("fine"))) as up, serving(config(up)) as gateway:
            reply = await gateway.reply("openai-chat", question("openai-chat", "anthropic/m"), stream=stream)
            assert (reply.text, len(up.requests)) == ("fine", 2)
            up.play, up.requests = in_turn(broken), []
            path, sent = request_of("anthropic", question("anthropic", "gemini/m"), stream=stream)
            assert (await gateway.ask("POST", path, sent))[0] == 503
            assert len(up.requests) == 2
            up.play, up.requests = in_turn(whole({"error": {"message": "later"}}, 503, retry_after="30")), []
            status, _, headers = await gateway.ask("POST", path, sent)
            assert (status, headers["retry-after"], len(up.requests)) == (503, "30", 1)  # longer than the gateway waits

    run(work())


def test_an_unreachable_upstream_is_a_bad_gateway() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            for client in WIRES:
                path, sent = request_of(client, question(client, "ollama/m"), stream=True)
                status, body, _ = await gateway.ask("POST", path, sent)
                assert status == 502
                shape_of(client, body)

    run(work())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("failing", [whole({"error": {"message": "busy"}}, 429), whole({"error": {"message": "x"}}, 404)])
def test_the_next_route_is_used_if_the_first_fails(failing: UpstreamResponse, stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(failing)) as bad, upstream_server(in_turn(text("from b"))) as good:
            configuration = read_config(
                f'[[upstream]]\nname = "a"\nprovider = "vllm"\nbase_url = "{bad.url}"\n'
                f'[[upstream]]\nname = "b"\nprovider = "anthropic"\nbase_url = "{good.url}/v1"\napi_key = "k"\n'
                '[[route]]\nmodel = "m*"\nto = "a/one"\n[[route]]\nmodel = "*"\nto = "b/two"\n'
            )
            async with serving(configuration) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "m1"), stream=stream)
                status, body, headers = await gateway.ask("POST", path, sent)
                assert (status, headers["x-toolglot-upstream"]) == (200, "b/two")
                assert "a/one failed" in headers["x-toolglot-notes"]
                assert "from b" in str(body)
                assert good.requests[0].body["model"] == "two"

    run(work())


def test_a_rejected_request_is_not_sent_to_the_next_route() -> None:
    async def work() -> None:
        refusal = whole({"error": {"message": "bad schema"}}, 400)
        async with upstream_server(in_turn(refusal)) as up:
            configuration = read_config(
                f'[server]\ndetect = false\n[[upstream]]\nname = "a"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "a/one"\n[[route]]\nmodel = "*"\nto = "a/two"\n'
            )
            async with serving(configuration) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=False)
                assert (await gateway.ask("POST", path, sent))[0] == 400
                assert len(up.requests) == 1

    run(work())


@pytest.mark.parametrize("client", WIRES)
def test_a_broken_stream_keeps_its_text_and_ends_with_an_error(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                data = recorded("plain_text", upstream)
                up.play = in_turn(streamed(upstream, data[: len(data) * 3 // 4], breaks=True))
                path, sent = request_of(client, question(client, f"{upstream}/m", ()), stream=True)
                status, body, _ = await gateway.ask("POST", path, sent)
                assert status == 200
                events = wire_format(client).wire.reader(None).feed(body)  # not `close`, which adds missing ends
                assert isinstance(events[-1], Fault), (upstream, body)
                assert fold(events).text

    run(work())


def test_a_broken_whole_response_is_a_bad_gateway() -> None:
    async def work() -> None:
        half = UpstreamResponse(200, {}, [b'{"half'], breaks=True)
        async with upstream_server(in_turn(half)) as up, serving(config(up)) as gateway:
            path, sent = request_of("gemini", question("gemini", "ollama/m", ()), stream=False)
            assert (await gateway.ask("POST", path, sent))[0] == 502
            assert len(up.requests) == 2

    run(work())


def test_a_response_that_is_not_json_is_a_bad_gateway() -> None:
    async def work() -> None:
        async with (
            upstream_server(lambda request: UpstreamResponse(200, {}, [b"<html>"])) as up,
            serving(config(up)) as gateway,
        ):
            for upstream in WIRES:
                path, sent = request_of("anthropic", question("anthropic", f"{upstream}/m"), stream=False)
                status, body, _ = await gateway.ask("POST", path, sent)
                assert (status, body["type"]) == (502, "error"), upstream

    run(work())


def test_a_redirect_is_not_followed() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as other:
            moved = UpstreamResponse(307, {"location": other.url}, [b"{}"])
            async with upstream_server(in_turn(moved)) as up, serving(config(up)) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
                status, _, _ = await gateway.ask("POST", path, sent)
                assert (status, len(up.requests), other.requests) == (502, 1, [])

    run(work())


def test_text_is_forwarded_while_a_slow_upstream_streams() -> None:
    async def work() -> None:
        slow = text("one two three four five " * 4)
        async with upstream_server(lambda request: response_to(request, slow, 0.02)) as up, serving(config(up)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "anthropic/m", ()), stream=True)
            answer = await gateway.send("POST", path, sent)
            pieces = [piece async for piece in answer]
            await answer.aclose()
            assert len(pieces) > 3

    run(work())


def test_an_internal_error_does_not_reveal_its_cause(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError("a secret of the house")

        monkeypatch.setattr("toolglot.client.session.fit_request", broken)
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for client in WIRES:
                path, sent = request_of(client, question(client, "gemini/m"), stream=True)
                status, body, _ = await gateway.ask("POST", path, sent)
                assert status == 500
                shape_of(client, body)
                assert "secret" not in str(body)

    run(work())
    assert "a secret of the house" in caplog.text


@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("is_stream", [False, True])
def test_an_upstream_key_in_a_stream_error_is_redacted(client: str, is_stream: bool) -> None:
    first = b'data: {"choices": [{"index": 0, "delta": {"content": "he"}}]}\n\n'
    broken = b'data: {"error": {"message": "bad key sk-of-the-owner!"}}\n\n'

    async def work() -> None:
        async with upstream_server(lambda _: streamed("openai-chat", first + broken)) as up:
            rows = f'[[upstream]]\nname = "a"\nprovider = "openai"\nbase_url = "{up.url}/v1"\napi_key = "sk-of-the-owner"\n'
            configuration = read_config(f'[server]\nport = 0\ndetect = false\n{rows}[[route]]\nmodel = "*"\nto = "a/*"\n')
            async with serving(configuration) as gateway:
                path, sent = request_of(client, question(client, "m"), stream=is_stream)
                answer = await gateway.send("POST", path, sent)
                body = await answer.read()
                await answer.aclose()
                assert b"sk-of-the-owner" not in body
                assert b"bad key ***!" in body

    run(work())
