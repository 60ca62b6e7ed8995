"""Layer 2: one file per format in which models write tool calls. The file exports DIALECT and has the dialect's name.

The files are listed without importing them; each is imported on first use. Other packages add dialects as entry points of the
group `toolglot.dialects`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from toolglot.core.plugins import entry_point_names, from_entry_points
from toolglot.grammars.dialect import Dialect

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


@cache
def dialect_names() -> tuple[str, ...]:
    """All built-in dialects, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__"))


@cache
def find_dialect(name: str) -> Dialect | None:
    if name in dialect_names():
        found = import_module(f"toolglot.dialects.{name}").DIALECT
    else:
        found = from_entry_points("toolglot.dialects", name)
    return found if isinstance(found, Dialect) else None


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """Built-in dialects and those that other packages add."""
    names = dict.fromkeys((*dialect_names(), *entry_point_names("toolglot.dialects")))
    return tuple(found for name in names if (found := find_dialect(name)) is not None)
