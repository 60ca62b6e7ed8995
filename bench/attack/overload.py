"""Stopping it: bodies that cost time, names that cost memory, streams that never end, too many at once."""

from __future__ import annotations

import asyncio
import json

from target import CHAT, ONE, TWO, Gateway, chat, chunk, send, start_stream, stream

RIGHT = "right"
_TOOL = '{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":%s}}}}'


async def costly_bodies(gateway: Gateway) -> str:
    for unit in (b'\\"[', b'\\"', b'"', b'"[', b"\\", b"[", b"[{", b'["]",', b'{"a":[', b"1,", b"[],"):
        for start in (b'{"a":"', b'{"a":[', b"["):
            if (answer := await gateway.ask("POST", CHAT, start + unit * 30_000)).status != 400:
                return f"{unit!r}: {answer.status}"
    return RIGHT


async def large_bodies(gateway: Gateway) -> str:
    """8 MB each: as many values as fit."""
    for unit in (b"[],", b"1,", b'"",', b"{},", b'"\\n",'):
        data = b'{"model":"m","messages":[],"x":[' + unit * (8_000_000 // len(unit)) + b"1]}"
        if (status := (await gateway.ask("POST", CHAT, data)).status) != 400:
            return f"{unit!r}: {status}"
    return RIGHT


async def long_model_names(gateway: Gateway) -> str:
    """5 MB, 40 times."""
    before = gateway.memory()
    for _ in range(40):
        if (status := (await gateway.ask("POST", CHAT, chat(model="x" * 5_000_000))).status) != 404:
            return f"status {status}"
    grown = gateway.memory() - before
    return RIGHT if grown < 60e6 else f"{grown / 1e6:.0f} MB more memory"


async def invalid_tools(gateway: Gateway) -> str:
    for value in (b'"\xff"', b"1e999", b"9" * 6000, b'{"enum":[1e400]}', b'{"minimum":%s}' % (b"9" * 400), b'"\\ud800"'):
        body = json.dumps(chat()).encode()[:-1] + b',"tools":[' + (_TOOL.encode() % value) + b"]}"
        if (answer := await gateway.ask("POST", CHAT, body)).status not in (200, 400):
            return f"{value[:20]!r}: {answer.status} {answer.body[:100]!r}"
    return RIGHT


async def strange_answers(gateway: Gateway) -> str:
    for status, header, wanted in (
        (429, "retry-after: inf", 429),
        (429, "retry-after: nan", 429),
        (503, "retry-after: " + "9" * 400, 503),
        (999, "x: y", 502),
        (600, "x: y", 502),
        (304, "x: y", 502),
        (200, "content-encoding: br", 502),
    ):

        async def reply(_: str, __: bytes, writer: asyncio.StreamWriter, status: int = status, header: str = header) -> None:
            send(writer, status, b"{}", header)

        gateway.upstream.reply = reply
        if (answer := await gateway.ask("POST", CHAT, chat())).status != wanted:
            return f"{status} {header[:30]}: {answer.status}"
    return RIGHT


async def endless_comments(gateway: Gateway) -> str:
    async with gateway.another("first_byte_timeout = 1\nidle_timeout = 1") as other:
        for begins in (False, True):

            async def reply(_: str, __: bytes, writer: asyncio.StreamWriter, begins: bool = begins) -> None:
                start_stream(writer)
                if begins:
                    writer.write(chunk("hello"))
                while True:
                    writer.write(b": keep-alive\n\n")
                    await writer.drain()
                    await asyncio.sleep(0.05)

            gateway.upstream.reply = reply
            async with asyncio.timeout(20):
                answer = await other.ask("POST", CHAT, chat(stream=True))
            if answer.status != (200 if begins else 504) or b"timeout_idle" not in answer.body:
                return f"begins={begins}: {answer.status} {answer.body[-200:]!r}"
    return RIGHT


async def endless_line(gateway: Gateway) -> str:
    """One event without an end."""
    before = gateway.memory()

    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        start_stream(writer)
        writer.write(b"data: ")
        while True:
            writer.write(b"x" * 1_000_000)
            await writer.drain()

    gateway.upstream.reply = reply
    answer = await gateway.ask("POST", CHAT, chat(stream=True))
    grown = gateway.memory() - before
    ended = answer.status in (200, 502, 504) and b"too_large" in answer.body
    return RIGHT if ended and grown < 300e6 else f"{answer.status} {answer.body[-100:]!r}, {grown / 1e6:.0f} MB"


async def many_streams(gateway: Gateway) -> str:
    """512 at once, within the limits: none is lost."""
    async with gateway.another("max_concurrent = 512") as other:
        gateway.upstream.reply = lambda _path, _body, writer: stream(writer, 5, 0.5)
        answers = await asyncio.gather(*(other.ask("POST", CHAT, chat(stream=True)) for _ in range(512)))
        good = sum(answer.status == 200 and answer.body.count(b"word") == 5 for answer in answers)
        return RIGHT if good == 512 else f"{good} of 512"


async def one_key_starves_another(gateway: Gateway) -> str:
    async with gateway.another("max_connections = 4\nqueue_timeout = 20") as other:
        gateway.upstream.reply = lambda _path, _body, writer: stream(writer, 2, 0.1)
        greedy = [asyncio.ensure_future(other.ask("POST", CHAT, chat(stream=True), key=ONE)) for _ in range(200)]
        await asyncio.sleep(0.5)
        async with asyncio.timeout(4):
            answer = await other.ask("POST", CHAT, chat(stream=True), key=TWO)
        left = sum(not one.done() for one in greedy)
        for one in greedy:
            one.cancel()
        await asyncio.gather(*greedy, return_exceptions=True)
        return RIGHT if answer.status == 200 and left > 50 else f"{answer.status}, {left} of the other key's left"


async def busy_upstream(gateway: Gateway) -> str:
    async with gateway.another("max_connections = 1\nqueue_timeout = 0.5") as other:
        while (await other.ask("POST", CHAT, chat())).status != 200:  # at start, the models of the upstream are asked for
            await asyncio.sleep(0.1)
        gateway.upstream.reply = lambda _path, _body, writer: stream(writer, 30, 0.1)
        gateway.upstream.paths.clear()
        first = asyncio.ensure_future(other.ask("POST", CHAT, chat(stream=True)))
        while CHAT not in gateway.upstream.paths:
            await asyncio.sleep(0.05)
        second = await other.ask("POST", CHAT, chat())
        await first
        return RIGHT if (second.status, second.headers.get("retry-after")) == (503, "1") else f"{second.status}"


async def full_disk(gateway: Gateway) -> str:
    async with gateway.another("max_store = 2000") as other:
        answer = await other.ask("POST", "/v1/responses", {"model": "m", "input": "x" * 100_000})
        notes = answer.headers.get("x-toolglot-notes", "")
        return RIGHT if answer.status == 200 and "store" in notes else f"{answer.status}, notes {notes!r}"


ATTACKS = [
    ("bodies that cost time", costly_bodies),
    ("bodies with millions of values", large_bodies),
    ("model names of 5 MB", long_model_names),
    ("invalid text and numbers in tools", invalid_tools),
    ("strange statuses and headers of an upstream", strange_answers),
    ("a stream of comments", endless_comments),
    ("an event without an end", endless_line),
    ("512 streams", many_streams),
    ("one key against another", one_key_starves_another),
    ("no connection left", busy_upstream),
    ("a response that can't be stored", full_disk),
]
