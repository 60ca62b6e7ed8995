"""The rest of OWASP's API Security Top 10 (2023); what is elsewhere here is not repeated.

1 object authorization, 2 authentication, 5 function authorization: also `access.py`. 4 resources: also `overload.py` and
`stalls.py`. 10 unsafe upstreams: also `overload.py`. 6 (business flows) does not apply: the gateway has none.
"""

from __future__ import annotations

import asyncio
import json

from target import ADMIN, CHAT, ONE, TWO, UPSTREAM_KEY, Gateway, chat, listener, send

RIGHT = "right"


async def usage_of_another_key(gateway: Gateway) -> str:
    """1 and 3: each key sees its own usage, whatever it asks for."""
    await gateway.ask("POST", CHAT, chat())
    own = (await gateway.ask("GET", "/toolglot/usage", key=ONE)).json["usage"]
    for query in ("", "?owner=*", "?key=" + ONE, "?days=30"):
        rows = (await gateway.ask("GET", f"/toolglot/usage{query}", key=TWO)).json["usage"]
        if any(row["owner"] == own[0]["owner"] for row in rows) and "?key=" not in query:
            return f"{query}: {rows}"
    every = (await gateway.ask("GET", "/toolglot/usage", key=ADMIN)).json["usage"]
    return RIGHT if len({row["owner"] for row in own}) == 1 and len(every) >= len(own) else f"{own}"


async def forged_identity(gateway: Gateway) -> str:
    """2: headers of proxies and frameworks give no rights."""
    for name in (
        "x-forwarded-user",
        "x-remote-user",
        "x-toolglot-owner",
        "x-original-url",
        "x-rewrite-url",
        "cookie",
        "forwarded",
    ):
        for path in ("/metrics", "/v1/models"):
            status = (await gateway.ask("GET", path, key=None, **{name: "admin"})).status
            if status != 401:
                return f"{name} {path}: {status}"
    return RIGHT


async def fields_that_are_not_the_clients(gateway: Gateway) -> str:
    """3: a request can't set what belongs to the configuration."""
    before = len(gateway.upstream.paths)
    more = {
        "base_url": "http://127.0.0.1:1",
        "api_key": "mine",
        "api_base": "http://127.0.0.1:1",
        "provider": "x",
        "route": "x",
    }
    for extra in ({}, {"extra_body": more}, {"extra_headers": {"authorization": "Bearer mine"}}):
        status = (await gateway.ask("POST", CHAT, chat(**more, **extra))).status
        if status not in (200, 400):
            return f"{extra}: {status}"
    return RIGHT if len(gateway.upstream.paths) > before else "it was sent elsewhere"


async def rate_limits(gateway: Gateway) -> str:
    """4: too many requests are 429 with a retry time, and another key is not affected."""
    async with gateway.another("rate = 1\nburst = 3") as other:
        answers = [await other.ask("POST", CHAT, chat()) for _ in range(12)]
        rejected = [answer for answer in answers if answer.status == 429]
        if len(rejected) < 5 or any("retry-after" not in answer.headers for answer in rejected):
            return f"{[answer.status for answer in answers]}"
        status = (await other.ask("POST", CHAT, chat(), key=TWO)).status
        return RIGHT if status == 200 else f"another key: {status}"


async def method_override(gateway: Gateway) -> str:
    """5: a method is the one in the request line."""
    id = (await gateway.ask("POST", "/v1/responses", {"model": "m", "input": "x"})).json["id"]
    for name in ("x-http-method-override", "x-method-override", "x-http-method"):
        await gateway.ask("GET", f"/v1/responses/{id}?_method=DELETE", **{name: "DELETE"})
    status = (await gateway.ask("GET", f"/v1/responses/{id}")).status
    return RIGHT if status == 200 else f"deleted: {status}"


async def addresses_in_a_request(gateway: Gateway) -> str:
    """7: the gateway asks nobody but its upstreams."""
    async with listener() as (url, asked):
        content = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
        for body in (
            chat(model=url),
            chat(model=f"gemini/{url}"),
            {"model": "m", "messages": [{"role": "user", "content": content}]},
            chat(tools=[{"type": "mcp", "server_label": "x", "server_url": url}]),
            chat(tools=[{"type": "function", "function": {"name": "f", "parameters": {"$ref": url}}}]),
        ):
            for model in ("m", "gemini/m"):
                await gateway.ask("POST", CHAT, {**body, "model": body["model"] if "http" in body["model"] else model})
        await gateway.raw(f"GET {url} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode())
    return RIGHT if not asked else f"it asked for {asked[0]!r}"


async def configuration(gateway: Gateway) -> str:
    """8: no web page gets in, no method that echoes, and errors show nothing of the inside."""
    answer = await gateway.ask("OPTIONS", CHAT, key=None, origin="https://evil.example", access_control_request_method="POST")
    if "access-control-allow-origin" in answer.headers:
        return "a foreign page is allowed"
    for line in ("TRACE / HTTP/1.1", "TRACK / HTTP/1.1", "DEBUG / HTTP/1.1", "CONNECT 127.0.0.1:80 HTTP/1.1"):
        data = await gateway.raw(f"{line}\r\nhost: 127.0.0.1\r\nx-secret: abc\r\nconnection: close\r\n\r\n".encode())
        if data.startswith(b"HTTP/1.1 2") or b"abc" in data:
            return f"{line}: {data[:60]!r}"
    for body in (b"{", b"\xff", b'{"model":5}', json.dumps(chat(tools=[5])).encode()):
        data = (await gateway.ask("POST", CHAT, body)).body
        if b"Traceback" in data or b'File "' in data or b"site-packages" in data:
            return f"an error shows {data[:200]!r}"
    page = await gateway.ask("GET", "/")
    return RIGHT if "content-security-policy" in page.headers else "the page has no content security policy"


async def forgotten_endpoints(gateway: Gateway) -> str:
    """9: what is not documented is not there."""
    paths = ("/docs", "/openapi.json", "/debug", "/admin", "/.env", "/.git/config", "/config", "/toolglot.toml", "/v2/models")
    for path in (
        *paths,
        "/actuator",
        "/server-status",
        "/static/..%2f..%2fetc/passwd",
        "/v1/../metrics",
        "/toolglot/../metrics",
    ):
        for key in (None, ONE):
            if (status := (await gateway.ask("GET", path, key=key)).status) not in (400, 401, 404):
                return f"{path}: {status}"
    return RIGHT


async def headers_of_an_upstream(gateway: Gateway) -> str:
    """10: an upstream's headers reach no client, but those for rate limits."""
    message = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "<script>"}, "finish_reason": "stop"}]}

    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(
            writer,
            200,
            json.dumps(message).encode(),
            "set-cookie: a=b",
            "access-control-allow-origin: *",
            f"x-key: {UPSTREAM_KEY}",
        )

    gateway.upstream.reply = reply
    answer = await gateway.ask("POST", CHAT, chat())
    passed = {"set-cookie", "access-control-allow-origin", "x-key"} & answer.headers.keys()
    return RIGHT if not passed and answer.headers["content-type"] == "application/json" else f"passed on: {passed}"


ATTACKS = [
    ("1 the usage of another key", usage_of_another_key),
    ("2 a forged identity", forged_identity),
    ("3 fields that are not the client's", fields_that_are_not_the_clients),
    ("4 rate limits", rate_limits),
    ("5 another method in a header", method_override),
    ("7 addresses in a request", addresses_in_a_request),
    ("8 configuration", configuration),
    ("9 forgotten endpoints", forgotten_endpoints),
    ("10 headers of an upstream", headers_of_an_upstream),
]
