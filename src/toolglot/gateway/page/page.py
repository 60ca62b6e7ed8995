"""The page: an HTML document, its style and its modules, and its JSON endpoints.

The files contain no data, so they need no key: where keys are set, the page asks for one and sends it as a header. Model output
never becomes markup: the content security policy allows only these files, and the modules only set text.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import files
from typing import Any

import msgspec

from toolglot import __version__
from toolglot.dialects import known_dialects
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.config import SECRETS, RouteRow, Server
from toolglot.gateway.endpoint_call import EndpointCall, read_body
from toolglot.gateway.http_exchange import too_large
from toolglot.gateway.overview import LiveQuery
from toolglot.gateway.page.parse_view import MAX_TEXT, ParseRequest, parse
from toolglot.io.json_codec import JSON_ERRORS

_MAX_BODY = 256 * 1024
_NO_STORE = (b"cache-control", b"no-store")
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    _NO_STORE,
)
_MEDIA_TYPES = {"html": b"text/html; charset=utf-8", "js": b"text/javascript; charset=utf-8", "css": b"text/css; charset=utf-8"}


# -- the files


@lru_cache(1)
def page_files() -> dict[str, bytes]:
    """By name. The document has the path `/`."""
    here = files("toolglot.gateway.page")
    found = {one.name: one.read_text(encoding="utf-8") for one in here.iterdir() if one.name.rpartition(".")[2] in _MEDIA_TYPES}
    options = "".join(f"<option>{name}</option>" for name in ("auto", *known_dialects()))
    modules = sorted(name for name in found if name.endswith(".js"))
    preloads = "".join(f'<link rel="modulepreload" href="toolglot/page/{name}">' for name in modules)
    placeholders = {"DIALECTS": options, "MAX_TEXT": str(MAX_TEXT), "PRELOADS": preloads}
    for placeholder, text in placeholders.items():
        found["page.html"] = found["page.html"].replace(f"%{placeholder}%", text)
    found["page.html"] = "\n".join(line.lstrip() for line in found["page.html"].splitlines())  # the page has a limit of bytes
    return {name: text.encode() for name, text in found.items()}


async def show(call: EndpointCall) -> None:
    name = call.path_params.get("name", "page.html")
    body = page_files().get(name)
    if body is None:
        raise UpstreamError(f"the page has no file {name[:100]!r}", 404, "not_found")
    await call.exchange.respond(200, body, _HEADERS, media_type=_MEDIA_TYPES[name.rpartition(".")[2]])


# -- JSON endpoints


async def live(call: EndpointCall) -> None:
    """Query: the fields of LiveQuery, but the owner, who is the caller."""
    gateway, server = call.gateway, call.live.config.server
    value, limit = call.exchange.query_value, call.exchange.query_value("limit")
    wanted = int(limit[:6]) if limit.isascii() and limit.isdecimal() else 0
    owner = None if call.caller.is_admin else call.owner
    seen = await gateway.overview.live(LiveQuery(owner, value("after"), value("before"), wanted, value("span")))
    more = {"records": server.record, "max_records": server.max_records, "problem": gateway.shared.problem}
    await call.exchange.json({**seen, **more}, more=(_NO_STORE,))


async def show_upstreams(call: EndpointCall) -> None:
    """The routes in order, and the state of each upstream."""
    failed = await call.gateway.overview.failed()
    states = await call.live.upstream_states.states()
    upstreams = [{**state, "failed": failed.get(state["name"])} for state in states]
    await call.exchange.json({"routes": list(map(_route, call.live.config.routes)), "upstreams": upstreams}, more=(_NO_STORE,))


def _route(row: RouteRow) -> dict[str, Any]:
    """What differs from the default."""
    fields, defaults = map(msgspec.to_builtins, (row, RouteRow(row.model, row.to)))
    return {name: value for name, value in fields.items() if name in {"model", "to"} or value != defaults[name]}


@lru_cache(1)
def _docs() -> str:
    """The address of the documentation, from the package; "" if it names none."""
    with suppress(PackageNotFoundError):
        for line in metadata("toolglot").get_all("Project-URL") or ():
            name, _, url = line.partition(", ")
            if name.lower() == "documentation":
                return str(url)
    return ""


async def show_config(call: EndpointCall) -> None:
    """The version, and for admins the settings, without secrets."""
    config = call.live.config
    shown: dict[str, Any] = {"version": __version__, "admin": call.caller.is_admin, "keys": len(config.keys), "docs": _docs()}
    if call.caller.is_admin:
        settings: dict[str, Any] = msgspec.to_builtins(config.server)
        shown["server"] = {name: value for name, value in settings.items() if name not in SECRETS}
        defaults = msgspec.to_builtins(Server())
        shown["changed"] = [name for name in shown["server"] if settings[name] != defaults[name]]
    await call.exchange.json(shown, more=(_NO_STORE,))


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
