"""Layer 2: every model family's own way of writing calls: a file each, which exports DIALECT and is named as the dialect.

Listed without being imported, imported when asked for; other packages add theirs as entry points `toolglot.dialects`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from toolglot.core.plugins import from_entry_points
from toolglot.grammars.dialect import Dialect

# Several families share a form; where none is named, it goes by the name of the first of these, then of the alphabet.
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
    """All that are here, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__"))


@cache
def find_dialect(name: str) -> Dialect | None:
    if name in dialect_names():
        found = import_module(f"toolglot.dialects.{name}").DIALECT
    else:
        found = from_entry_points("toolglot.dialects", name)
    return found if isinstance(found, Dialect) else None
