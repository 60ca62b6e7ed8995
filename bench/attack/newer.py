"""Objects that are kept for a key, batches, background work, sockets, and the endpoints that are passed through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from target import ADMIN, CHAT, ONE, TWO, Answer, Gateway, chat, listener, send

RIGHT = "right"
_FORM = (
    '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    '--b\r\ncontent-disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--b--\r\n'
)
_ROW = json.dumps({"custom_id": "a", "method": "POST", "url": CHAT, "body": chat("my secret")})


async def _upload(gateway: Gateway, text: str = _ROW, name: str = "in.jsonl", key: str = ONE) -> Answer:
    form = (_FORM % (name, text)).encode()
    return await gateway.ask("POST", "/v1/files", form, key, content_type="multipart/form-data; boundary=b")


async def _file(gateway: Gateway) -> tuple[str, str]:
    return "/v1/files", (await _upload(gateway)).json["id"]


async def _openai_batch(gateway: Gateway) -> tuple[str, str]:
    file = (await _upload(gateway)).json["id"]
    sent = {"input_file_id": file, "endpoint": CHAT, "completion_window": "24h"}
    return "/v1/batches", (await gateway.ask("POST", "/v1/batches", sent)).json["id"]


async def _anthropic_batch(gateway: Gateway) -> tuple[str, str]:
    params = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "my secret"}]}
    answer = await gateway.ask("POST", "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": params}]})
    return "/v1/messages/batches", answer.json["id"]


async def _background(gateway: Gateway) -> tuple[str, str]:
    answer = await gateway.ask("POST", "/v1/responses", {"model": "m", "input": "my secret", "background": True})
    return "/v1/responses", answer.json["id"]


async def _interaction(gateway: Gateway) -> tuple[str, str]:
    answer = await gateway.ask("POST", "/v1beta/interactions", {"model": "m", "input": "my secret"})
    return "/v1beta/interactions", answer.json["id"]


def of_another_key(make: Callable[[Gateway], Awaitable[tuple[str, str]]]) -> Callable[[Gateway], Awaitable[str]]:
    async def attack(gateway: Gateway) -> str:
        """Each way to reach it, with another key and with ids near it."""
        path, id = await make(gateway)
        if (status := (await gateway.ask("GET", f"{path}/{id}")).status) != 200:
            return f"its own key: {status}"
        for method, rest in (
            *(("GET", end) for end in ("", "/content", "/results", "/input_items", "?stream=true")),
            *(("POST", end) for end in ("/cancel", "")),
            ("DELETE", ""),
        ):
            answer = await gateway.ask(method, f"{path}/{id}{rest}", {} if method == "POST" else b"", key=TWO)
            if answer.status not in (400, 404, 405) or b"my secret" in answer.body:
                return f"{method} {rest}: {answer.status} {answer.body[:100]!r}"
        for near in (id[:-1], id.upper(), f"{id}%00", f"{id}%20", "..%2f" + id, "*", "%", "_" * len(id), "x" * 10_000):
            if (status := (await gateway.ask("GET", f"{path}/{near}", key=TWO)).status) not in (400, 404, 414, 431):
                return f"{near[:40]}: {status}"
        rows = await gateway.ask("GET", path, key=TWO)
        if rows.status == 200 and id.encode() in rows.body:
            return "another key's list shows it"
        return RIGHT if (await gateway.ask("GET", f"{path}/{id}")).status == 200 else "another key deleted it"

    return attack


async def batch_of_another_keys_file(gateway: Gateway) -> str:
    id = (await _upload(gateway)).json["id"]
    sent = {"input_file_id": id, "endpoint": CHAT, "completion_window": "24h"}
    status = (await gateway.ask("POST", "/v1/batches", sent, key=TWO)).status
    return RIGHT if status in (400, 404) else f"status {status}"


async def continue_another_keys_interaction(gateway: Gateway) -> str:
    _, id = await _interaction(gateway)
    sent = {"model": "m", "input": "x", "previous_interaction_id": id}
    status = (await gateway.ask("POST", "/v1beta/interactions", sent, key=TWO)).status
    return RIGHT if status in (400, 404) else f"status {status}"


async def file_names(gateway: Gateway) -> str:
    """A file's name is text: no path, no header."""
    for name in ("../../../etc/cron.d/x", "/etc/passwd", "a\\r\\nset-cookie: a=b", "x" * 100_000, ".."):
        answer = await _upload(gateway, name=name)
        if answer.status not in (200, 400, 413):
            return f"{name[:30]!r}: {answer.status}"
        if answer.status == 200:
            content = await gateway.ask("GET", f"/v1/files/{answer.json['id']}/content")
            if "set-cookie" in content.headers or content.body.strip() != _ROW.encode():
                return f"{name[:30]!r}: {content.headers} {content.body[:60]!r}"
    return RIGHT


