"""How values are written: JSON, Python, Gemma's own quoting. A damage writes with another pen and leaves the form alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gold import Call


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def python_double(value: Any) -> str:
    """Python with double quotes, as most models write it. JSON's escapes are Python's too."""
    if isinstance(value, str):
        return json_text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json_text(key)}: {python_double(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(python_double, value)) + "]"
    return repr(value)


def python_json(value: Any) -> str:
    """A Python call with JSON's literals: true, false, null."""
    return json_text(value)


@dataclass(frozen=True)
class Pen:
    rng: Random
    object: Callable[[Any], str] = json_text  # where the form has JSON
    literal: Callable[[Any], str] = python_double  # where the form has Python
    raw: Callable[[Any], str] = field(default=json_text)  # a raw value that is not text, between tags

    def value(self, call: Call, key: str) -> str:
        """The raw value between tags: text as it is, everything else as JSON."""
        value = call.arguments[key]
        return str(value) if isinstance(value, str) and call.is_string(key) else self.raw(value)


def usual_pen(rng: Random) -> Pen:
    """Spaces in the JSON or none, double quotes in the Python or single."""
    return Pen(
        rng,
        object=rng.choices((json_text, json_compact), (3, 1))[0],
        literal=rng.choices((python_double, repr), (3, 2))[0],
    )


def quoted_by(mark: str) -> Callable[[Any], str]:
    """Gemma's values: bare keys, strings between two marks, no spaces."""

    def write(value: Any) -> str:
        if isinstance(value, str):
            return f"{mark}{value}{mark}"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{write(inner)}" for key, inner in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(write, value)) + "]"
        return json_text(value)

    return write


def expression(call: Call, pen: Pen) -> str:
    return f"{call.name}({', '.join(f'{key}={pen.literal(value)}' for key, value in call.arguments.items())})"
