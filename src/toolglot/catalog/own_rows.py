"""A user's own rows about models: `[[model]]` in ./toolglot.toml, or in the user's configuration, toolglot/models.toml."""

from __future__ import annotations

import logging
import os
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.catalog.rows import Patterns, patterns, read_rows
from toolglot.errors import CallerError

Stamp = tuple[str, int, int, int]  # path, file, time of change, size: as long as they are the same, so is the content

log = logging.getLogger("toolglot")
_also: list[str] = []
_good: dict[str, OwnRows] = {}  # of each file, the last that could be read


class OwnRows(msgspec.Struct, frozen=True):
    file: str
    patterns: Patterns


def stamps() -> tuple[Stamp, ...]:
    """The files that are there, the more particular last: a project's before it, the user's."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    found = []
    for path in (os.path.join(config, "toolglot", "models.toml"), "toolglot.toml", *_also):
        try:
            state = os.stat(path)
        except OSError:
            continue
        found.append((path, state.st_ino, state.st_mtime_ns, state.st_size))
    return tuple(found)


def also_read(path: str) -> None:
    """A configuration of another name, as the gateway may be given."""
    if os.path.abspath(path) != os.path.abspath("toolglot.toml"):
        _also[:] = [path]


@lru_cache(maxsize=8)
def own_rows(stamp: Stamp) -> OwnRows:
    """The rows of one file, read again when it has changed. Where it has become wrong, those of before stay in use."""
    file = os.path.abspath(stamp[0])
    try:
        _good[file] = _read(stamp[0])
    except CallerError as error:
        if file not in _good:
            raise
        log.error("its rows of before stay in use: %s", error)
    return _good[file]


def _read(path: str) -> OwnRows:
    try:
        held = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CallerError(f"can't be read: {error}", path) from None
    if Path(path).name == "models.toml" and (strange := [key for key in held if key != "model"]):
        raise CallerError(unknown("table", strange[0], ["model"]), path)
    return OwnRows(path, patterns(read_rows(held.get("model", []), path)))
