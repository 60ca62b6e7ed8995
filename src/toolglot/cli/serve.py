"""`toolglot serve`: run the gateway until it is stopped."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolglot.catalog.user_rows import also_read
from toolglot.errors import CallerError
from toolglot.io.json_codec import encode

if TYPE_CHECKING:
    from toolglot.gateway.config import Config

DEFAULT_FILE = "toolglot.toml"

EXAMPLES = """\b
Examples:
  toolglot serve                          ./toolglot.toml, or without it the model servers found on this machine
  toolglot serve --config my.toml
  toolglot serve --port 9000
  toolglot serve --workers 4              four processes on one port
  toolglot serve --log-file gateway.jsonl --log-level warning

\b
Exit codes: 0 success, 1 failure, 2 usage error (an invalid configuration, a port in use).
"""

CLIENTS = """\
Point a client at it (NAME is a model that matches a route above; any other name is a 404):
  Claude Code   ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN={key} claude --model NAME
  Codex         base_url = "{url}/v1" and wire_api = "responses" in ~/.codex/config.toml
  OpenAI SDKs   OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}
  Gemini CLI    GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key} gemini -m NAME
                (with selectedType "gemini-api-key" in ~/.gemini/settings.json)
  Ollama        OLLAMA_HOST={url}"""


@click.command("serve", epilog=EXAMPLES)
@click.option("--config", "path", type=click.Path(path_type=Path), help="The configuration; default: ./toolglot.toml.")
@click.option("--host", help="The address to listen on; anything but loopback needs keys.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes that serve the port; default: 1.")
@click.option("--log", type=click.Choice(["text", "json"]), help="The format of the log on stderr; default: text.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Default: info, each request.")
@click.option("--log-file", type=click.Path(), help="Also write the log to this file as JSON, for `toolglot logs`.")
@click.option("--json", "as_json", is_flag=True, help="Print the address and the routes as JSON, on one line.")
def command(path: Path | None, as_json: bool, **options: Any) -> None:
    """Run the gateway: clients of six APIs in front, any model behind. Every tool call is validated.

    Without a configuration it serves the embedded models by name, and the models of Ollama, llama.cpp, LM Studio and vLLM
    servers that answer on their default ports on this machine.
    """
    try:
        from toolglot.gateway import server  # noqa: PLC0415
        from toolglot.gateway.request_log import set_up_logging  # noqa: PLC0415
    except ImportError as error:
        click.echo(f"error: the gateway needs {error.name}: pip install 'toolglot[gateway]'", err=True)
        sys.exit(2)
    if path is None and Path(DEFAULT_FILE).is_file():
        path = Path(DEFAULT_FILE)
    if path is not None:
        also_read(str(path))
    try:
        source = server.read_source(path, **options)
        config = source.config()
        set_up_logging(config.server.log_settings)
        server.raise_descriptor_limit(config)
        several = config.server.workers > 1
        if several and sys.platform == "win32":
            raise CallerError("more than 1 is not supported on Windows", "workers")
        gateway = None if several else server.make_single_gateway(config, path)
        listening = server.listen(config.server.host, config.server.port)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    url = f"http://{_shown_host(config.server.host)}:{listening.getsockname()[1]}"
    click.echo(_as_json(url, config) if as_json else _as_text(url, path, config))
    sys.stdout.flush()
    if gateway is not None:
        server.run(gateway, listening)
    else:
        from toolglot.gateway.master import run_master  # noqa: PLC0415

        if not config.server.state:
            click.echo(_per_worker(config), err=True)
        sys.exit(run_master(config, source, listening))


def _per_worker(config: Config) -> str:
    """What the workers do not share."""
    apart = ["the limits of a key hold per worker (set state to share them)"]
    if config.server.store == "memory":
        apart.append("a stored response is known to one worker only (set store to a file)")
    return f"{config.server.workers} workers: {', and '.join(apart)}"


def _shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _as_text(url: str, path: Path | None, config: Config) -> str:
    rows = [(row.model, row.to) for row in config.routes]
    width = min(40, max((len(model) for model, _ in rows), default=0))
    routes = [f"  {model:<{width}}  {to}" for model, to in rows]
    key = "$TOOLGLOT_KEY" if config.keys else "any"
    return "\n".join(
        [
            f"toolglot listens on {click.style(url, bold=True)}",
            f"Routes, from {path}:" if path is not None else "Routes, from the servers found on this machine:",
            *(routes or ["  none yet: a [[route]] maps a model name to an [[upstream]]"]),
            *_missing(config),
            CLIENTS.format(url=url, key=key),
        ]
    )


def _missing(config: Config) -> list[str]:
    """What the embedded models lack, told before the first request fails."""
    needed = any(upstream.embedded for upstream in config.upstreams.values()) and find_spec("xllamacpp") is None
    return ["  local needs llama.cpp, and it is not installed: pip install 'toolglot[local]'"] if needed else []


def _as_json(url: str, config: Config) -> bytes:
    return encode({"url": url, "routes": [{"model": row.model, "to": row.to} for row in config.routes]})
