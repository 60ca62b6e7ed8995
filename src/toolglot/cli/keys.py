"""`toolglot keys`: named API keys of the gateway. The configuration has only their hashes."""

from __future__ import annotations

import re
import secrets
import sys
import tomllib
from pathlib import Path

import click

from toolglot.cli.settings_files import replace_text
from toolglot.errors import CallerError
from toolglot.gateway.config import KEY_NAME, hash_key, read_text
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot keys add ada                  prints the new key, once
  toolglot keys add ops --admin          may see the requests of all keys, and the metrics
  toolglot keys list
  toolglot keys remove ada
  toolglot keys add ci --json | jq -r .key

\b
Exit codes: 0 success, 1 failure, 2 usage error (no such file, a name that exists already).
"""
DEFAULT_FILE = "toolglot.toml"
_BLOCK = re.compile(r"^\[\[key\]\][^\n]*\n(?:(?!\s*\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)


@click.command("keys", epilog=EXAMPLES)
@click.argument("action", type=click.Choice(["add", "list", "remove"]))
@click.argument("name", required=False)
@click.option("--file", type=click.Path(path_type=Path), default=DEFAULT_FILE, show_default=True, help="The configuration.")
@click.option("--admin", is_flag=True, help="With add: the key may see the requests of all keys, and the metrics.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(action: str, name: str | None, file: Path, admin: bool, as_json: bool) -> None:
    """Add, list or remove named API keys of the gateway. A running gateway uses the change within seconds.

    The key itself is printed once and stored nowhere. The log, the usage and the page show its name.
    """
    try:
        text = read_text(file)
        keys = _keys(text, file)
        if action == "list":
            if name is not None:
                raise CallerError("takes no NAME", action)
            _print_list(keys, as_json)
            return
        if name is None or not KEY_NAME.fullmatch(name):
            raise CallerError("needs a NAME of 1 to 64 letters, digits, '.', '-', '_' or '@'", action)
        if action == "add":
            if name in keys:
                raise CallerError(f"there is a key {name!r} already; remove it first", "NAME")
            key = f"tg-{secrets.token_hex(24)}"
            row = f'[[key]]\nname = "{name}"\nhash = "{hash_key(key)}"\n' + ("admin = true\n" if admin else "")
            replace_text(file, f"{text.rstrip()}\n\n{row}")
            click.echo(encode({"name": name, "key": key}) if as_json else key)
            click.echo(f"key {name} added to {file}: it is shown only this time", err=True)
            return
        if name not in keys:
            raise CallerError(f"there is no key {name!r} in {file}", "NAME")
        replace_text(file, _without(text, name))
        click.echo(encode({"removed": name}) if as_json else f"key {name} removed from {file}")
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {file} can't be written: {error.strerror or error}", err=True)
        sys.exit(1)


def _keys(text: str, file: Path) -> dict[str, bool]:
    """Name of each key, and whether it is an admin key."""
    try:
        rows = tomllib.loads(text).get("key", [])
    except tomllib.TOMLDecodeError as error:
        raise CallerError(f"is not valid TOML: {error}", str(file)) from None
    if not isinstance(rows, list):
        raise CallerError("[key] must be a list of tables: write [[key]]", str(file))
    return {str(row.get("name")): bool(row.get("admin")) for row in rows if isinstance(row, dict)}


def _without(text: str, name: str) -> str:
    def keep(block: re.Match[str]) -> str:
        return "" if tomllib.loads(block[0])["key"][0].get("name") == name else block[0]

    return _BLOCK.sub(keep, text).rstrip() + "\n"


def _print_list(keys: dict[str, bool], as_json: bool) -> None:
    if as_json:
        click.echo(encode([{"name": name, "admin": admin} for name, admin in keys.items()]))
        return
    for name, admin in keys.items():
        click.echo(f"{name}{'  (admin)' if admin else ''}")
