"""Merges values into a program's settings file, keeps a backup, and undoes it. Everything else in the file stays as it is.

JSON, TOML, and files of lines: `NAME=value` (.env) and `name: value` (YAML, first level).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode, encode

_BACKUP = ".toolglot-backup"
_TABLE = re.compile(r"\s*\[")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """New values win; tables are merged."""
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        result[key] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result


def edited(path: Path, text: str, values: dict[str, Any]) -> str:
    """The file's text with the values. Raises if that can't be done without losing something."""
    editor = _EDITORS.get(path.suffix, _edit_env)
    try:
        return editor(text, values)
    except (ValueError, *JSON_ERRORS) as error:
        raise CallerError(f"can't be edited automatically ({error}): add the settings by hand", str(path)) from None


def read_values(path: Path) -> dict[str, Any]:
    """Of a JSON file; empty if there is none, or if it is not plain JSON."""
    try:
        found = decode(path.read_bytes())
    except (OSError, *JSON_ERRORS):
        return {}
    return found if isinstance(found, dict) else {}


# -- formats


def _edit_json(text: str, values: dict[str, Any]) -> str:
    old = decode(text) if text.strip() else {}
    if not isinstance(old, dict):
        raise ValueError("it is not a JSON object")
    return msgspec.json.format(encode(merged(old, values)), indent=2).decode() + "\n"


def _edit_toml(text: str, values: dict[str, Any]) -> str:
    """Plain keys go before the first table, and tables to the end. Older ones with the same name are removed."""
    wanted = merged(tomllib.loads(text), values)
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    touched = {name for name, _ in _tables(values, ())}
    tables = {name: table for name, table in _tables(wanted, ()) if name in touched}  # with their older keys
    lines = _without(text.splitlines(), set(plain), set(tables))
    head = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    tail = [
        line for name, table in tables.items() for line in ("", f"[{name}]", *(f"{k} = {_toml(v)}" for k, v in table.items()))
    ]
    result = "\n".join([*head, *lines, *tail]).strip("\n") + "\n"
    if tomllib.loads(result) != wanted:
        raise ValueError("its tables are written in a way that is not supported")
    return result


def _tables(values: dict[str, Any], above: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Name and plain keys of each table."""
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            name = (*above, key if _BARE_KEY.fullmatch(key) else _toml(key))
            plain = {inner: one for inner, one in value.items() if not isinstance(one, dict)}
            if plain:
                found.append((".".join(name), plain))
            found += _tables(value, name)
    return found


def _without(lines: list[str], keys: set[str], tables: set[str]) -> list[str]:
    kept, in_table, is_dropped = [], False, False
    for line in lines:
        if _TABLE.match(line):
            in_table, is_dropped = True, line.split("#")[0].strip().strip("[]").strip() in tables
        name = line.partition("=")[0].strip()
        if is_dropped or (not in_table and name in keys):
            continue
        kept.append(line)
    return kept


def _toml(value: Any) -> str:
    return encode(value).decode()  # strings, numbers and booleans look the same in JSON


def _edit_lines(text: str, values: dict[str, Any], line: Callable[[str, Any], str], mark: str) -> str:
    kept = [one for one in text.splitlines() if one.partition(mark)[0].removeprefix("export ").rstrip() not in values]
    return "\n".join([*kept, *(line(key, value) for key, value in values.items())]) + "\n"


def _edit_env(text: str, values: dict[str, Any]) -> str:
    return _edit_lines(text, values, lambda key, value: f"{key}={_toml(value)}", "=")


def _edit_yaml(text: str, values: dict[str, Any]) -> str:
    return _edit_lines(text, values, lambda key, value: f"{key}: {_toml(value)}", ":")


_EDITORS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    ".json": _edit_json,
    ".toml": _edit_toml,
    ".yaml": _edit_yaml,
    ".yml": _edit_yaml,
}


# -- writing and undoing


class Written(msgspec.Struct, frozen=True):
    """What was done to a file."""

    path: str
    digest: str  # of what was written
    backup: str | None  # None: there was no file


def write(path: Path, text: str, before: Written | None = None) -> Written:
    """Replaces the file in one step, with a backup of what was there first. Its permissions stay; a new file is private.

    `before`: what an earlier call did to it.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    backup = before.backup if before is not None else None
    if before is None and path.exists():
        backup = str(path.with_name(path.name + _BACKUP))
        _write(Path(backup), path.read_bytes(), mode)
    _write(path, text.encode(), mode)
    return Written(str(path), _digest(text.encode()), backup)


def replace_text(path: Path, text: str) -> None:
    """In one step; its permissions stay."""
    path = path.resolve()
    _write(path, text.encode(), path.stat().st_mode & 0o777)


def undo(written: Written, *, force: bool = False) -> str:
    """Restores the file as it was; what was done, as a sentence."""
    path = Path(written.path)
    try:
        now = path.read_bytes()
    except FileNotFoundError:
        now = b""
    if now and _digest(now) != written.digest and not force:
        where = f"the backup is {written.backup}" if written.backup else "there was no such file before"
        raise CallerError(f"was changed since: {where}. --force restores it and loses these changes", written.path)
    if written.backup is None:
        path.unlink(missing_ok=True)
        return f"deleted {path}"
    os.replace(written.backup, path)
    return f"restored {path}"


def _write(path: Path, data: bytes, mode: int) -> None:
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(scratch, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
    scratch.chmod(mode)
    os.replace(scratch, path)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
