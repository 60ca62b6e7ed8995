"""The page as one document that needs nothing else, and the JSON that it lives on.

What a model wrote never becomes markup: the policy lets only this script and this style run, and the script sets text alone.
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
from toolglot.gateway.config import RouteRow
from toolglot.gateway.converse import Call, read_body
from toolglot.gateway.exchange import too_large
from toolglot.gateway.page.hearing import MOST_TEXT, Asked, hear
from toolglot.gateway.page.history import SPANS
from toolglot.gateway.records import CallSeen, Record
from toolglot.text.json_text import BadJson

_SCRIPTS = ("dom.js", "live.js", "hear.js")
_LONGEST = 400  # characters of what a call was written as, in the list; all of it is under /toolglot/decisions
_MOST_BODY = 256 * 1024
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
    for mark, text in (("STYLE", style), ("SCRIPT", script), ("DIALECTS", options), ("MOST_TEXT", str(MOST_TEXT))):
        document = document.replace(f"%{mark}%", text)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = (
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),  # the address may hold a key
        _NO_STORE,
    )
    return _Page(document.encode(), headers)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


async def show(call: Call) -> None:
    page = _page()
    await call.exchange.answer(200, page.body, page.headers, media=b"text/html; charset=utf-8")


# -- what it lives on


async def live(call: Call) -> None:
    """`after`: the newest request that the page has; what came since is told. `span`: of the history."""
    gateway, server = call.gateway, call.live.config.server
    after, span = call.exchange.asked("after"), call.exchange.asked("span")
    rows = []
    for record in gateway.records.recent():
        if record.id == after:
            break
        if record.seen_by(call.owner):
            rows.append(_row(record))
    told = {
        "rows": rows,
        "history": gateway.history.shown(span if span in SPANS else "hour"),
        "running": gateway.gate.running,
        "records": server.record,
    }
    await call.exchange.json(told, more=(_NO_STORE,))


def _row(record: Record) -> dict[str, Any]:
    held = record.told()
    held.pop("content", None)
    held["calls"] = [msgspec.to_builtins(_cut(call)) for call in record.calls]
    return held


def _cut(call: CallSeen) -> CallSeen:
    return msgspec.structs.replace(call, written=call.written and call.written[:_LONGEST])


async def upstreams(call: Call) -> None:
    """The routes in their order, and how each upstream is."""
    failed = call.gateway.history.failed
    states = await call.live.states.shown()
    shown = [{**state, "failed": failed.get(state["name"])} for state in states]
    await call.exchange.json({"routes": list(map(_route, call.live.config.routes)), "upstreams": shown}, more=(_NO_STORE,))


def _route(row: RouteRow) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(row)
    return shown


async def playground(call: Call) -> None:
    body = await read_body(call)
    if len(body) > _MOST_BODY:
        raise too_large(_MOST_BODY)
    try:
        asked = msgspec.json.decode(body, type=Asked)
    except BadJson as error:
        raise CallerError(f"{error}; it takes text, tools, dialect, policy and calls") from None
    heard = await asyncio.to_thread(hear, asked)
    await call.exchange.answer(200, msgspec.json.encode(heard), (_NO_STORE,))
