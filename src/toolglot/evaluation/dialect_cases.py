"""A dialect's fixture: texts in its format, and what must come out of each."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolglot.core.tools import Toolset
from toolglot.errors import CallerError
from toolglot.pipeline.response.extract import toolset

Kind = Literal["clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"]
NEEDED = frozenset({"clean", "parallel", "text_around", "broken", "truncated", "not_a_call"})

# the tools of a case that names none
_SEARCH = {
    "query": {"type": "string"},
    "limit": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "exact": {"type": "boolean"},
    "filters": {"type": "object"},
}
_WEATHER = {
    "city": {"type": "string"},
    "unit": {"type": "string", "enum": ["C", "F"]},
    "days": {"type": "integer"},
}
_FILE = {"path": {"type": "string"}, "content": {"type": "string"}}
_COMMAND = {"cmd": {"type": "string"}, "env": {"type": "object"}}


def _tool(name: str, description: str, properties: dict[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, **({"required": [*required]} if required else {})}
    return {"name": name, "description": description, "schema": schema}


SHARED_TOOLS = (
    _tool("get_weather", "The weather in a city", _WEATHER, ["city"]),
    _tool("get_time", "The time now", {}),
    _tool("search", "Search the documents", _SEARCH, ["query"]),
    _tool("write_file", "Write a file", _FILE, ["path", "content"]),
    _tool("run.command", "Run a command", _COMMAND, ["cmd"]),
)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: Kind
    text: str
    calls: list[dict[str, Any]] = []
    content: str | None = None  # the text that is left; white space does not count
    reasoning: str | None = None  # what the reasoning starts with
    tools: Any = None  # JSON; None: the shared tools
    starts_in_reasoning: bool = False
    policy: Literal["strict", "balanced", "eager"] = "balanced"
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
    return toolset(SHARED_TOOLS)


@cache
def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases of a fixture; none if there is no such file. CallerError if it can't be read."""
    if not path.exists():
        return ()
    try:
        return tuple(msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")).get("case", []), list[Case]))
    except (OSError, ValueError) as error:  # of TOML and of msgspec
        raise CallerError(str(error), str(path)) from None
