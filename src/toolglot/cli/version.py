"""`toolglot version`: the version, Python, and which extras are installed: what a bug report needs."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

import toolglot
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot version
  toolglot version --json | jq -r .version

\b
Exit codes: 0 success, 2 usage error.
"""
# extra -> the package that shows whether it is installed
EXTRAS = {
    "gateway": "uvicorn",
    "local": "xllamacpp",
    "mcp": "mcp",
    "otel": "opentelemetry-sdk",
    "parquet": "pyarrow",
    "ray": "ray",
    "redis": "redis",
}


def facts() -> dict[str, Any]:
    return {
        "version": toolglot.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "package": str(Path(toolglot.__file__).parent),
        "extras": {extra: _installed(package) for extra, package in EXTRAS.items()},
    }


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@click.command("version", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Print the version of toolglot and Python, and which extras are installed."""
    found = facts()
    if as_json:
        click.echo(encode(found))
        return
    extras = [f"{extra} ({EXTRAS[extra]} {number})" if number else f"no {extra}" for extra, number in found["extras"].items()]
    click.echo(f"toolglot {found['version']}")
    click.echo(f"Python {found['python']} on {found['platform']}, {found['executable']}")
    click.echo(f"package {found['package']}")
    click.echo(f"extras  {', '.join(extras)}")