async def damaged_uploads(gateway: Gateway) -> str:
    for data in (b"", b"--b", b"--b\r\n" * 50_000, b"--b\r\n\r\n\r\n--b--", (_FORM % ("a", "[" * 200_000)).encode()):
        for kind in ("multipart/form-data; boundary=b", "multipart/form-data", 'multipart/form-data; boundary="', "text/plain"):
            status = (await gateway.ask("POST", "/v1/files", data, content_type=kind)).status
            if status not in (200, 400, 413, 415):
                return f"{data[:20]!r} as {kind}: {status}"
    return RIGHT


async def batch_rows(gateway: Gateway) -> str:
    """Rows may name only the batch's endpoint, and no other host."""
    for url in ("http://127.0.0.1:1/x", "/toolglot/records", "/v1/../metrics", "//x/v1/chat/completions", "/v1/files"):
        text = json.dumps({"custom_id": "a", "method": "POST", "url": url, "body": chat()})
        id = (await _upload(gateway, text)).json["id"]
        made = await gateway.ask("POST", "/v1/batches", {"input_file_id": id, "endpoint": CHAT, "completion_window": "24h"})
        for _ in range(100):
            if made.status != 200 or made.json["status"] in ("completed", "failed", "expired"):
                break
            await asyncio.sleep(0.05)
            made = await gateway.ask("GET", f"/v1/batches/{made.json['id']}")
        if made.status == 200 and made.json["request_counts"]["completed"]:
            return f"{url}: {made.body[:200]!r}"
    return RIGHT


async def many_background_responses(gateway: Gateway) -> str:
    """One key starts 300 that hang; another still gets its response."""
    hangs = asyncio.Event()

    async def reply(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if b"hang" in body:
            await hangs.wait()
        send(writer, 200, b'{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}')

    gateway.upstream.reply = reply
    sent = {"model": "m", "input": "hang", "background": True}
    found = [await gateway.ask("POST", "/v1/responses", sent) for _ in range(300)]
    try:
        async with asyncio.timeout(20):
            other = await gateway.ask("POST", CHAT, chat(), key=TWO)
    finally:
        for answer in found:
            if answer.status == 200:
                await gateway.ask("POST", f"/v1/responses/{answer.json['id']}/cancel", {})
        hangs.set()
    statuses = {answer.status for answer in found}
    return RIGHT if other.status == 200 and statuses <= {200, 429} and 429 in statuses else f"{other.status}, {statuses}"


async def fields_of_stored_objects(gateway: Gateway) -> str:
    """A client can't choose an id, an owner, or a state."""
    more = {"id": "resp_mine", "owner": "*", "key": TWO, "status": "completed", "created_at": 0, "admin": True}
    answer = await gateway.ask("POST", "/v1/responses", {"model": "m", "input": "x", **more})
    if answer.status == 200 and (answer.json["id"] == "resp_mine" or answer.json["created_at"] == 0):
        return f"{answer.body[:200]!r}"
    status = (await gateway.ask("GET", "/v1/responses/resp_mine")).status
    return RIGHT if status == 404 else f"it is stored under its own id: {status}"


async def compaction_of_anything(gateway: Gateway) -> str:
    """What is not a compaction of this gateway is rejected, or only text."""
    for content in ("x", "A" * 200_000, "gAAAA" * 100, "../../x", "\u0000"):
        item = {"type": "compaction", "id": "cmp_1", "encrypted_content": content}
        answer = await gateway.ask("POST", "/v1/responses", {"model": "m", "input": [item, {"role": "user", "content": "x"}]})
        if answer.status not in (200, 400, 404):
            return f"{content[:20]!r}: {answer.status} {answer.body[:100]!r}"
    return RIGHT


async def sockets(gateway: Gateway) -> str:
    """A socket needs a key and small frames. (A web page can't send the key.)"""
    upgrade = (
        "upgrade: websocket",
        "connection: Upgrade",
        "sec-websocket-version: 13",
        "sec-websocket-key: " + "A" * 22 + "==",
    )

    def opening(*more: str) -> bytes:
        return "\r\n".join(["GET /v1/responses HTTP/1.1", "host: 127.0.0.1", *upgrade, *more, "", ""]).encode()

    data = await gateway.raw(opening("connection: close"), half_close=True)
    if not data.startswith((b"HTTP/1.1 401", b"HTTP/1.1 400")):
        return f"without a key: {data[:60]!r}"
    huge = b"\x81\xff" + (1 << 62).to_bytes(8) + b"abcd"
    for frame in (huge, b"\x89\xfe\x10\x00abcd", b"\xff" * 2000, b"\x81\x05hello", b"\x80\x80abcd", b"\x01\x80abcd" * 20_000):
        before = gateway.memory()
        await gateway.raw(opening(f"authorization: Bearer {ONE}"), frame, half_close=True)
        if gateway.memory() - before > 50e6:
            return f"{frame[:12]!r}: {(gateway.memory() - before) / 1e6:.0f} MB more memory"
    return RIGHT


async def passed_through(gateway: Gateway) -> str:
    """What is passed through reaches only the endpoint's own path."""

    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 200, b'{"data":[]}')

    gateway.upstream.reply = reply
    for path in ("/v1/embeddings", "/v1/completions", "/embeddings", "/api/embed", "/api/generate", "/api/embeddings"):
        for model in ("m", "m/../../admin", "m?x=y", "m#x", "m\r\nx: y", "http://127.0.0.1:1/"):
            status = (
                await gateway.ask("POST", f"{path}?key=x&path=/admin", {"model": model, "input": "x", "prompt": "x"})
            ).status
            if status not in (200, 400, 404, 501, 502):
                return f"{path} {model!r}: {status}"
    strange = [path for path in gateway.upstream.paths if "admin" in path or "\r" in path or ".." in path or "key=x" in path]
    return RIGHT if not strange else f"it asked for {strange[0]}"


