"""The page as a single HTML document, and its JSON endpoints.

Model output never becomes markup: the content security policy allows only this script and style, and the script only sets text.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec

from toolglot.dialects import dialect_names
from toolglot.errors import CallerError
from toolglot.gateway.chat_endpoints import EndpointCall, read_body
from toolglot.gateway.config import RouteRow
from toolglot.gateway.http_exchange import too_large
from toolglot.gateway.page.parse_view import MAX_TEXT, ParseRequest, parse
from toolglot.io.json_codec import JSON_ERRORS

_SCRIPTS = ("dom.js", "live.js", "parse.js")
_MAX_BODY = 256 * 1024
_NO_STORE = (b"cache-control", b"no-store")


# -- the document


class _Page(msgspec.Struct, frozen=True):
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]


@lru_cache(1)
def _page() -> _Page:
    here = files("toolglot.gateway.page")

    def read(name: str) -> str:
        return (here / name).read_text(encoding="utf-8")

    style = read("page.css")
    script = '"use strict";\n' + "".join(map(read, _SCRIPTS))
    options = "".join(f"<option>{name}</option>" for name in ("auto", *sorted(dialect_names())))
    document = read("page.html")
    for placeholder, text in (("STYLE", style), ("SCRIPT", script), ("DIALECTS", options), ("MAX_TEXT", str(MAX_TEXT))):
        document = document.replace(f"%{placeholder}%", text)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = (
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),  # the URL may contain a key
        _NO_STORE,
    )
    return _Page(document.encode(), headers)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


async def show(call: EndpointCall) -> None:
    page = _page()
    await call.exchange.respond(200, page.body, page.headers, media_type=b"text/html; charset=utf-8")


# -- JSON endpoints


async def live(call: EndpointCall) -> None:
    """Query: `after`, the id of the newest request that the page has; `span`, of the history."""
    gateway, server = call.gateway, call.live.config.server
    after, span = call.exchange.query_value("after"), call.exchange.query_value("span")
    seen = await gateway.overview.live(after, span, None if call.caller.is_admin else call.owner)
    await call.exchange.json({**seen, "records": server.record, "problem": gateway.shared.problem}, more=(_NO_STORE,))


async def show_upstreams(call: EndpointCall) -> None:
    """The routes in order, and the state of each upstream."""
    failed = await call.gateway.overview.failed()
    states = await call.live.upstream_states.states()
    upstreams = [{**state, "failed": failed.get(state["name"])} for state in states]
    await call.exchange.json({"routes": list(map(_route, call.live.config.routes)), "upstreams": upstreams}, more=(_NO_STORE,))


def _route(row: RouteRow) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(row)
    return fields


async def playground(call: EndpointCall) -> None:
    body = await read_body(call)
    if len(body) > _MAX_BODY:
        raise too_large(_MAX_BODY)
    try:
        request = msgspec.json.decode(body, type=ParseRequest)
    except JSON_ERRORS as error:
        raise CallerError(f"{error}; the fields are text, tools, dialect, policy and calls") from None
    view = await asyncio.to_thread(parse, request)
    await call.exchange.respond(200, msgspec.json.encode(view), (_NO_STORE,))
