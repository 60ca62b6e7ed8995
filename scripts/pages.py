"""Writes the generated pages of the documentation: `python -m scripts.pages`; with `--check` it fails if one is not current."""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from click.testing import CliRunner

import toolglot
from toolglot.catalog.prices import Price, prices
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import families
from toolglot.catalog.providers import Provider, providers
from toolglot.cli.main import COMMANDS
from toolglot.cli.main import main as cli
from toolglot.gateway.budgets import Budget
from toolglot.gateway.config import KeyRow, RouteRow, Server, UpstreamRow
from toolglot.gateway.configured_tools import ServerToolRow

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
BAD_INPUT = ROOT / "tests" / "cli" / "bad_input.toml"
_FIELD = re.compile(r"^    (\w+): .*?(?:  # (.*))?$", re.MULTILINE)
_NOTE = "<!-- written by `python -m scripts.pages`: do not edit -->\n"


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in [heads, ["---"] * len(heads), *rows])


# -- configuration


def _comments(row: type[msgspec.Struct]) -> dict[str, str]:
    return {key: comment.replace("None:", "not set:") for key, comment in _FIELD.findall(inspect.getsource(row))}


def _kind(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    arms = [arm for arm in get_args(hint) if arm is not type(None)] if type(None) in get_args(hint) else [hint]
    names: dict[Any, str] = {str: "string", int: "whole number", float: "number", bool: "true or false"}
    names |= {tuple[str, ...]: "list of strings", dict[str, str]: "table of strings"}
    return " or ".join(names[arm] for arm in arms)


def _default(field: Any) -> str:
    if field.default is msgspec.NODEFAULT:
        return "required"
    value = [] if field.default == () else field.default
    return "not set" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def _keys(row: type[msgspec.Struct]) -> str:
    hints, comments = get_type_hints(row), _comments(row)
    rows = [
        [f"`{field.encode_name}`", _default(field), _kind(hints[field.name]), comments[field.name]]
        for field in msgspec.structs.fields(row)
    ]
    return _table(["key", "default", "type", ""], rows)


def configuration() -> str:
    return f"""# Configuration

Every key of `toolglot.toml`, with its default. [Run the gateway](../how-to/gateway.md) explains how to use them. Sizes are in
bytes, times in seconds.

## `[server]`

{_keys(Server)}
## `[[upstream]]`

A model server. What is not set is as in the [provider's row](providers.md).

{_keys(UpstreamRow)}
## `[[route]]`

The first match is used. The next matches are tried if it fails before it responds.

{_keys(RouteRow)}
## `[[server_tool]]`

What runs a server tool that clients declare, for models of other vendors: see
[server tools](../how-to/gateway.md#server-tools).

{_keys(ServerToolRow)}
## `[[key]]`

A key with a name, of which only a hash is stored. `toolglot keys add NAME` makes one.

{_keys(KeyRow)}
## `[[budget]]`

What each key may spend. A request of a key that has spent it gets a 429: see [budgets](../how-to/observability.md#budgets).

{_keys(Budget)}
## `[[price]]`

What a model costs, in US dollars for a million tokens: see [cost](../how-to/observability.md#cost). The first match is used.

{_keys(Price)}
## `[[model]]`

What you know about a model, in the form of the catalog's rows: see [know the model](../how-to/models.md).
"""


# -- the catalog


def _provider(name: str, row: Provider) -> list[str]:
    key = f"`{row.key}`{' (optional)' if row.key_optional else ''}" if row.key else "none"
    if row.credentials:
        key += f", or `toolglot[{row.credentials}]`"
    return [f"`{name}`", row.wire, f"`{row.base_url}`", key, "yes" if row.constrains else "", row.source]


def providers_page() -> str:
    heads = ["name", "API", "address", "key", "holds answers to a schema", "source"]
    return f"""# Providers

A model is `provider/model`: `ollama/qwen3:8b`. In `toolglot.toml` a provider is the `provider` of an upstream, and
`base_url` replaces its address.

Bedrock and Vertex also work without a key. With `pip install 'toolglot[aws]'`, requests are signed with your AWS credentials
(environment, profile, role). With `toolglot[google]` they carry a token of your Application Default Credentials.

{_table(heads, [_provider(name, row) for name, row in providers().items()])}"""


_PRICES = {
    "input": "input",
    "output": "output",
    "cache_read": "cache read",
    "cache_write": "cache write",
    "cache_write_1h": "for an hour",
}


def _prices_of(rows: list[Price], sources: list[str]) -> str:
    used = {key: head for key, head in _PRICES.items() if any(getattr(row, key) is not None for row in rows)}
    lines = []
    for row in sorted(rows, key=lambda row: (row.model, row.above)):
        model = f"`{row.model}`" + (f" above {row.above:,} input tokens" if row.above else "")
        figures = [f"{number:g}" if (number := getattr(row, key)) is not None else "" for key in used]
        lines.append([model, *figures, str(sources.index(f"{row.source} ({row.date})") + 1)])
    return _table(["model", *used.values(), "source"], lines)


def prices_page() -> str:
    sources = list(dict.fromkeys(f"{row.source} ({row.date})" for row in prices()))
    parts = [
        f"## {', '.join(names)}\n\n{_prices_of([row for row in prices() if row.providers == names], sources)}"
        for names in dict.fromkeys(row.providers for row in prices())
    ]
    return f"""# Prices

What toolglot knows of prices: US dollars for a million tokens, at the vendor's own API. It counts
[cost](../how-to/observability.md#cost) and budgets with them. Prices change, so check those that matter to you: your own rows
in `toolglot.toml` win.

Where "cache write" is empty, what is put into the cache costs as much as other input. DeepSeek's prices are those outside its
peak hours.

{chr(10).join(parts)}
## Sources

{"".join(f"{number}. {source}{chr(10)}" for number, source in enumerate(sources, 1))}"""


def _model(row: Profile) -> list[str]:
    tools = "yes" if row.supports_tools else "in the prompt"
    context = f"{row.context_length:,}" if row.context_length else ""
    return [f"`{row.model}`", tools, row.dialect or "", str(row.max_tools), "yes" if row.supports_parallel else "", context]


def models_page() -> str:
    heads = ["family", "native tools", "dialect of its text", "most tools", "parallel calls", "context"]
    return f"""# Models

What the catalog knows about each family. `toolglot models NAME` shows one model with the source of each fact, also on a
certain server. Where a cell is empty, it is not known or the answer is no. [Your own rows](../how-to/models.md) win.

{_table(heads, [_model(row) for row in families(user_rows=False)])}"""


# -- Python

SECTIONS = {
    "Agents and tools": (
        *("Agent", "tool", "Context", "ToolError", "Limits", "Run", "ToolRun", "mcp_tools", "mcp_server", "replay"),
        *("Loop", "AskModel", "RunTools", "Done"),
    ),
    "Clients": ("Client", "AsyncClient", "RetryPolicy", "TransportLimits"),
    "Calls in text": (
        *("extract", "StreamExtractor", "Extraction", "Decision", "validate", "parse_arguments", "dialect_from_template"),
    ),
    "Models and requests": (
        *("profile", "Profile", "normalize_model", "prepare", "PreparedRequest", "augment_system_prompt"),
        *("grammar", "ToolGrammar"),
    ),
    "Between APIs": (
        *("convert", "convert_stream", "read_stream", "fold", "unfold"),
        *("format_tools", "parse_tool_calls", "format_tool_result"),
    ),
    "Events": ("Start", "Open", "Delta", "Close", "Finish", "Fault"),
    "Values": (
        *("Reply", "Request", "Message", "Text", "Reasoning", "Media", "ToolCall", "ToolResult", "Tool", "Choice"),
        *("Stop", "Usage"),
    ),
    "Errors": (
        *("ToolglotError", "CallerError", "KeyMissingError", "LossError", "ArgumentsError", "OutputError", "UpstreamError"),
    ),
}


def python_page() -> str:
    parts = ["# Python\n\nEverything that `import toolglot` offers. Names are loaded on first use.\n"]
    for title, names in SECTIONS.items():
        parts.append(f"\n## {title}\n")
        for name in names:
            value = getattr(toolglot, name)
            parts.append(f"\n::: {value.__module__}.{value.__qualname__}\n    options:\n      heading: toolglot.{name}\n")
            parts.append(f"      toc_label: {name}\n")
    return "".join(parts)


# -- the command line


def cli_page() -> str:
    bad = tomllib.loads(BAD_INPUT.read_text(encoding="utf-8"))
    parts = [
        """# Command line

What each command prints for `--help`, and how it answers bad input: the exit code, and the line that says what is wrong (on
standard error, but for `check` and `doctor`, whose findings are their output). `...` stands for any text. The tests run every
row, in a folder with the files at the end of this page.

Every command has `--json`, and the same exit codes: 0 success, 1 failure, 2 usage error. `toolglot launch` exits as the agent.
"""
    ]
    for name in COMMANDS:
        shown = CliRunner().invoke(cli, [name, "--help"], prog_name="toolglot", terminal_width=80).stdout.rstrip()
        rows = [case for case in bad["case"] if case["command"].split()[1] == name]
        table = _table(
            ["bad input", "exit", "answer"], [[f"`{row['command']}`", row["exit"], f"`{row['answer']}`"] for row in rows]
        )
        parts.append(f"\n## toolglot {name}\n\n```\n{shown}\n```\n\n{table}")
    files = [[f"`{name}`", f"`{json.dumps(text)}`"] for name, text in bad["files"].items()]
    return "".join(parts) + "\n## The files\n\n" + _table(["file", "text"], files)


PAGES: dict[str, Callable[[], str]] = {
    "configuration.md": configuration,
    "providers.md": providers_page,
    "models.md": models_page,
    "prices.md": prices_page,
    "python.md": python_page,
    "cli.md": cli_page,
}


def stale(write: bool = False) -> list[str]:
    """The names of the pages that are not current; with `write` they are written."""
    found = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, _NOTE + page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(name)
            if write:
                path.write_text(text, encoding="utf-8")
    return found


def main(words: list[str]) -> int:
    found = stale(write="--check" not in words)
    for name in found:
        sys.stdout.write(f"docs/reference/{name}\n")
    if "--check" in words and found:
        sys.stderr.write("error: these pages are not current; run `python -m scripts.pages`\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
