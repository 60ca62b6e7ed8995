"""The coding agents that toolglot can start and configure: the tables of agents.toml."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.cli.settings_files import merged, read_values
from toolglot.client.user_dirs import at_home
from toolglot.errors import CallerError
from toolglot.io.json_codec import dumps, encode


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the user, and what is merged into it."""

    file: str
    values: dict[str, Any]


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    program: str
    install: str
    prompt: int  # tokens
    source: str
    name: str = ""
    tested: str = ""
    arguments: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    env: dict[str, str] = {}
    json_env: dict[str, dict[str, Any]] = {}
    files: dict[str, dict[str, Any]] = {}
    overlay: dict[str, str] = {}
    settings: tuple[Settings, ...] = ()

    def filled(self, **values: str) -> Agent:
        """With the placeholders replaced. Values are data: they are never read as placeholders themselves."""
        names = {f"{{{name}}}": value for name, value in values.items()}
        fields = _fill(msgspec.to_builtins(self), names)
        fields["env"] |= {name: dumps(value) for name, value in fields.pop("json_env").items()}
        return msgspec.convert(fields, Agent)

    def write_files(self, folder: Path) -> None:
        for name, source in self.overlay.items():
            (folder / name).mkdir()
            users = at_home(source)
            for entry in users.iterdir() if users.is_dir() else ():
                if f"{name}/{entry.name}" not in self.files:
                    with suppress(OSError):  # not every user of Windows may make links
                        (folder / name / entry.name).symlink_to(entry.absolute(), entry.is_dir())
        for name, values in self.files.items():
            first, _, rest = name.partition("/")
            old = read_values(at_home(self.overlay[first]) / rest) if first in self.overlay else {}
            (folder / name).write_bytes(encode(merged(old, values)))


def _fill(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _fill_text(value, names)
    if isinstance(value, dict):
        return {_fill_text(key, names): _fill(item, names) for key, item in value.items()}
    return [_fill(item, names) for item in value] if isinstance(value, (list, tuple)) else value


def _fill_text(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        before, found, after = text.partition(name)
        if found:  # a value is inserted once, and what it contains is not filled again
            return _fill_text(before, names) + value + _fill_text(after, names)
    return text


@cache
def agents() -> dict[str, Agent]:
    """All rows, by name."""
    rows = tomllib.loads(Path(__file__).with_name("agents.toml").read_text(encoding="utf-8"))
    return {name: msgspec.convert({**row, "name": name}, Agent) for name, row in rows.items()}


def find_agent(name: str) -> Agent:
    if name not in agents():
        raise CallerError(unknown("agent", name, list(agents())), "AGENT")
    return agents()[name]
