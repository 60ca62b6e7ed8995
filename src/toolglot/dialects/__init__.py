"""Layer 2: one file per format in which models write tool calls. The file exports DIALECT and has the dialect's name.

The files are listed without importing them; each is imported on first use. Other packages add dialects as entry points of the
group `toolglot.dialects`.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from toolglot.core.plugins import from_entry_points, loaded, plugins, report
from toolglot.grammars.dialect import Dialect
from toolglot.io.json_codec import encode

# Several dialects share a format. If none was configured, a call is reported under the first of these that matches, then in
# alphabetical order.
BEST_KNOWN = (
    "hermes",
    "qwen3_coder",
    "glm45",
    "mistral",
    "deepseek_v31",
    "deepseek_v3",
    "kimi_k2",
    "jamba",
    "fenced_json",
    "bare_json",
)


_REGISTERED: dict[str, Dialect] = {}
_MAX_TEMPLATES = 256
_TEMPLATES: dict[str, Dialect] = {}  # of servers, by name; the oldest first


@cache
def dialect_names() -> tuple[str, ...]:
    """All built-in dialects, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__"))


def known_dialects() -> list[str]:
    """The names of all that can be used, sorted: built in, registered, or of an installed package."""
    added = (plugin.name for plugin in plugins() if plugin.group == "toolglot.dialects")
    return sorted({*dialect_names(), *_REGISTERED, *added})


@cache
def find_dialect(name: str) -> Dialect | None:
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name in dialect_names():
        found = import_module(f"toolglot.dialects.{name}").DIALECT
    else:
        found = _TEMPLATES.get(name) or from_entry_points("toolglot.dialects", name)
    return found if isinstance(found, Dialect) else None


def register(dialect: Dialect) -> None:
    """Make a dialect known for this process, under its name, before any text is scanned."""
    _REGISTERED[dialect.name] = dialect
    find_dialect.cache_clear()
    all_dialects.cache_clear()


def add_template(template: dict[str, Any]) -> str:
    """Makes the dialect of a server's `response_template` known by a name, which is returned."""
    from toolglot.grammars.response_template import dialect_from_template  # noqa: PLC0415  (few servers have one)

    name = f"template:{sha256(encode(template)).hexdigest()[:12]}"
    if name not in _TEMPLATES:
        _TEMPLATES[name] = dialect_from_template(template, name)
        while len(_TEMPLATES) > _MAX_TEMPLATES:
            del _TEMPLATES[next(iter(_TEMPLATES))]
        find_dialect.cache_clear()
    return name


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """Built-in dialects and those that other packages add. A package that can't be imported does not stop the others."""
    names = dict.fromkeys([*dialect_names(), *_REGISTERED])
    found = [find_dialect(name) for name in names]
    for plugin, dialect in loaded("toolglot.dialects"):
        if plugin.name in names:
            continue
        if isinstance(dialect, Dialect):
            found.append(dialect)
        else:
            report(plugin, f"it is not a Dialect but {type(dialect).__name__}")
    return tuple(one for one in found if one is not None)
