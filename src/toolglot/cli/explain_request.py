"""`toolglot explain` of a request that went through a running gateway: asked of the gateway itself."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.parse import quote

import click

from toolglot.cli.asking_view import colour, plain
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import BadJson, decode

GATEWAY = "http://127.0.0.1:8484"
_LONG = 300
_REFUSED = (401, 403)


def fetched(request_id: str, gateway: str, key: str | None) -> dict[str, Any]:
    """The gateway's record of a request."""
    return asyncio.run(_fetched(request_id, gateway.rstrip("/"), os.environ.get(key or "", "") if key else ""))


async def _fetched(request_id: str, gateway: str, secret: str) -> dict[str, Any]:
    from toolglot.client.http import HttpTransport  # noqa: PLC0415

    transport = HttpTransport()
    try:
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        answer = await transport.send("GET", f"{gateway}/toolglot/decisions/{quote(request_id, safe='')}", headers)
        try:
            body = await answer.read()
        finally:
            await answer.aclose()
    except UpstreamError as error:
        why = f"{request_id} is no file, and no gateway answers at {gateway} ({error.message}); a run's id needs --record"
        raise CallerError(why, "RUN") from None
    finally:
        await transport.aclose()
    if answer.status in _REFUSED:
        raise CallerError(f"the gateway at {gateway} wants a key: --key-env names the variable that holds it", "RUN")
    try:
        held = decode(body)
    except BadJson:
        held = None
    if answer.status != 200 or not isinstance(held, dict):
        raise CallerError(f"{request_id} is no file, and no request that the gateway at {gateway} remembers", "RUN")
    return held


def lines(held: dict[str, Any]) -> list[str]:
    """For people."""
    told = [
        f"{click.style(str(held.get('id', '')), bold=True)}  {held.get('model', '')} -> "
        f"{held.get('upstream', '')}/{held.get('target', '')}  {held.get('wire', '')} -> {held.get('upstream_wire', '')}",
        f"  asked {held.get('way') or 'without tools'}; status {held.get('status')}, {held.get('seconds', 0):.2f} s",
    ]
    told += [f"  before: {plain(one, _LONG)}" for one in held.get("tried", [])]
    for call in held.get("calls", []):
        name = call.get("tool") or "a call"
        shade = {"passed": "green", "fixed": "cyan"}.get(call.get("outcome", ""), "red")
        why = f"  {call['code']}" if call.get("code") else ""
        told.append(
            f"  {click.style(plain(name), fg=shade, bold=True)}  {call.get('outcome')}, written as {call.get('dialect')}{why}"
        )
        if call.get("written"):
            told.append(f"      as written: {plain(call['written'], _LONG)}")
    if not held.get("calls"):
        told.append("  no call was made")
    for one in held.get("decisions", []):
        told.append(f"  {click.style(one['code'], fg=colour(one['code']))}  {plain(one.get('message') or '', _LONG)}".rstrip())
    told += [click.style(f"  note: {plain(note, _LONG)}", fg="bright_black") for note in held.get("notes", [])]
    return told
