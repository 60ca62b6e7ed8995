"""The user's rows about models: `[[model]]` in ./toolglot.toml, or in toolglot/models.toml of the user's config directory."""

from __future__ import annotations

import os
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.catalog.rows import Patterns, patterns, read_rows
from toolglot.core.log import log
from toolglot.errors import CallerError, unreadable

Stamp = tuple[str, int, int, int]  # path, inode, mtime, size: if all are the same, so is the content

_also: list[str] = []
_good: dict[str, UserRows] = {}  # per file, the last valid rows


class UserRows(msgspec.Struct, frozen=True):
    file: str
    patterns: Patterns


def stamps() -> tuple[Stamp, ...]:
    """The files that exist, the more specific last: the user's, then the project's."""
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
    """Also reads the rows of this file: the gateway's config may have another name."""
    if os.path.abspath(path) != os.path.abspath("toolglot.toml"):
        _also[:] = [path]


@lru_cache(maxsize=8)
def user_rows(stamp: Stamp) -> UserRows:
    """The rows of one file, reloaded when it changes. If it becomes invalid, the previous rows stay in use."""
    file = os.path.abspath(stamp[0])
    try:
        _good[file] = _read(stamp[0])
    except CallerError as error:
        if file not in _good:
            raise
        log.error("new model rows rejected; still using the previous ones: %s", error)
    return _good[file]


def _read(path: str) -> UserRows:
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if Path(path).name == "models.toml" and (strange := [key for key in tables if key != "model"]):
        raise CallerError(unknown("table", strange[0], ["model"]), path)
    return UserRows(path, patterns(read_rows(tables.get("model", []), path)))
