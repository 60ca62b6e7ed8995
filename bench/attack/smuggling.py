"""HTTP itself: requests hidden in requests, trailers, hosts, half-closed and unread connections."""

from __future__ import annotations

import asyncio
import json

from target import CHAT, ONE, Gateway, chat, head, stream

RIGHT = "right"
_HIDDEN = head(line="GET /v1/models HTTP/1.1")
_BODY = json.dumps(chat()).encode()


def _statuses(data: bytes) -> list[int]:
    return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:] if part[:3] != b"100"]


def _expect(data: bytes, *allowed: list[int]) -> str:
    return RIGHT if _statuses(data) in allowed else f"statuses {_statuses(data)}"


async def upgrade(gateway: Gateway) -> str:
    lines = ("connection: upgrade", "upgrade: h2c", f"content-length: {len(_HIDDEN)}")
    return _expect(await gateway.raw(head(*lines), _HIDDEN, pause=0.1), [400])


async def upgrade_with_a_request(gateway: Gateway) -> str:
    lines = ("connection: upgrade", "upgrade: h2c", f"content-length: {len(_BODY)}")
    return _expect(await gateway.raw(head(*lines) + _BODY + _HIDDEN), [200])


async def two_lengths(gateway: Gateway) -> str:
    return _expect(await gateway.raw(head("content-length: 5", f"content-length: {len(_HIDDEN)}") + _HIDDEN), [400])


async def length_and_chunks(gateway: Gateway) -> str:
    data = head("content-length: 4", "transfer-encoding: chunked") + b"0\r\n\r\n" + _HIDDEN
    return _expect(await gateway.raw(data), [400])


async def odd_coding(gateway: Gateway) -> str:
    for value in ("chunked, identity", "xchunked", "chunked\x0b", "gzip", "chunked, chunked"):
        got = _statuses(await gateway.raw(head(f"transfer-encoding: {value}", "connection: close") + b"0\r\n\r\n" + _HIDDEN))
        if got not in ([400], []):
            return f"{value!r}: statuses {got}"
    return RIGHT


async def two_hosts(gateway: Gateway) -> str:
    return _expect(await gateway.raw(head("host: other", line="GET /v1/models HTTP/1.1")), [400])


async def no_host(gateway: Gateway) -> str:
    return _expect(await gateway.raw(b"GET /v1/models HTTP/1.1\r\nauthorization: Bearer " + ONE.encode() + b"\r\n\r\n"), [400])


async def key_in_a_trailer(gateway: Gateway) -> str:
    trailer = b"%x\r\n%b\r\n0\r\nauthorization: Bearer %b\r\n\r\n" % (len(_BODY), _BODY, ONE.encode())
    data = head("transfer-encoding: chunked", "connection: close", key=None) + trailer
    return _expect(await gateway.raw(data), [401])


async def endless(gateway: Gateway, first: bytes) -> str:
    """120 MB without a key."""
    before = gateway.memory()
    line = b"x-filler: " + b"y" * 1000 + b"\r\n"
    _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    try:
        writer.write(first)
        for _ in range(120):
            writer.write(line * 1000)
            await writer.drain()
    except ConnectionError:
        pass
    grown = gateway.memory() - before
    writer.close()
    return RIGHT if grown < 30e6 else f"{grown / 1e6:.0f} MB more memory"


async def endless_trailers(gateway: Gateway) -> str:
    return await endless(gateway, head("transfer-encoding: chunked", key=None) + b"2\r\n{}\r\n0\r\n")


async def endless_headers(gateway: Gateway) -> str:
    return await endless(gateway, b"GET / HTTP/1.1\r\nhost: h\r\n")


async def pipelined_flood(gateway: Gateway) -> str:
    got = _statuses(await gateway.raw(head(line="GET /healthz HTTP/1.1") * 20_000))
    return RIGHT if len(got) < 20_000 else "all were queued"


async def stray_lines_in_a_stream(gateway: Gateway) -> str:
    async with gateway.another("client_timeout = 1") as other:
        gateway.upstream.reply = lambda _path, _body, writer: stream(writer, 30, 0.1)
        body = json.dumps(chat(stream=True)).encode()
        data = await other.raw(head(f"content-length: {len(body)}") + body, b"\r\n", pause=0.3)
        return RIGHT if data.count(b"word") == 30 and b"[DONE]" in data else f"{data.count(b'word')} of 30 chunks"


async def half_close(gateway: Gateway) -> str:
    data = await gateway.raw(head(f"content-length: {len(_BODY)}") + _BODY, half_close=True)
    return _expect(data, [200])


async def expect_without_a_body(gateway: Gateway) -> str:
    """No key, so 401 without 100: what follows must not be taken for the body."""
    data = await gateway.raw(head("expect: 100-continue", "content-length: 10", key=None), _HIDDEN, pause=0.2)
    return _expect(data, [401])


async def unread_answers(gateway: Gateway) -> str:
    """20 answers of 5 MB that nobody reads, three times. What was freed may stay with the process, but not more each time."""
    async with gateway.another("client_timeout = 1") as other:
        large = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "x" * 5_000_000}}]}).encode()

        async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(large) + large
            )

        gateway.upstream.reply = reply
        await other.ask("POST", CHAT, chat())
        sizes = [other.memory()]
        for _ in range(3):
            connections = [await asyncio.open_connection("127.0.0.1", other.port, limit=1000) for _ in range(20)]
            for _, writer in connections:
                writer.write(head(f"content-length: {len(_BODY)}") + _BODY)
            await asyncio.sleep(6)
            sizes.append(other.memory())
            running = (await other.ask("GET", "/toolglot/live", key="attack-key-admin-01")).json["running"]
            for _, writer in connections:
                writer.close()
            if running:
                return f"{running} still running"
        first, more = sizes[1] - sizes[0], sizes[3] - sizes[1]
        return RIGHT if first < 150e6 and more < 30e6 else f"{first / 1e6:.0f} MB kept, and then {more / 1e6:.0f} MB"


async def slow_head(gateway: Gateway) -> str:
    async with gateway.another("client_timeout = 1") as other:
        async with asyncio.timeout(20):
            data = await other.raw(*[bytes([each]) for each in b"GET / HTTP/1.1\r\nhost: " + b"a" * 40], pause=0.1)
        return RIGHT if not data else f"it was answered: {data[:40]!r}"


ATTACKS = [
    ("the body of an upgrade is a request", upgrade),
    ("a request after an upgrade", upgrade_with_a_request),
    ("two lengths", two_lengths),
    ("a length and chunks", length_and_chunks),
    ("unknown transfer codings", odd_coding),
    ("two hosts", two_hosts),
    ("no host", no_host),
    ("a key in a trailer", key_in_a_trailer),
    ("endless trailers", endless_trailers),
    ("endless headers", endless_headers),
    ("20,000 pipelined requests", pipelined_flood),
    ("empty lines in a running stream", stray_lines_in_a_stream),
    ("a half-closed connection", half_close),
    ("expect, but no body", expect_without_a_body),
    ("answers that nobody reads", unread_answers),
    ("a head byte by byte", slow_head),
]
