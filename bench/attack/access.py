"""Getting in: without a key, with another's key, through the configuration, through a model's name."""

from __future__ import annotations

import asyncio

from target import ADMIN, CHAT, ONE, TWO, UPSTREAM_KEY, Gateway, chat, send

RIGHT = "right"
_RELOADED = 3.5  # seconds


async def without_a_key(gateway: Gateway) -> str:
    for path in ("/v1/models", "/metrics", "/toolglot/live", "/toolglot/upstreams", "/api/tags", "/v1/responses/x"):
        for headers in ({}, {"host": "127.0.0.1"}, {"origin": "http://localhost"}, {"x_forwarded_for": "127.0.0.1"}):
            if headers.get("host"):
                data = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode()
                status = int((await gateway.raw(data)).split(b" ")[1])
            else:
                status = (await gateway.ask("GET", path, key=None, **headers)).status
            if status != 401:
                return f"{path} {headers}: {status}"
    return RIGHT


async def nearly_a_key(gateway: Gateway) -> str:
    for key in (ONE[:-1], ONE + "x", ONE.upper(), "", "*", ONE + "\x00", f"{ONE} {TWO}", "null", "undefined"):
        if (status := (await gateway.ask("GET", "/v1/models", key=key)).status) not in (400, 401):
            return f"{key!r}: {status}"
    return RIGHT


async def keys_deleted_from_the_file(gateway: Gateway) -> str:
    async with gateway.another() as other:
        text = other.file.read_text(encoding="utf-8")
        other.file.write_text("\n".join(line for line in text.splitlines() if "keys = " not in line), encoding="utf-8")
        await asyncio.sleep(_RELOADED)
        status = (await other.ask("GET", "/v1/models", key=None)).status
        return RIGHT if status == 401 else f"without a key: {status}"


async def damaged_files(gateway: Gateway) -> str:
    async with gateway.another() as other:
        text = other.file.read_text(encoding="utf-8")
        for damaged in ("", "\n", text[: len(text) // 2], text[: text.index("[[route]]")], "a = " + "[" * 9000, "\0"):
            other.file.write_text(damaged, encoding="utf-8")
            await asyncio.sleep(_RELOADED)
            if (status := (await other.ask("POST", CHAT, chat())).status) != 200:
                return f"after {damaged[:20]!r}: {status}"
        return RIGHT


async def another_keys_records(gateway: Gateway) -> str:
    id = (await gateway.ask("POST", CHAT, chat())).headers["x-request-id"]
    for key, wanted in ((ONE, 200), (TWO, 404), (ADMIN, 200)):
        if (status := (await gateway.ask("GET", f"/toolglot/decisions/{id}", key=key)).status) != wanted:
            return f"{key}: {status}"
    rows = (await gateway.ask("GET", "/toolglot/live", key=TWO)).json["rows"]
    return "the page shows another key's requests" if any(row["id"] == id for row in rows) else RIGHT


async def metrics_without_an_admin_key(gateway: Gateway) -> str:
    found = [(await gateway.ask("GET", "/metrics", key=key)).status for key in (ONE, ADMIN)]
    return RIGHT if found == [403, 200] else str(found)


async def another_keys_responses(gateway: Gateway) -> str:
    sent = {"model": "m", "input": "my secret"}
    id = (await gateway.ask("POST", "/v1/responses", sent)).json["id"]
    for method in ("GET", "DELETE"):
        if (status := (await gateway.ask(method, f"/v1/responses/{id}", key=TWO)).status) != 404:
            return f"{method}: {status}"
    status = (await gateway.ask("POST", "/v1/responses", {**sent, "previous_response_id": id}, key=TWO)).status
    return RIGHT if status == 400 else f"continued: {status}"


async def dots_in_a_model_name(gateway: Gateway) -> str:
    for model in ("../../v1/files", "..", "a/../../b", "%2e%2e/x", "..%2f..", "..\\x", "models/../../x"):
        answer = await gateway.ask("POST", CHAT, chat(model=f"gemini/{model}"))
        if answer.status >= 500 and answer.status != 502:
            return f"{model}: {answer.status}"
    wrong = [path for path in gateway.upstream.paths if ".." in path.replace("\\", "/").split("/")]
    return RIGHT if not wrong else f"it asked for {wrong[0]}"


async def the_upstreams_key_in_an_error(gateway: Gateway) -> str:
    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 401, f'{{"error": {{"message": "bad key {UPSTREAM_KEY}"}}}}'.encode(), f"x-key: {UPSTREAM_KEY}")

    gateway.upstream.reply = reply
    data = [await gateway.ask("POST", CHAT, chat(stream=each)) for each in (False, True)]
    shown = any(UPSTREAM_KEY.encode() in answer.body or UPSTREAM_KEY in str(answer.headers) for answer in data)
    return "the client sees the upstream's key" if shown else RIGHT


async def a_redirect_gets_no_key(gateway: Gateway) -> str:
    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 307, b"", f"location: http://127.0.0.1:{gateway.upstream.port}/elsewhere")

    gateway.upstream.reply = reply
    status = (await gateway.ask("POST", CHAT, chat())).status
    return RIGHT if status == 502 and "/elsewhere" not in gateway.upstream.paths else f"status {status}"


async def headers_from_a_request(gateway: Gateway) -> str:
    """Nothing of a request may split a response."""
    for path in ("/v1/models/%0d%0aset-cookie:%20a=b", "/toolglot/decisions/%0d%0ax:%20y"):
        answer = await gateway.ask("GET", path)
        if "set-cookie" in answer.headers or "x" in answer.headers:
            return f"{path}: {answer.headers}"
    answer = await gateway.ask("POST", CHAT, chat(model="m\r\nset-cookie: a=b"))
    return "a header was injected" if "set-cookie" in answer.headers else RIGHT


ATTACKS = [
    ("no key", without_a_key),
    ("nearly a key", nearly_a_key),
    ("the keys are deleted from the file", keys_deleted_from_the_file),
    ("an empty or half-written file", damaged_files),
    ("another key's records", another_keys_records),
    ("metrics without an admin key", metrics_without_an_admin_key),
    ("another key's stored responses", another_keys_responses),
    ("dots in a model's name", dots_in_a_model_name),
    ("the upstream's key in an error", the_upstreams_key_in_an_error),
    ("a redirect", a_redirect_gets_no_key),
    ("line breaks in names", headers_from_a_request),
]
