"""The log: one line for each request, as text or JSON, on stderr and in a file that is rotated.

A request that failed, that needed another route or whose call was rejected is a warning, with the reason. Message contents and
keys are never logged.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolglot.client.user_dirs import at_home, cache_folder, open_private
from toolglot.errors import CallerError
from toolglot.gateway.records import CLIENT_CLOSED, Record, RecordedCall

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]
LEVELS = ("debug", "info", "warning", "error")

log = logging.getLogger("toolglot.requests")
_FIELDS = "request"  # attribute of a logging.LogRecord
_MAX_REASON = 500  # characters
_MAX_NAME = 200
_KEPT_FILES = 3


class LogSettings(msgspec.Struct, frozen=True):
    format: Format = "text"
    level: Level = "info"
    file: str = ""
    file_size: int = 10 * 1024 * 1024  # bytes; then it is rotated
    on_stderr: bool = True


def launch_log() -> Path:
    """The file of gateways that a command starts for itself."""
    return cache_folder() / "log.jsonl"


def set_up_logging(settings: LogSettings) -> None:
    """Once in a process. Raises if the file can't be written."""
    root = logging.getLogger()
    for handler in (*root.handlers,):
        root.removeHandler(handler)
        handler.close()
    if settings.on_stderr:
        _add(root, logging.StreamHandler(sys.stderr), _JsonFormatter() if settings.format == "json" else _TextFormatter())
    if settings.file:
        try:
            _add(root, _PrivateFile(at_home(settings.file), settings.file_size), _JsonFormatter())
        except OSError as error:
            raise CallerError(f"can't be written: {error.strerror or error}", f"log_file {settings.file}") from None
    root.setLevel(logging.WARNING)  # of other packages
    logging.getLogger("toolglot").setLevel(settings.level.upper())


def _add(root: logging.Logger, handler: logging.Handler, formatter: logging.Formatter) -> None:
    handler.setFormatter(formatter)
    root.addHandler(handler)


class _PrivateFile(RotatingFileHandler):
    def __init__(self, path: Path, size: int) -> None:
        os.close(open_private(path))
        super().__init__(path, maxBytes=size, backupCount=_KEPT_FILES, encoding="utf-8")

    def _open(self) -> Any:
        os.close(open_private(Path(self.baseFilename)))
        return super()._open()


# -- one request


def log_request(record: Record) -> None:
    """An observer of records."""
    level = _level(record)
    if log.isEnabledFor(level):
        line = logging.LogRecord(
            log.name, level, "", 0, "", None, None
        )  # not `log.log`, which searches the stack for its caller
        setattr(line, _FIELDS, request_fields(record, level))
        log.handle(line)


def _level(record: Record) -> int:
    if record.status == CLIENT_CLOSED:
        return logging.INFO
    has_failed = record.status >= 400 or record.code or record.error or record.tried
    return logging.WARNING if has_failed or any(call.outcome == "refused" for call in record.calls) else logging.INFO


def request_fields(record: Record, level: int | None = None) -> dict[str, Any]:
    """The fields of a line, as in the file; empty ones are left out."""
    level = _level(record) if level is None else level
    fields = {
        "time": _iso(record.began + record.seconds),  # when it ended, so that lines are in order
        "level": logging.getLevelName(level).lower(),
        "id": record.id,
        "client": record.client,
        "key": record.owner,
        "api": record.wire,
        "model": _clean(record.model, _MAX_NAME),
        "upstream": record.upstream,
        "target": _clean(record.target, _MAX_NAME),
        "status": record.status,
        "input": record.input,
        "output": record.output,
        "cost": round(record.cost or 0, 9),  # US dollars
        "ms": round(record.seconds * 1000),
        "calls": [_call(call) for call in record.calls],
        "retried": record.retried,
        "tried": [_clean(one, _MAX_REASON) for one in record.tried],
        "code": record.code,
        "error": _clean(record.error, _MAX_REASON),
    }
    return {name: value for name, value in fields.items() if value not in ("", None, [], 0) or name == "status"}


def _call(call: RecordedCall) -> dict[str, str]:
    fields = {"tool": _clean(call.tool or "", _MAX_NAME), "outcome": call.outcome, "from": call.dialect, "code": call.code}
    return {name: value for name, value in fields.items() if value}


def _clean(text: str, limit: int) -> str:
    """On one line, and without control characters: it may come from a client, a model or a server."""
    if len(text) <= limit and text.isprintable():
        return text.strip()
    text = "".join(sign if sign.isprintable() else " " for sign in text[: 2 * limit])
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _iso(at: float) -> str:
    return _iso_second(int(at))


@lru_cache(64)
def _iso_second(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at))


# -- text


def line_of(fields: Mapping[str, Any]) -> str:
    """A line of the log as text, from its fields."""
    head = f"{fields.get('time', '')[:19].replace('T', ' ')} {fields.get('level', '').upper():<7}"
    if "message" in fields:
        return f"{head} {fields['message']}"
    who = [fields["id"], fields.get("client", ""), fields.get("model", "")]
    target = f"-> {fields['upstream']}/{fields.get('target', '')}" if fields.get("upstream") else ""
    tokens = f"{fields['input']}+{fields.get('output', 0)} tokens" if fields.get("input") else ""
    cost = dollars(fields["cost"]) if fields.get("cost") else ""
    parts = [head, *who, target, str(fields["status"]), tokens, cost, f"{fields.get('ms', 0)} ms"]
    line = " ".join(part for part in parts if part)
    reasons = [*map(call_text, fields.get("calls", ()))]
    if fields.get("retried"):
        reasons.append(f"asked again {fields['retried']}x")
    reasons += fields.get("tried", ())
    if fields.get("error") or fields.get("code"):
        reasons.append(": ".join(one for one in (fields.get("code", ""), fields.get("error", "")) if one))
    return f"{line}; {'; '.join(reasons)}" if reasons else line


def dollars(amount: float) -> str:
    """To the cent, or to three digits where that is more precise: `$12.30`, `$0.0412`."""
    digits = max(2, 2 - math.floor(math.log10(amount))) if amount > 0 else 2
    return f"${amount:.{digits}f}"


_OUTCOMES = {"passed": "valid", "fixed": "repaired", "refused": "rejected"}


def call_text(call: Mapping[str, str]) -> str:
    """`Write from text (hermes), repaired (trailing_comma)`"""
    source = call.get("from", "native")
    written = "" if source == "native" else f" from text ({source})"
    code = f" ({call['code']})" if call.get("code") else ""
    return f"{call.get('tool') or 'a call'}{written} {_OUTCOMES.get(call['outcome'], call['outcome'])}{code}"


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return line_of(getattr(record, _FIELDS, None) or _message_fields(self, record))


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, _FIELDS, None) or _message_fields(self, record)
        return msgspec.json.encode(fields).decode()


def _message_fields(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, Any]:
    """Of a line that is not about a request."""
    message = record.getMessage()
    if record.exc_info:
        message += "\n" + formatter.formatException(record.exc_info)
    return {"time": _iso(record.created), "level": record.levelname.lower(), "message": message}