async def hop_headers(gateway: Gateway) -> str:
    """Headers of a client don't reach the upstream, with other keys or lengths."""
    for name in ("transfer_encoding", "te", "connection", "x_forwarded_host", "authorization", "x_goog_api_key", "expect"):
        answer = await gateway.ask("POST", CHAT, chat(), **{name: "chunked\tidentity"})
        if answer.status not in (200, 400, 401, 417, 501):
            return f"{name}: {answer.status}"
    return RIGHT


async def lines_in_the_log(gateway: Gateway) -> str:
    """No text of a request starts a line of the log, or changes a terminal."""
    mark = "FORGED-LINE"
    for text in (f"m\n{mark}", f"m\r\n{mark}", f"\u2028{mark}", f"m\x1b[2J\n{mark}", f"m\x85{mark}"):
        await gateway.ask("POST", CHAT, chat(model=text))
        await gateway.ask("POST", "/v1/responses", {"model": text, "input": "x", "previous_response_id": text})
        await gateway.ask("GET", "/v1/models/" + "".join(f"%{byte:02x}" for byte in text.encode()))
    log = gateway.log()
    forged = any(line.startswith(mark) for line in log.splitlines())
    return RIGHT if not forged and "\x1b[2J" not in log else "the log has a forged line"


async def strange_hosts(gateway: Gateway) -> str:
    """With keys any Host is fine, but none changes an address in a response."""
    for host in ("evil.example", "evil.example:99999", "[::1", "a b", "x" * 5_000, "127.0.0.1@evil.example", ""):
        data = await gateway.raw(
            f"GET /v1/models HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {ONE}\r\nconnection: close\r\n\r\n".encode()
        )
        if not data.startswith((b"HTTP/1.1 200", b"HTTP/1.1 4")) or b"evil.example" in data:
            return f"{host[:30]!r}: {data[:100]!r}"
    return RIGHT


async def deleting_everyones_records(gateway: Gateway) -> str:
    id = (await gateway.ask("POST", CHAT, chat())).headers["x-request-id"]
    for query in ("", "?owner=*", "?all=true"):
        await gateway.ask("DELETE", f"/toolglot/records{query}", key=TWO)
    status = (await gateway.ask("GET", f"/toolglot/decisions/{id}")).status
    return RIGHT if status == 200 else f"another key deleted it: {status}"


async def secrets_of_the_configuration(gateway: Gateway) -> str:
    for path in ("/toolglot/config", "/toolglot/upstreams", "/toolglot/live", "/toolglot/check/m", "/v1/models", "/readyz"):
        for key in (ONE, TWO, ADMIN):
            body = (await gateway.ask("GET", path, key=key)).body
            if b"sk-upstream-secret" in body or any(other.encode() in body for other in (ONE, TWO, ADMIN)):
                return f"{path} shows a key"
    return RIGHT


