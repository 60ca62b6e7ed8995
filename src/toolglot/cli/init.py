"""`toolglot init`: three questions, and a commented toolglot.toml."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from pathlib import Path
from typing import Any

import click

from toolglot.catalog.providers import Provider, provider, providers, unknown
from toolglot.cli.completion import complete_models
from toolglot.client.embedded import SCHEME
from toolglot.client.http import HttpTransport
from toolglot.errors import CallerError
from toolglot.gateway.config import read_config
from toolglot.gateway.discover import find_servers
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot init                                       asks three questions
  toolglot init --yes                                 the first model found on this machine, for this machine only
  toolglot init -m ollama/qwen3:8b --any-name --yes
  toolglot init -m openai/gpt-5 --share --file shared.toml --yes

\b
Exit codes: 0 success, 1 failure, 2 usage error (the file exists, an unknown provider).
"""
DEFAULT_FILE = "toolglot.toml"
KEY_VARIABLE = "TOOLGLOT_KEY"
_EVERYWHERE = "0.0.0.0"  # noqa: S104  (with a key)
_LISTED = 15  # models in the question


@click.command("init", epilog=EXAMPLES)
@click.option("-m", "--model", help="provider/model", shell_complete=complete_models)
@click.option("--any-name/--own-name", default=None, help="Whether every other model name leads to it, too. Default: it does.")
@click.option("--share/--local", default=None, help="Other machines may use it, with a key. Default: only this machine.")
@click.option("--base-url", help="The model server's address, if not the provider's default.")
@click.option("--file", type=click.Path(path_type=Path), default=DEFAULT_FILE, show_default=True, help="Where to write it.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: use the defaults for what no option names.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; asks nothing, like --yes.")
def command(file: Path, as_json: bool, **options: Any) -> None:
    """Write a commented toolglot.toml for one model. Finds Ollama, llama.cpp, LM Studio and vLLM on this machine."""
    try:
        if file.exists() and not options["force"]:
            raise CallerError("exists already; --force overwrites it, --file names another", str(file))
        asks = not options["yes"] and not as_json
        if asks and not _is_terminal():
            raise CallerError("there is no terminal to ask on: add --yes, and -m provider/model")
        found = asyncio.run(_find())
        model = options["model"] or _ask_model(found, asks=asks)
        name, target, row = _split(model)
        any_name, share = options["any_name"], options["share"]
        if any_name is None:
            question = "Should all other model names (claude-*, gpt-*, ...) lead to it, too?"
            any_name = not asks or click.confirm(question, True, err=True)
        if share is None:
            share = asks and click.confirm("Should other machines be able to use the gateway, with a key?", False, err=True)
        text = _text(name, target, row, options["base_url"], any_name=any_name, share=share)
        _validate(text, file, row)
        file.write_text(text, encoding="utf-8")
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {file} can't be written: {error.strerror or error}", err=True)
        sys.exit(1)
    if as_json:
        click.echo(encode({"file": str(file), "model": f"{name}/{target}", "found": [f"{one}/{each}" for one, each in found]}))
    else:
        click.echo(f"written: {file}")
        _print_next(file, name, target, row, share=share)


# -- questions


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


async def _find() -> list[tuple[str, str]]:
    """Provider and name of each model that a server on this machine has."""
    transport = HttpTransport()
    try:
        servers = await find_servers(transport)
    finally:
        await transport.aclose()
    return [(upstream.name, name) for upstream, names in servers for name in names]


def _ask_model(found: list[tuple[str, str]], *, asks: bool) -> str:
    names = [f"{provider_name}/{model}" for provider_name, model in found]
    first = names[0] if names else SCHEME
    if not asks:
        return first
    if names:
        click.echo("Models on this machine:", err=True)
        for name in names[:_LISTED]:
            click.echo(f"  {name}", err=True)
    else:
        click.echo("No model server answers on this machine: `local` is a small embedded model.", err=True)
    return str(click.prompt("Which model (provider/model)?", default=first, err=True))


def _split(model: str) -> tuple[str, str, Provider]:
    name, _, target = model.partition("/")
    if name not in providers():
        raise CallerError(unknown("provider", name, list(providers())), "--model")
    row = provider(name)
    if not target and row.default_model is None:
        raise CallerError(f'write "{name}/model"', "--model")
    return name, target or name, row


# -- the file


def _text(name: str, target: str, row: Provider, base_url: str | None, *, any_name: bool, share: bool) -> str:
    quoted = encode(f"{name}/{target}").decode()
    parts = [
        "# The gateway of toolglot. `toolglot check` validates this file, `toolglot serve` uses it, and reads it again when it",
        "# changes.",
        "# All keys: https://github.com/toolglot/toolglot/blob/main/docs/reference/configuration.md",
        "",
        "[server]",
    ]
    if share:
        parts += [
            f'host = "{_EVERYWHERE}"             # every address of this machine',
            f'keys = ["env:{KEY_VARIABLE}"]  # clients send it as Authorization: Bearer; at least 16 characters',
        ]
    else:
        parts += [
            'host = "127.0.0.1"  # only this machine; any other address needs keys',
            f'# keys = ["env:{KEY_VARIABLE}"]',
        ]
    parts += [
        "port = 8484",
        '# log_file = "toolglot.jsonl"  # for `toolglot logs`, also after a restart',
        "",
        "# Where the model is.",
        "[[upstream]]",
        f'name = "{name}"',
        f'provider = "{name}"  # a row of the catalog: address, API and quirks',
    ]
    if base_url:
        parts.append(f"base_url = {encode(base_url).decode()}")
    elif name != SCHEME:
        parts.append(f'# base_url = "{row.base_url}"')
    if row.key and not row.key_optional:
        parts.append(f'api_key = "env:{row.key}"  # read from the environment at start')
    parts += [
        "",
        "# Which names clients use for it. The first route that matches is used, the next ones if it fails.",
        "[[route]]",
        f"model = {encode(target).decode()}",
        f"to = {quoted}",
        '# ask = "auto"     # how tools are given to the model: auto, native, dialect:NAME, constrained',
        "# retries = 1      # how often a rejected call goes back to the model",
    ]
    comment = "" if any_name else "# "
    parts += [
        "",
        "# Every other name, for clients that use their own: claude-sonnet-5, gpt-5, ...",
        f"{comment}[[route]]",
        f'{comment}model = "*"',
        f"{comment}to = {quoted}",
    ]
    return "\n".join(parts) + "\n"


def _validate(text: str, file: Path, row: Provider) -> None:
    """As if the keys were set: the output says how to set them."""
    keys = {KEY_VARIABLE: secrets.token_hex(24), **({row.key: "not-set-yet"} if row.key else {})}
    read_config(text, str(file), {**keys, **os.environ})


def _print_next(file: Path, name: str, target: str, row: Provider, *, share: bool) -> None:
    option = "" if str(file) == DEFAULT_FILE else f" --config {file}"
    steps = []
    if share and not os.environ.get(KEY_VARIABLE):
        steps.append(f"export {KEY_VARIABLE}={secrets.token_hex(24)}    # a new key; clients need it")
    if row.key and not row.key_optional and not os.environ.get(row.key):
        steps.append(f"export {row.key}=...    # of {name}")
    steps.append("toolglot check" if not option else f"toolglot check {file}")
    steps += [f"toolglot serve{option}", f"toolglot launch claude -m {target}"]
    click.echo("Next:\n" + "\n".join(f"  {step}" for step in steps), err=True)
