"""`toolglot logs`: the requests of a gateway, from its log file (also after a restart) or from its memory."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import msgspec

from toolglot.cli.gateway_client import GATEWAY, GatewayClient
from toolglot.cli.streams import no_color
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.gateway.config import read_config
from toolglot.gateway.records import Record
from toolglot.gateway.request_log import launch_log, line_of, request_fields
from toolglot.io.json_codec import JSON_ERRORS, decode, encode

EXAMPLES = """\b
Examples:
  toolglot logs                              the last 50 requests
  toolglot logs -f --status failed           follow what fails
  toolglot logs --model 'claude-*' --tool Write --reason 'rejected_*'
  toolglot logs gateway.jsonl --status 5xx -n 1000 --json | jq .error

\b
Exit codes: 0 success, 1 failure (no log, no gateway), 2 usage error.
"""
_CONFIG = "toolglot.toml"
_INTERVAL = 0.5  # seconds
_FAILED = "failed"
_STATUS = re.compile(rf"[1-5][0-9x]{{2}}|{_FAILED}")
_COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}


class Filter(msgspec.Struct, frozen=True):
    """Empty: everything. Names are globs; several conditions must all hold."""

    model: str = ""
    tool: str = ""
    status: str = ""
    reason: str = ""

    def __call__(self, fields: dict[str, Any]) -> bool:
        if "message" in fields:  # not about a request
            return self in {Filter(), Filter(status=_FAILED)} and (not self.status or fields.get("level") != "info")
        calls = fields.get("calls", [])
        codes = [fields.get("code", ""), *(call.get("code", "") for call in calls)]
        return (
            _matches(self.model, [fields.get("model", ""), fields.get("target", "")])
            and _matches(self.tool, [call.get("tool", "") for call in calls])
            and _matches(self.reason, codes)
            and self._has_status(fields)
        )

    def _has_status(self, fields: dict[str, Any]) -> bool:
        if self.status == _FAILED:
            return fields.get("level") != "info"
        status = str(fields.get("status", ""))
        return not self.status or (len(status) == 3 and fnmatchcase(status, self.status.replace("x", "?")))


def _matches(pattern: str, names: list[str]) -> bool:
    return not pattern or any(fnmatchcase(name, pattern) for name in names)


@click.command("logs", epilog=EXAMPLES)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("-f", "--follow", is_flag=True, help="Wait for more, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="The most lines of the past.")
@click.option("--model", default="", metavar="GLOB", help="Only this model, as the client or the upstream names it.")
@click.option("--tool", default="", metavar="GLOB", help="Only requests with a call of this tool.")
@click.option("--status", default="", help="Only this status: 502, 5xx, or failed (all warnings).")
@click.option("--reason", default="", metavar="GLOB", help="Only requests with this reason code or error code.")
@click.option("--gateway", metavar="URL", help=f"Ask this gateway for what it has in memory. Default: {GATEWAY}.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@click.pass_context
def command(
    ctx: click.Context, /, file: Path | None, follow: bool, lines: int, gateway: str | None, as_json: bool, **conditions: str
) -> None:
    """Print the requests of a gateway, one per line: time, id, client, model, target, status, tokens, calls, and why it failed.

    FILE is the gateway's log file; default: `log_file` of ./toolglot.toml, else the requests that the running gateway has in
    memory, else the log of `toolglot launch`.
    """
    if no_color():
        ctx.color = False
    try:
        if conditions["status"] and not _STATUS.fullmatch(conditions["status"]):
            raise CallerError(f"must be a status such as 502, 5xx, or {_FAILED}", "--status")
        wanted = Filter(**conditions)
        for fields in _entries(file, gateway, wanted, lines, follow=follow):
            click.echo(encode(fields) if as_json else _line(fields))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except ToolglotError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)


def _line(fields: dict[str, Any]) -> str:
    return click.style(line_of(fields), fg=_COLOURS.get(fields.get("level", "")))


def _entries(file: Path | None, gateway: str | None, wanted: Filter, lines: int, *, follow: bool) -> Iterator[dict[str, Any]]:
    if gateway is None:
        file = file or _configured()
        client = GatewayClient(GATEWAY)
        if file is None and not client.is_running():
            file = launch_log()
            if not file.is_file():
                raise UpstreamError(f"no log file is configured, and no gateway answers at {GATEWAY}")
    else:
        client = GatewayClient(gateway)
    if file is None:
        return _of_gateway(client, wanted, lines, follow=follow)
    if not file.is_file():
        raise UpstreamError(f"there is no log file {file} yet")
    return _of_file(file, wanted, lines, follow=follow)


def _configured() -> Path | None:
    """The log file of the configuration in this folder."""
    try:
        text = Path(_CONFIG).read_text(encoding="utf-8")
    except OSError:
        return None
    name = read_config(text, _CONFIG).server.log_file
    return Path(os.path.expanduser(name)) if name else None


# -- a file


def _of_file(file: Path, wanted: Filter, lines: int, *, follow: bool) -> Iterator[dict[str, Any]]:
    """The latest matches of the file and its rotated predecessors, then what is added."""
    latest: deque[dict[str, Any]] = deque(maxlen=lines)
    position = 0
    for one in _generations(file):
        with one.open("rb") as opened:
            latest += filter(wanted, _decoded(opened))
            position = opened.tell()
    yield from latest
    while follow:
        time.sleep(_INTERVAL)
        size = file.stat().st_size if file.exists() else 0
        if size < position:  # it was rotated
            position = 0
        with file.open("rb") as opened:
            opened.seek(position)
            data = opened.read().rpartition(b"\n")[0]
            position += len(data) + 1 if data else 0
        yield from filter(wanted, _decoded(data.splitlines()))


def _generations(file: Path) -> list[Path]:
    """The oldest first."""
    older = [one for one in file.parent.glob(f"{file.name}.*") if one.suffix[1:].isdecimal()]
    return [*sorted(older, key=lambda one: -int(one.suffix[1:])), file]


def _decoded(rows: Any) -> Iterator[dict[str, Any]]:
    """Lines that are not JSON objects are left out: one may be half written."""
    for row in rows:
        try:
            fields = decode(row)
        except JSON_ERRORS:
            continue
        if isinstance(fields, dict) and ("id" in fields or "message" in fields):
            yield fields


# -- a running gateway


def _of_gateway(client: GatewayClient, wanted: Filter, lines: int, *, follow: bool) -> Iterator[dict[str, Any]]:
    after, is_first = "", True
    while is_first or follow:
        rows = client.get(f"/toolglot/live?after={after}")["rows"]
        found = [fields for row in reversed(rows) if wanted(fields := request_fields(msgspec.convert(row, Record)))]
        yield from found[max(0, len(found) - lines) :] if is_first else found
        after, is_first = rows[0]["id"] if rows else after, False
        if follow:
            time.sleep(_INTERVAL)
