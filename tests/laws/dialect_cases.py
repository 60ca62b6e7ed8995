"""The fixtures of the built-in dialects."""

from __future__ import annotations

from pathlib import Path

from toolglot.dialects import dialect_names
from toolglot.evaluation.dialect_cases import Case, read_cases, shared_tools

__all__ = ["ALL", "ROOT", "Case", "cases", "shared_tools"]
ROOT = Path(__file__).parents[2] / "fixtures" / "dialects"


def cases(dialect: str) -> tuple[Case, ...]:
    return read_cases(ROOT / f"{dialect}.toml")


ALL = [(dialect, case) for dialect in dialect_names() for case in cases(dialect)]
