"""The dialects' fixtures as values."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.core.tools import Toolset
from toolglot.dialects import dialect_names
from toolglot.pipeline.response.extract import toolset

ROOT = Path(__file__).parents[2] / "fixtures" / "dialects"
KINDS = ("clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call")
NEEDED = frozenset({"clean", "parallel", "text_around", "broken", "truncated", "not_a_call"})


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str
    text: str
    calls: list[dict[str, Any]] = []
    content: str | None = None
    reasoning: str | None = None
    tools: Any = None
    starts_in_reasoning: bool = False
    policy: str = "balanced"
    ids: list[str] | None = None

    @property
    def wanted(self) -> list[tuple[str, Any]]:
        return [(call["name"], _json(call["arguments"])) for call in self.calls]

    @property
    def toolset(self) -> Toolset:
        return shared_tools() if self.tools is None else toolset(_json(self.tools))


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


@cache
def shared_tools() -> Toolset:
    return toolset(json.loads((ROOT / "tools.json").read_text(encoding="utf-8")))


@cache
def cases(dialect: str) -> tuple[Case, ...]:
    path = ROOT / f"{dialect}.toml"
    if not path.exists():
        return ()
    return tuple(msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8"))["case"], list[Case]))


ALL = [(dialect, case) for dialect in dialect_names() for case in cases(dialect)]
IDS = [f"{dialect}-{case.name}" for dialect, case in ALL]
