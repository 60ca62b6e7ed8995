"""Pydantic types: schema and validation by pydantic. Imported only if a hint is pydantic's."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolglot.errors import ArgumentsError, CallerError

Schema = dict[str, Any]

_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")  # their keys are names, not keywords
_VALUES = ("default", "const", "enum", "examples", "required")  # not schemas
_MAX_PROBLEMS = 3


def schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """The type's schema. Its definitions go to `definitions`, under unused names."""
    try:
        found = _adapter(hint).json_schema()
    except Exception as error:  # noqa: BLE001  (a user's validator may raise anything)
        raise CallerError(f"pydantic has no schema for {hint}: {str(error).splitlines()[0]}") from None
    renamed: dict[str, str] = {}
    inner = found.pop("$defs", {})
    for name, definition in inner.items():
        renamed[name] = _free(name, _tidy(definition, name, {}), definitions)
    for name, definition in inner.items():
        definitions[renamed[name]] = _tidy(definition, name, renamed)
    tidy: Schema = _tidy(found, getattr(hint, "__name__", ""), renamed)
    return tidy


def read(hint: Any, value: Any, path: str) -> Any:
    try:
        return _adapter(hint).validate_python(value)
    except ValueError as error:
        raise ArgumentsError(_problem(error, path)) from None


def _adapter(hint: Any) -> Any:
    try:
        return _cached(hint)
    except TypeError:  # a hint that can't be hashed
        return _new_adapter(hint)


def _new_adapter(hint: Any) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415  (optional; already loaded by the module with the hint)

    return TypeAdapter(hint)


_cached = lru_cache(maxsize=256)(_new_adapter)


def _free(name: str, schema: Schema, definitions: dict[str, Schema]) -> str:
    wanted, number = name, 1
    while wanted in definitions and definitions[wanted] != schema:
        number += 1
        wanted = f"{name}{number}"
    return wanted


def _tidy(schema: Any, name: str, renamed: dict[str, str]) -> Any:
    """Without the titles that pydantic derives from names, which add nothing; references use the new names."""
    if isinstance(schema, list):
        return [_tidy(item, name, renamed) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out: Schema = {}
    for key, value in schema.items():
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
    """Pydantic's errors with their paths, without the URL and the input."""
    if not hasattr(error, "errors"):
        return f"{path}: {error}"
    problems = []
    for each in error.errors(include_url=False, include_context=False)[:_MAX_PROBLEMS]:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
        problems.append(f"{path}{place}: {each['msg']}")
    return "; ".join(problems)
