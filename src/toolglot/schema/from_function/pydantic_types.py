"""Types that pydantic knows: its schema, its validation. Imported only where a hint is pydantic's."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolglot.errors import ArgumentsError, CallerError

Schema = dict[str, Any]

_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")  # their keys are names, not keywords
_VALUES = ("default", "const", "enum", "examples", "required")  # not schemas
_MOST_PROBLEMS = 3


def schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """The type's schema. What it shares with itself goes to `definitions`, under a name that is free there."""
    try:
        found = _adapter(hint).json_schema()
    except Exception as error:  # noqa: BLE001  (any validator of the user's may be in the way)
        raise CallerError(f"pydantic has no schema for {hint}: {str(error).splitlines()[0]}") from None
    renamed: dict[str, str] = {}
    own = found.pop("$defs", {})
    for name, held in own.items():
        renamed[name] = _free(name, _tidy(held, name, {}), definitions)
    for name, held in own.items():
        definitions[renamed[name]] = _tidy(held, name, renamed)
    tidy: Schema = _tidy(found, getattr(hint, "__name__", ""), renamed)
    return tidy


def read(hint: Any, value: Any, path: str) -> Any:
    try:
        return _adapter(hint).validate_python(value)
    except ValueError as error:
        raise ArgumentsError(_problem(error, path)) from None


def _adapter(hint: Any) -> Any:
    try:
        return _kept(hint)
    except TypeError:  # a hint that can't be hashed
        return _made(hint)


def _made(hint: Any) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415  (optional, and loaded by whoever wrote the hint)

    return TypeAdapter(hint)


_kept = lru_cache(maxsize=256)(_made)


def _free(name: str, held: Schema, definitions: dict[str, Schema]) -> str:
    wanted, number = name, 1
    while wanted in definitions and definitions[wanted] != held:
        number += 1
        wanted = f"{name}{number}"
    return wanted


def _tidy(held: Any, name: str, renamed: dict[str, str]) -> Any:
    """Without the titles that pydantic makes of names, which tell a model nothing; references under their new names."""
    if isinstance(held, list):
        return [_tidy(item, name, renamed) for item in held]
    if not isinstance(held, dict):
        return held
    out: Schema = {}
    for key, value in held.items():
        if key == "title" and isinstance(value, str) and _same_words(value, name):
            continue
        if key == "$ref" and isinstance(value, str):
            target = value.removeprefix("#/$defs/")
            out[key] = f"#/$defs/{renamed.get(target, target)}"
        elif key in _VALUES:
            out[key] = value
        elif key in _NAMED and isinstance(value, dict):
            out[key] = {each: _tidy(inner, each, renamed) for each, inner in value.items()}
        else:
            out[key] = _tidy(value, name, renamed)
    return out


def _same_words(title: str, name: str) -> bool:
    return title.replace(" ", "").lower() == name.replace("_", "").lower()


def _problem(error: Any, path: str) -> str:
    """pydantic's errors with their places, without the address and the input that it adds."""
    if not hasattr(error, "errors"):
        return f"{path}: {error}"
    told = []
    for each in error.errors(include_url=False, include_context=False)[:_MOST_PROBLEMS]:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
        told.append(f"{path}{place}: {each['msg']}")
    return "; ".join(told)