async def large_counts(gateway: Gateway) -> str:
    """Numbers that ask for too much."""
    for more in (
        {"n": 10**9},
        {"max_tokens": 10**400},
        {"logprobs": True, "top_logprobs": 10**9},
        {"n": -1},
        {"temperature": 1e308},
    ):
        if (status := (await gateway.ask("POST", CHAT, json.dumps(chat(**more)).encode())).status) not in (200, 400):
            return f"{list(more)}: {status}"
    for query in ("limit=1000000000", "limit=-1", "limit=x", "after=" + "x" * 5_000, "limit=" + "9" * 5_000):
        for path in ("/v1/files", "/v1/batches", "/v1/messages/batches", "/toolglot/live", "/toolglot/usage"):
            if (status := (await gateway.ask("GET", f"{path}?{query}")).status) not in (200, 400, 414, 431):
                return f"{path}?{query[:30]}: {status}"
    return RIGHT


async def costly_searches(gateway: Gateway) -> str:
    """A tool search with a pattern that backtracks, over tools that the client sent."""
    tools: list[dict[str, Any]] = [
        {
            "type": "function",
            "name": f"f{at}",
            "description": "a" * 2_000,
            "parameters": {"type": "object"},
            "defer_loading": True,
        }
        for at in range(500)
    ]
    call = {"name": "tool_search_tool_regex", "arguments": json.dumps({"pattern": "(a+)+$", "query": "(a+)+$"})}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()

    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 200, body)

    gateway.upstream.reply = reply
    busy = gateway.cpu_seconds()
    sent = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    search = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    given = [
        {"name": one["name"], "description": one["description"], "input_schema": {}, "defer_loading": True} for one in tools
    ]
    first = await gateway.ask("POST", "/v1/messages", {**sent, "tools": [search, *given]})
    second = await gateway.ask(
        "POST", "/v1/responses", {"model": "m", "input": "x", "tools": [*tools, {"type": "tool_search"}]}
    )
    spent = gateway.cpu_seconds() - busy
    if {first.status, second.status} - {200, 400, 502}:
        return f"{first.status} {second.status}"
    return RIGHT if spent < 10 else f"{spent:.0f} s of CPU time"


async def addresses_in_newer_bodies(gateway: Gateway) -> str:
    """Images, files and MCP servers in a body are not fetched here."""
    async with listener() as (url, asked):
        mcp = {"type": "mcp", "server_label": "x", "server_url": url, "require_approval": "never"}
        image = {"type": "input_image", "image_url": url}
        file = {"type": "input_file", "file_url": url}
        source = {"type": "image", "source": {"type": "url", "url": url}}
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("/v1/responses", {"model": "m", "input": [{"role": "user", "content": [image, file]}], "tools": [mcp]}),
            ("/v1/responses", {"model": "m", "input": "x", "background": True, "webhook": url, "tools": [mcp]}),
            ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [source]}]}),
            (
                "/v1/messages",
                {"model": "m", "max_tokens": 9, "messages": [], "mcp_servers": [{"type": "url", "url": url, "name": "x"}]},
            ),
            ("/v1beta/interactions", {"model": "m", "input": [{"type": "image", "uri": url, "mime_type": "image/png"}]}),
            ("/api/chat", {"model": "m", "messages": [{"role": "user", "content": "x", "images": [url]}]}),
        ]
        for path, body in bodies:
            status = (await gateway.ask("POST", path, body)).status
            if status >= 500 and status != 502:
                return f"{path}: {status}"
    return RIGHT if not asked else f"it asked for {asked[0]!r}"


ATTACKS = [
    ("another key's file", of_another_key(_file)),
    ("another key's batch", of_another_key(_openai_batch)),
    ("another key's message batch", of_another_key(_anthropic_batch)),
    ("another key's background response", of_another_key(_background)),
    ("another key's interaction", of_another_key(_interaction)),
    ("a batch of another key's file", batch_of_another_keys_file),
    ("another key's interaction, continued", continue_another_keys_interaction),
    ("names of files", file_names),
    ("damaged uploads", damaged_uploads),
    ("rows of a batch with other addresses", batch_rows),
    ("300 background responses", many_background_responses),
    ("fields of stored objects", fields_of_stored_objects),
    ("compactions from elsewhere", compaction_of_anything),
    ("sockets", sockets),
    ("endpoints that are passed through", passed_through),
    ("headers of a client", hop_headers),
    ("lines in the log", lines_in_the_log),
    ("strange hosts", strange_hosts),
    ("records of another key, deleted", deleting_everyones_records),
    ("keys in what is shown", secrets_of_the_configuration),
    ("numbers that ask for too much", large_counts),
    ("a costly search for tools", costly_searches),
    ("addresses in newer bodies", addresses_in_newer_bodies),
]
