"""BFCL's gold answers as calls that satisfy their tools' schemas.

From the wheel of `bfcl-eval` (Apache-2.0; see README.md). Of each argument the first allowed value is taken; an optional
argument whose gold is the empty string is left out. A row whose gold breaks its own schema is not taken at all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zipfile import ZipFile

from wheels import metadata, wheel

VERSION = "2026.3.23"
CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
# BFCL's words for types, and what they mean. `any` has no word in JSON Schema: the key is left out.
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}
_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}
_LEGAL = re.compile(r"[A-Za-z_][\w.]*")
_MOST_TOOLS, _MOST_CHARACTERS, _SAME_TOOLS = 4, 4000, 6


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any]
    schema: dict[str, Any]  # of the arguments, in proper JSON Schema

    def property(self, key: str) -> dict[str, Any]:
        return dict(self.schema.get("properties", {}).get(key) or {})

    def is_string(self, key: str) -> bool:
        """Whether a raw value of this argument is text by its schema; where the schema is silent, by what it holds."""
        kind = self.property(key).get("type")
        return kind == "string" or (kind is None and isinstance(self.arguments[key], str))


@dataclass(frozen=True)
class Gold:
    id: str
    question: str
    tools: list[dict[str, Any]]  # {name, description, parameters}, in proper JSON Schema
    raw_tools: list[dict[str, Any]]  # the same with BFCL's own types, as real tools have them
    calls: list[Call]


def bfcl_wheel() -> ZipFile:
    wheel_file = wheel("bfcl-eval", VERSION)
    if "\nLicense: Apache 2.0\n" not in metadata(wheel_file):
        raise SystemExit("bfcl-eval is no longer under Apache 2.0: look before going on")
    return wheel_file


def read_gold() -> list[Gold]:
    wheel_file = bfcl_wheel()
    taken: list[Gold] = []
    seen: Counter[str] = Counter()
    for category in CATEGORIES:
        for gold in _rows(wheel_file, category):
            shape = ",".join(sorted({call.name for call in gold.calls}))
            if seen[shape] < _SAME_TOOLS and len(json.dumps(gold.tools)) <= _MOST_CHARACTERS:
                seen[shape] += 1
                taken.append(gold)
    return taken


def _rows(wheel_file: ZipFile, category: str) -> Iterator[Gold]:
    answers = {row["id"]: row["ground_truth"] for row in _lines(wheel_file, f"possible_answer/BFCL_v4_{category}.json")}
    for row in _lines(wheel_file, f"BFCL_v4_{category}.json"):
        gold = _gold(row, answers[row["id"]])
        if gold is not None:
            yield gold


def _lines(wheel_file: ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in wheel_file.read(f"bfcl_eval/data/{name}").decode("utf-8").splitlines() if line.strip()]


def _gold(row: dict[str, Any], answer: list[dict[str, Any]]) -> Gold | None:
    raw = {tool["name"]: tool for tool in row["function"]}
    names = [name for call in answer for name in call]
    if any(name not in raw for name in names) or not _apart(list(raw)):
        return None
    kept = list(dict.fromkeys([*names, *raw]))[: max(_MOST_TOOLS, len(set(names)))]
    raw_tools = [raw[name] for name in raw if name in kept]
    tools = [{**tool, "parameters": proper(tool["parameters"])} for tool in raw_tools]
    schemas = {tool["name"]: tool["parameters"] for tool in tools}
    calls = [Call(name, _first(arguments), schemas[name]) for call in answer for name, arguments in call.items()]
    once = {json.dumps([call.name, call.arguments], sort_keys=True) for call in calls}
    if len(once) != len(calls) or not all(_fair(call) for call in calls):
        return None
    question = str(row["question"][0][-1]["content"])
    return Gold(row["id"], question, tools, raw_tools, calls)


def _apart(names: list[str]) -> bool:
    """No name is another with a prefix: `play` beside `spotify.play` would make a bare `play` a guess."""
    return not any(one != other and one.endswith("." + other) for one in names for other in names)


def _fair(call: Call) -> bool:
    keys = [*call.arguments, *_inner_keys(call.arguments)]
    written = json.dumps(call.arguments, ensure_ascii=False)
    legal = bool(_LEGAL.fullmatch(call.name)) and all(re.fullmatch(r"[A-Za-z_]\w*", key) for key in keys)
    return legal and "```" not in written and satisfies(call.arguments, call.schema)


def _inner_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _inner_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inner_keys(inner)


def _first(arguments: dict[str, list[Any]]) -> dict[str, Any]:
    """The first allowed value of each argument; inside an object each value is a list of allowed ones again."""
    return {key: _plain(allowed[0]) for key, allowed in arguments.items() if allowed and allowed[0] != ""}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _first({key: inner if isinstance(inner, list) else [inner] for key, inner in value.items()})
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def proper(schema: Any) -> Any:
    """The same schema in JSON Schema's own words."""
    if isinstance(schema, list):
        return [proper(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    fixed: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            fixed[key] = {name: proper(inner) for name, inner in value.items()}
        elif key == "type" and isinstance(value, str):
            fixed[key] = TYPES.get(value, value)
        elif key in {"default", "enum", "optional"}:
            fixed[key] = value
        else:
            fixed[key] = proper(value)
    return {key: value for key, value in fixed.items() if key != "optional" and not (key == "type" and value is None)}


def satisfies(value: Any, schema: dict[str, Any]) -> bool:
    """The part of JSON Schema that BFCL's tools use, and stricter: no argument that the schema does not name."""
    kind = schema.get("type")
    if kind and (not isinstance(value, _PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict) and schema.get("properties"):
        properties = schema["properties"]
        known = all(key in properties and satisfies(inner, properties[key]) for key, inner in value.items())
        return known and all(key in value for key in schema.get("required", ()))
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return all(satisfies(inner, schema["items"]) for inner in value)
    return True
