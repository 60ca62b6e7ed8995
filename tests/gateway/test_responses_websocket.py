"""Responses over a WebSocket, with the OpenAI SDK's client, and with bare frames for what no SDK sends."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from openai import AsyncOpenAI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, held, in_turn, question, response_to, text, weather
from tests.gateway.upstream_server import Play, UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.core.messages import Reasoning, Text
from toolglot.core.reply import Reply, Stop, Usage

_KEYS = 'keys = ["key-one-0123456789", "key-two-0123456789"]'
_ONE = {"Authorization": "Bearer key-one-0123456789"}
_TOOLS = question("openai-responses", "m")["tools"]


def _sdk(gateway: Running) -> Any:
    """A connection of the SDK: its many types of events are told apart by name here."""
    return AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="any", max_retries=0).responses.connect()


def _url(gateway: Running) -> str:
    return f"ws://127.0.0.1:{gateway.port}/v1/responses"


def _bare(gateway: Running) -> connect:
    return connect(_url(gateway))


async def _until_end(connection: Any) -> list[Any]:
    """The events of one response."""
    events = []
    async for event in connection:
        events.append(event)
        if event.type in ("response.completed", "response.failed", "response.incomplete", "error"):
            return events
    raise AssertionError("the connection ended")


def test_the_sdk_continues_a_conversation_without_storing_it() -> None:
    async def work() -> None:
        play = in_turn(calls(weather({"city": "Paris"})), text("It is warm."), text("Yes."))
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            sent = {"model": "anthropic/m", "store": False, "tools": _TOOLS}
            await connection.response.create(**sent, input="Weather in Paris?", instructions="Be brief.")
            events = await _until_end(connection)
            assert [event.sequence_number for event in events] == list(range(len(events)))
            assert {event.type for event in events} >= {"response.created", "response.function_call_arguments.done"}
            first = events[-1].response
            call = first.output[0]
            result = {"type": "function_call_output", "call_id": call.call_id, "output": "18C"}
            await connection.response.create(**sent, input=[result], previous_response_id=first.id)
            second = (await _until_end(connection))[-1].response
            assert second.output_text == "It is warm."
            await connection.response.create(**sent, input="Sure?", previous_response_id=second.id)
            assert (await _until_end(connection))[-1].response.output_text == "Yes."
            seen = str(up.requests[-1].body)
            for words in ("Weather in Paris?", "get_weather", "18C", "It is warm.", "Sure?"):
                assert words in seen
            assert "Be brief." not in seen
            status, _, _ = await gateway.ask("GET", f"/v1/responses/{second.id}")
            assert status == 404  # not stored
            records = gateway.gateway.records.recent()
            assert [(one.status, one.model, one.output) for one in records] == [(200, "anthropic/m", 5)] * 3

    run(work())


def test_another_connection_knows_only_what_is_stored() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up)) as gateway:
            ids = []
            for store in (False, True):
                async with _sdk(gateway) as connection:
                    await connection.response.create(model="gemini/m", input="Hi", store=store)
                    ids.append((await _until_end(connection))[-1].response.id)
            async with _sdk(gateway) as connection:
                await connection.response.create(model="gemini/m", input="Hi", previous_response_id=ids[0])
                failed = (await _until_end(connection))[-1]
                assert (failed.type, failed.status, failed.error.code) == ("error", 400, "previous_response_not_found")
                await connection.response.create(model="gemini/m", input="And?", previous_response_id=ids[1])
                assert (await _until_end(connection))[-1].response.output_text == "Hello."

    run(work())


def test_a_response_whose_continuation_fails_is_forgotten() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            await connection.response.create(model="openai-chat/m", input="one", store=False)
            first = (await _until_end(connection))[-1].response.id
            wrong = {"type": "function_call_output", "call_id": "call_unknown", "output": "18C"}
            for given, code in (([wrong], None), ("two", "previous_response_not_found")):
                await connection.response.create(model="openai-chat/m", input=given, previous_response_id=first, store=False)
                failed = await connection.recv()
                assert (failed.status, failed.error.code) == (400, code)
            assert len(up.requests) == 1

    run(work())


def test_what_a_connection_knows_is_limited() -> None:
    async def work() -> None:
        server = "max_body = 4000\nmax_store = 6000"
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up, server=server)) as gateway:
            ids = []
            async with _sdk(gateway) as connection, _sdk(gateway) as other:
                for _ in range(3):
                    await connection.response.create(model="gemini/m", input="word " * 300, store=False)
                    ids.append((await _until_end(connection))[-1].response.id)
                for id, ends in ((ids[0], "error"), (ids[2], "response.completed")):
                    await connection.response.create(model="gemini/m", input="And?", store=False, previous_response_id=id)
                    assert (await _until_end(connection))[-1].type == ends
                for _ in range(3):
                    await other.response.create(model="gemini/m", input="word " * 300, store=False)
                    await _until_end(other)
                assert gateway.gateway.recent_room.used <= 6000
            while gateway.gateway.sockets.total():
                await asyncio.sleep(0.01)
            assert gateway.gateway.recent_room.used == 0

    run(work())


def test_a_warm_up_sends_nothing_upstream() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            await connection.response.create(model="openai-chat/m", input="The plan.", store=False, generate=False)
            warm = (await _until_end(connection))[-1].response
            assert (warm.status, warm.output, up.requests) == ("completed", [], [])
            await connection.response.create(model="openai-chat/m", input="Go.", store=False, previous_response_id=warm.id)
            await _until_end(connection)
            assert "The plan." in str(up.requests[-1].body)
            await connection.response.create(model="none/m", input="x", generate=False)
            assert (await _until_end(connection))[-1].status == 404

    run(work())


def test_errors_leave_the_connection_usable() -> None:
    async def work() -> None:
        busy = UpstreamResponse(429, {"retry-after": "7"}, [b'{"error":{"message":"slow down","type":"rate_limit"}}'])
        async with (
            upstream_server(in_turn(busy, text("Hello."))) as up,
            serving(config(up)) as gateway,
            _bare(gateway) as socket,
        ):
            for sent, status in (
                ("no JSON", 400),
                ("[]", 400),
                ({"type": "response.unknown"}, 400),
                ({"type": "response.create", "model": "nobody", "input": "x"}, 404),
                ({"type": "response.create", "input": "x"}, 400),
                ({"type": "response.create", "model": "openai-chat/m", "input": "x", "background": True}, 400),
                ({"type": "response.create", "model": "openai-chat/m", "input": "x", "stream_id": 7}, 400),
            ):
                event = await _asked(socket, sent)
                assert (event["type"], event["status"]) == ("error", status), event
                assert event["error"]["message"]
            event = await _asked(socket, {"type": "response.create", "model": "openai-chat/m", "input": "x"})
            assert (event["status"], event["headers"]["retry-after"]) == (429, "7")
            assert event["error"]["headers"] == event["headers"]
            event = await _asked(socket, {"type": "response.create", "model": "openai-chat/m", "input": "x"})
            assert event["type"] == "response.created"

    run(work())


async def _asked(socket: ClientConnection, sent: Any) -> Any:
    await socket.send(sent if isinstance(sent, str) else json.dumps(sent))
    return json.loads(await socket.recv())


def test_a_key_is_needed_and_its_limits_count() -> None:
    async def work() -> None:
        server = f"{_KEYS}\nmax_concurrent = 1"
        async with upstream_server(_slow(asyncio.Event())) as up, serving(config(up, server=server)) as gateway:
            url = f"ws://127.0.0.1:{gateway.port}/responses"  # without /v1
            with pytest.raises(InvalidStatus) as missing:
                await connect(url)
            assert missing.value.response.status_code == 401
            async with connect(url, additional_headers=_ONE) as socket:
                sent = {"type": "response.create", "model": "openai-chat/m", "input": "slow"}
                assert (await _asked(socket, {**sent, "stream_id": "a"}))["type"] == "response.created"
                await socket.send(json.dumps({**sent, "stream_id": "b"}))
                while (event := json.loads(await socket.recv()))["stream_id"] == "a":
                    pass
                assert (event["status"], event["error"]["code"]) == (429, "too_many_at_once")
                with pytest.raises(InvalidStatus) as full:
                    await connect(url, additional_headers=_ONE)
                assert full.value.response.status_code == 429

    run(work())


def _slow(go_on: asyncio.Event) -> Play:
    """The end of a slow response comes once `go_on` is set."""

    def play(request: UpstreamRequest) -> UpstreamResponse:
        response = response_to(request, text("word " * 60))
        return held(response, go_on) if "slow" in str(request.body) else response

    return play


def test_lanes_run_at_the_same_time_and_each_in_order() -> None:
    async def work() -> None:
        go_on = asyncio.Event()
        async with upstream_server(_slow(go_on)) as up, serving(config(up)) as gateway, _bare(gateway) as socket:
            for lane, words in (("a", "slow"), ("a", "second"), ("b", "quick")):
                sent = {"type": "response.create", "model": "openai-chat/m", "input": words, "stream_id": lane}
                await socket.send(json.dumps(sent))
            seen: list[tuple[str, str]] = []
            while len(seen) < 6:
                event = json.loads(await socket.recv())
                if event["type"] in ("response.created", "response.completed"):
                    seen.append((event["stream_id"], event["type"]))
                if ("b", "response.completed") in seen:
                    go_on.set()
            assert seen.index(("b", "response.completed")) < seen.index(("a", "response.completed"))
            assert [kind for lane, kind in seen if lane == "a"] == ["response.created", "response.completed"] * 2

    run(work())


def _talks(request: UpstreamRequest) -> UpstreamResponse:
    """The first answer goes on for minutes."""
    gap = 0.0 if "in German" in str(request.body) else 0.2
    return response_to(request, text("word " * 6000 if gap else "Gut."), gap=gap)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_a_running_response_is_steered(wire: str) -> None:
    async def work() -> None:
        async with (
            upstream_server(_talks) as up,
            serving(config(up)) as gateway,
            _sdk(gateway) as connection,
        ):
            await connection.response.create(model=f"{wire}/m", input="talk", instructions="Be kind.", stream_id="main")
            events = [await connection.recv()]
            while events[-1].type != "response.output_text.delta":
                events.append(await connection.recv())
            first = events[0].response.id
            await connection.response.steer(input="in German", previous_response_id=first)
            events += await _until_end(connection)
            await up.left.wait()
            accepted = next(event for event in events if event.type == "response.steer.accepted")
            assert (accepted.steer.previous_response_id, accepted.stream_id) == (first, "main")
            assert [event.sequence_number for event in events] == list(range(len(events)))
            end = events[-1]
            assert (end.type, end.response.id, end.response.incomplete_details.reason) == (
                "response.incomplete",
                first,
                "steered",
            )
            [message] = end.response.output
            assert message.status == "incomplete"
            deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
            assert message.content[0].text == deltas
            later = await _until_end(connection)
            assert later[0].type == "response.created"
            assert (later[-1].response.previous_response_id, later[-1].stream_id) == (first, "main")
            assert later[-1].response.output_text == "Gut."
            seen = str(up.requests[-1].body)
            assert all(words in seen for words in ("talk", deltas, "in German", "Be kind."))
            await connection.response.steer(input="too late", previous_response_id=later[-1].response.id)
            assert (await connection.recv()).error.code == "response_already_completed"

    run(work())


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_a_thought_that_is_cut_is_forgotten(wire: str) -> None:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        if "in German" in str(request.body):
            return response_to(request, text("Gut."))
        thought = Reasoning("hmm " * 6000, {"openai-responses": {"id": "rs_1"}})
        return response_to(request, Reply("r", "m", (thought, Text("Good.")), Stop("stop"), Usage(1, 2)), gap=0.2)

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            await connection.response.create(model=f"{wire}/m", input="talk")
            events = [await connection.recv()]
            while events[-1].type != "response.reasoning_summary_text.delta":
                events.append(await connection.recv())
            await connection.response.steer(input="in German", previous_response_id=events[0].response.id)
            assert (await _until_end(connection))[-1].type == "response.incomplete"
            assert (await _until_end(connection))[-1].response.output_text == "Gut."
            assert "hmm" not in str(up.requests[-1].body)

    run(work())


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_a_call_that_has_begun_is_not_cut(wire: str) -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return response_to(request, calls(weather({"city": "Paris" * 100}), words="Let me see."), gap=0.05)

        async with (
            upstream_server(play) as up,
            serving(config(up, route='calls = "pass"')) as gateway,
            _sdk(gateway) as connection,
        ):
            await connection.response.create(model=f"{wire}/m", input="Weather?", tools=_TOOLS)
            events = [await connection.recv()]
            while events[-1].type != "response.output_item.added" or events[-1].item.type != "function_call":
                events.append(await connection.recv())
            await connection.response.steer(input="in German", previous_response_id=events[0].response.id)
            end = (await _until_end(connection))[-1]
            assert (end.type, end.response.output[-1].status) == ("response.completed", "completed")
            pending = await connection.recv()
            while pending.type == "response.steer.accepted":
                pending = await connection.recv()
            assert pending.type == "response.steer.pending"

    run(work())


def test_steering_waits_for_the_results_of_tools() -> None:
    async def work() -> None:
        play = in_turn(calls(weather({"city": "Paris"})), text("Warm."))
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            await connection.response.create(model="openai-chat/m", input="Weather?", tools=_TOOLS)
            first = (await _until_end(connection))[-1].response
            await connection.response.steer(input="in German", previous_response_id=first.id)
            accepted, pending = await connection.recv(), await connection.recv()
            assert (accepted.type, pending.type) == ("response.steer.accepted", "response.steer.pending")
            stub = pending.required_input[0]
            assert (stub.type, stub.call_id, stub.name) == ("function_call_output", first.output[0].call_id, "get_weather")
            result = {**stub.to_dict(), "output": "18C"}
            await connection.response.create(model="openai-chat/m", input=[result], tools=_TOOLS, previous_response_id=first.id)
            await _until_end(connection)
            seen = str(up.requests[-1].body["messages"])
            assert "18C" in seen
            assert "in German" in seen

    run(work())


@pytest.mark.parametrize(
    ("steer", "code"),
    [
        ({"previous_response_id": "resp_unknown", "input": "x"}, "response_not_found"),
        ({"input": "x"}, "invalid_input"),
        ({"previous_response_id": "resp_1", "input": []}, "invalid_input"),
        ({"previous_response_id": "resp_1", "input": [{"role": "system", "content": "x"}]}, "invalid_input"),
        ({"previous_response_id": "resp_1", "input": "x", "stream_id": "a"}, "invalid_input"),
    ],
)
def test_a_wrong_steer_gives_its_input_back(steer: dict[str, Any], code: str) -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway, _bare(gateway) as socket:
            event = await _asked(socket, {"type": "response.steer", **steer})
            assert (event["type"], event["error"]["code"]) == ("response.steer.failed", code)
            assert event["steer"]["input"] == steer["input"]

    run(work())


def test_a_steer_whose_successor_fails_comes_back() -> None:
    async def work() -> None:
        broken = UpstreamResponse(400, {}, [b'{"error":{"message":"no more"}}'])

        go_on = asyncio.Event()

        def play(request: UpstreamRequest) -> UpstreamResponse:
            return broken if "in German" in str(request.body) else held(response_to(request, text("word " * 60)), go_on)

        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as connection:
            await connection.response.create(model="openai-chat/m", input="slow")
            first = (await connection.recv()).response.id
            await connection.response.steer(input="in German", previous_response_id=first)
            while (await connection.recv()).type != "response.steer.accepted":
                pass
            go_on.set()
            await _until_end(connection)
            error = await connection.recv()
            assert (error.type, error.status) == ("error", 400)
            failed = await connection.recv()
            assert (failed.type, failed.error.code) == ("response.steer.failed", "successor_creation_failed")
            assert (failed.steer.input, failed.steer.previous_response_id) == ("in German", first)

    run(work())


# -- the connection itself


def test_close_codes() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server="max_body = 5000")) as gateway:
            url = f"ws://127.0.0.1:{gateway.port}/v1/responses"
            for message, code in (("x" * 6000, 1009), (b"binary", 1003)):
                async with connect(url) as socket:
                    await socket.send(message)
                    with pytest.raises(ConnectionClosed):
                        await socket.recv()
                    assert socket.close_code == code
            async with connect(url) as socket:
                await socket.send(["part " * 100] * 20)  # fragments count together
                with pytest.raises(ConnectionClosed):
                    await socket.recv()
                assert socket.close_code == 1009
            async with connect(url) as socket:
                await (await socket.ping())  # answered
            assert socket.close_code == 1000
        assert not gateway.gateway.sockets.total()

    run(work())


def test_a_silent_connection_is_closed_and_a_dead_one_is_noticed() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server="websocket_idle = 0.2")) as gateway, _bare(gateway) as socket:
            with pytest.raises(ConnectionClosed):
                await socket.recv()
            assert socket.close_code == 1000
        async with serving(config("http://127.0.0.1:9", server="ping = 0.1")) as gateway:
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            writer.write(_handshake())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
            assert (await reader.readexactly(2)) == b"\x89\x00"  # a ping, which is not answered
            assert (await reader.readexactly(4))[:4] == b"\x88" + bytes([2 + len("no answer to a ping")]) + (1011).to_bytes(2)
            writer.close()

    run(work())


def _handshake(*more: str) -> bytes:
    lines = ["GET /v1/responses HTTP/1.1", "Host: localhost", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket"]
    lines += more or ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_handshake_is_checked() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            for more, status in (
                (("Sec-WebSocket-Version: 8", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), b"400"),
                (("Sec-WebSocket-Version: 13",), b"400"),
                (("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"), b"400"),
                (
                    (
                        "Sec-WebSocket-Version: 13",
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                        "Origin: https://evil.example",
                    ),
                    b"403",
                ),
            ):
                answer = await gateway.raw(_handshake(*more))
                assert answer.split()[1] == status, answer

    run(work())


def test_a_client_that_leaves_ends_its_responses() -> None:
    async def work() -> None:
        async with upstream_server(_slow(asyncio.Event())) as up, serving(config(up)) as gateway:
            socket = await _bare(gateway)
            await _asked(socket, {"type": "response.create", "model": "openai-chat/m", "input": "slow"})
            await socket.close()
            while gateway.gateway.gate.running:
                await asyncio.sleep(0.01)
            assert [one.status for one in gateway.gateway.records.recent()] == [499]

    run(work())


def test_a_stopping_gateway_finishes_the_response_and_goes_away() -> None:
    async def work() -> None:
        go_on = asyncio.Event()
        async with upstream_server(_slow(go_on)) as up, serving(config(up)) as gateway, _bare(gateway) as socket:
            await _asked(socket, {"type": "response.create", "model": "openai-chat/m", "input": "slow"})
            stopping = asyncio.ensure_future(gateway.stop())
            await asyncio.sleep(0)
            go_on.set()
            kinds = [json.loads(message)["type"] async for message in _messages(socket)]
            assert kinds[-1] == "response.completed"
            assert socket.close_code == 1001
            await stopping

    run(work())


async def _messages(socket: ClientConnection) -> Any:
    while True:
        try:
            yield await socket.recv()
        except ConnectionClosed:
            return


def _masked(opcode: int, payload: bytes) -> bytes:
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x81\x02{}", 1002),  # not masked
        (b"\xf1\x82\0\0\0\0{}", 1002),  # reserved bits
        (b"\x89\xfe\x00\x80" + bytes(4 + 128), 1002),  # a long ping
        (b"\x80\x80\0\0\0\0", 1002),  # goes on with nothing
        (_masked(1, b"\xff\xfe"), 1007),
        (_masked(8, b"\x03\xe8"), 1000),
        (b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" + bytes(4), 1009),  # announces exabytes
    ],
)
def test_wrong_frames_end_the_connection_with_a_code(frame: bytes, code: int) -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            answer = await gateway.raw(_handshake() + frame)
            head, _, frames = answer.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 101 ")
            assert (frames[0], int.from_bytes(frames[2:4])) == (0x88, code)
            while gateway.gateway.sockets.total():
                await asyncio.sleep(0.01)

    run(work())


def test_random_bytes_harm_nobody() -> None:
    async def work() -> None:
        source = random.Random(19)  # noqa: S311
        async with serving(config("http://127.0.0.1:9")) as gateway:
            for _ in range(60):
                reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
                data = _handshake() + b"".join(
                    _masked(source.choice((0, 1, 2, 8, 9, 10)), source.randbytes(source.randrange(120)))
                    if source.random() < 0.7
                    else source.randbytes(source.randrange(40))
                    for _ in range(source.randrange(12))
                )
                cut = source.randrange(len(data))
                writer.write(data[:cut])
                await asyncio.sleep(0)
                writer.write(data[cut:])
                writer.write_eof()
                await reader.read()
                writer.close()
            assert (await gateway.ask("GET", "/healthz"))[0] == 200
            while gateway.gateway.sockets.total():
                await asyncio.sleep(0.01)

    run(work())


def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return response_to(request, text("word " * 400_000))

        async with upstream_server(play) as up, serving(config(up, server="client_timeout = 0.5")) as gateway:
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=1024)
            sent = json.dumps({"type": "response.create", "model": "openai-chat/m", "input": "x"}).encode()
            writer.write(_handshake() + _masked(1, sent))
            await reader.readuntil(b"\r\n\r\n")
            while not gateway.gateway.sockets.total():
                await asyncio.sleep(0.01)
            while gateway.gateway.sockets.total():
                await asyncio.sleep(0.05)
            assert not gateway.gateway.gate.running
            writer.close()

    run(work())


def test_a_removed_key_can_not_go_on() -> None:
    async def work() -> None:
        async with (
            upstream_server(_slow(asyncio.Event())) as up,
            serving(config(up, server=_KEYS)) as gateway,
            connect(_url(gateway), additional_headers=_ONE) as socket,
        ):
            sent = {"type": "response.create", "model": "openai-chat/m", "input": "quick"}
            assert (await _asked(socket, sent))["type"] == "response.created"
            while json.loads(await socket.recv())["type"] != "response.completed":
                pass
            gateway.gateway.use(config(up, server='keys = ["key-two-0123456789"]'))
            event = await _asked(socket, sent)
            assert (event["status"], event["error"]["code"]) == (401, "invalid_api_key")

    run(work())
