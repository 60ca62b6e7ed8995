"""A tool's schema that is itself wrong, read by what it evidently means.

`{"type": "dict"}`, `"required": true` beside a property's type, `"properties": null`: seen daily. A schema without such slips
comes back as the very same object. Never raises; a schema that contains itself is cut where it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_MEANT = {
    "object": "dict map mapping hash hashmap hashtable record struct dictionary obj",
    "array": "list tuple set sequence arraylist vector frozenset",
    "string": "str text char varchar uuid date datetime time url path bytes",
    "number": "float double decimal numeric real",
    "integer": "int long short byte bigint int32 int64 uint",
    "boolean": "bool",
    "null": "none nil nonetype void",
}
_WORDS = {word: kind for kind, words in _MEANT.items() for word in words.split()} | {kind: kind for kind in TYPES}
_GENERIC = re.compile(r"([a-z.]+)\s*[\[<(]\s*(.+?)\s*[\])>]\Z", re.DOTALL)
_EITHER = re.compile(r"\s*[|,/]\s*|\s+or\s+")

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE = (
    *("items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS = ("pattern", "format", "$ref", "$id", "$schema", "$anchor", "title", "description", "$comment")
_YES = {True: True, False: False, "true": True, "false": False, "True": True, "False": False}
_MAX_DEPTH = 64
_MAX_NOTES = 20
_OLD_TUPLES = ("draft-03", "draft-04", "draft-06", "draft-07", "2019-09")


def evident(schema: Schema) -> tuple[Schema, tuple[str, ...]]:
    """The schema as it was meant, and a note for each slip; the same object and no notes where there is none."""
    draft = str(schema.get("$schema", ""))
    walk = _Walk(old_tuples=any(mark in draft for mark in _OLD_TUPLES), old_bounds="draft-04" in draft)
    try:
        meant = walk.schema(schema, "", 0)
    except RecursionError:
        return {}, ("it is nested too deeply to be read",)
    return (meant if isinstance(meant, dict) else {}), tuple(walk.notes)


class _Walk:
    """`old_tuples` and `old_bounds`: what an older draft says otherwise, and so is right in it."""

    def __init__(self, *, old_tuples: bool, old_bounds: bool) -> None:
        self.notes: list[str] = []
        self._old_bounds = old_bounds
        self._old_tuples = old_tuples
        self._done: dict[int, Any] = {}
        self._inside: set[int] = set()

    def schema(self, held: Any, where: str, depth: int) -> Any:
        if isinstance(held, bool):
            return held
        if isinstance(held, str):  # {"city": "string"}
            return self._noted(where, f"{_short(held)} stood for a schema", _typed(held) or {})
        if not isinstance(held, dict):
            return self._noted(where, "it is no schema; anything is accepted", {})
        if id(held) in self._done:
            return self._done[id(held)]
        if id(held) in self._inside or depth > _MAX_DEPTH:
            return self._noted(where, "it contains itself or is nested too deeply; anything is accepted", {})
        self._inside.add(id(held))
        changed = self._changes(held, where, depth)
        self._inside.discard(id(held))
        meant = held if not changed else {key: item for key, item in {**held, **changed}.items() if item is not _GONE}
        self._done[id(held)] = meant
        return meant

    def _changes(self, held: Schema, where: str, depth: int) -> Schema:
        changed: Schema = {}
        for key in held:
            read = _READ.get(key) if isinstance(key, str) else None
            if read is None:
                continue
            new = read(self, held, key, where, depth)
            if new is not held[key]:
                changed[key] = new
        self._required(held, changed, where)
        _add_items(held, changed)
        _allow_null(held, changed)
        return changed

    # one method for each kind of keyword: the value as it was meant, or _GONE

    def read_type(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if isinstance(said, str) and said in TYPES:
            return said
        if isinstance(said, list) and said and all(isinstance(one, str) and one in TYPES for one in said):
            return said
        meant = _meant_type(said)
        if meant is None:
            return self._noted(where, f"type {_short(said)} is read as anything", _GONE)
        return self._noted(where, f"type {_short(said)} is read as {_short(meant)}", meant)

    def read_map(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if isinstance(said, list) and said and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in said):
            named = {one["name"]: {word: item for word, item in one.items() if word != "name"} for one in said}
            said = self._noted(where, f"{key} is a list; its items are taken by their names", named)
        if not isinstance(said, dict):
            return self._dropped(key, said, where)
        inside = f"{where}." if where else ""
        return _same(said, {name: self.schema(one, f"{inside}{name}", depth + 1) for name, one in said.items()})

    def read_single(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if isinstance(said, str) and said in _YES:
            return self._noted(where, f"{key} {said!r} is read as {_YES[said]}", _YES[said])
        if said is None or (key != "items" and not isinstance(said, (bool, dict, list))):
            return self._dropped(key, said, where)
        if isinstance(said, list):
            if key == "items" and self._old_tuples:
                return _same(said, [self.schema(one, f"{where}[{at}]", depth + 1) for at, one in enumerate(said)])
            first = said[0] if len(said) == 1 else {}
            return self._noted(where, f"{key} is a list", self.schema(first, f"{where}[]", depth + 1))
        return self.schema(said, f"{where}[]" if key == "items" else where, depth + 1)

    def read_list(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if not isinstance(said, list) or not said:
            return self._dropped(key, said, where)
        return _same(said, [self.schema(one, where, depth + 1) for one in said])

    def read_number(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if isinstance(said, (int, float)) and not isinstance(said, bool) and (key not in _COUNTS or said >= 0):
            return said
        if isinstance(said, bool) and key.startswith("exclusive"):  # as in draft 4, beside minimum or maximum
            if self._old_bounds:
                return said
            bound = held.get("minimum" if key.endswith("Minimum") else "maximum")
            meant = bound if said and isinstance(bound, (int, float)) else _GONE
            return self._noted(where, f"{key} {said} is read as in draft 4", meant)
        if isinstance(said, str) and re.fullmatch(r"-?\d+(\.\d+)?", said):
            return self._noted(where, f"{key} {said!r} is read as a number", float(said) if "." in said else int(said))
        return self._dropped(key, said, where)

    def read_enum(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        return said if isinstance(said, list) else self._dropped(key, said, where)

    def read_text(self, held: Schema, key: str, where: str, depth: int) -> Any:
        return held[key] if isinstance(held[key], str) else self._dropped(key, held[key], where)

    def read_required(self, held: Schema, key: str, where: str, depth: int) -> Any:
        said = held[key]
        if isinstance(said, list):
            names = [name for name in said if isinstance(name, str)]
            if len(set(names)) == len(said):
                return said
            return self._noted(where, "required holds what is no name, or a name twice", list(dict.fromkeys(names)))
        if isinstance(said, str) and said in _properties(held):
            return self._noted(where, f"required {said!r} is read as a list", [said])
        return _GONE if _flag(said) is not None and where else self._dropped(key, said, where)

    # what is made of several keywords

    def _required(self, held: Schema, changed: Schema, where: str) -> None:
        """`required: true` beside a property's type belongs into the list of the object."""
        properties = {name: one for name, one in _properties(held).items() if isinstance(one, dict)}
        flags = {name: _flag(one.get("required")) for name, one in properties.items()}
        flagged = {name: flag for name, flag in flags.items() if flag is not None}
        if not flagged:
            return
        listed = changed.get("required", held.get("required"))
        names = listed if isinstance(listed, list) else []
        wanted = [name for name, flag in flagged.items() if flag]
        meant = list(dict.fromkeys([*names, *wanted])) or _GONE
        changed["required"] = self._noted(where, f"required stood beside {', '.join(flagged)}", meant)

    def _dropped(self, key: str, said: Any, where: str) -> Any:
        return self._noted(where, f"{key} {_short(said)} means nothing; it is ignored", _GONE)

    def _noted(self, where: str, slip: str, meant: Any) -> Any:
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(f"{where}: {slip}" if where else slip)
        return meant


_GONE: Any = object()
_Read = Callable[[_Walk, Schema, str, str, int], Any]
_KEYWORDS: tuple[tuple[tuple[str, ...], _Read], ...] = (
    (("type",), _Walk.read_type),
    (_MAPS, _Walk.read_map),
    (_SINGLE, _Walk.read_single),
    (_LISTS, _Walk.read_list),
    ((*_COUNTS, *_BOUNDS), _Walk.read_number),
    (("enum",), _Walk.read_enum),
    (_TEXTS, _Walk.read_text),
    (("required",), _Walk.read_required),
)
_READ: dict[str, _Read] = {key: read for keys, read in _KEYWORDS for key in keys}


def _same(old: Any, new: Any) -> Any:
    """`old` itself where nothing in it changed."""
    pairs = zip(old.values(), new.values(), strict=True) if isinstance(old, dict) else zip(old, new, strict=True)
    return old if all(one is other for one, other in pairs) else new


def _properties(held: Schema) -> dict[str, Any]:
    said = held.get("properties")
    if isinstance(said, list):
        return {one["name"]: one for one in said if isinstance(one, dict) and isinstance(one.get("name"), str)}
    return said if isinstance(said, dict) else {}


def _flag(said: Any) -> bool | None:
    return _YES.get(said) if isinstance(said, (bool, str)) else None


def _meant_type(said: Any) -> Any:
    """A type, a list of types, or None for anything."""
    if isinstance(said, str):
        words = [_word(one) for one in _alternatives(said)]
    elif isinstance(said, list):
        words = ["null" if one is None else _word(one) if isinstance(one, str) else None for one in said]
    else:
        return None
    kinds = list(dict.fromkeys(words))
    if not kinds or None in kinds:
        return None
    return kinds[0] if len(kinds) == 1 else kinds


def _alternatives(said: str) -> list[str]:
    """`string|null`, `string or null`, `Optional[str]`, `Union[int, str]`."""
    generic = _GENERIC.match(said.strip().lower())
    if generic is None:
        return _EITHER.split(said)
    head = generic[1].removeprefix("typing.")
    if head == "optional":
        return [generic[2], "null"]
    return _EITHER.split(generic[2]) if head == "union" else [said]


def _word(said: str) -> str | None:
    word = said.strip().lower().removeprefix("typing.").rstrip("?")
    generic = _GENERIC.match(word)
    if generic:
        word = generic[1].removeprefix("typing.")
    elif word.endswith("[]"):
        word = "array"
    return _WORDS.get(word)


def _typed(said: str) -> Schema | None:
    meant = _meant_type(said)
    return None if meant is None else {"type": meant}


def _add_items(held: Schema, changed: Schema) -> None:
    """`list[str]` and `string[]` tell what is in the list."""
    said = held.get("type")
    if changed.get("type") != "array" or not isinstance(said, str) or "items" in held:
        return
    generic = _GENERIC.match(said.lower())
    inner = _typed(generic[2] if generic else said[:-2] if said.endswith("[]") else "")
    if inner is not None:
        changed["items"] = inner


def _allow_null(held: Schema, changed: Schema) -> None:
    """OpenAPI's `nullable` is no word of JSON Schema, and means what it says."""
    kind = changed.get("type", held.get("type"))
    if held.get("nullable") is not True or kind is _GONE or kind is None:
        return
    kinds = kind if isinstance(kind, list) else [kind]
    if "null" not in kinds:
        changed["type"] = [*kinds, "null"]
    options = changed.get("enum", held.get("enum"))
    if isinstance(options, list) and None not in options:
        changed["enum"] = [*options, None]


def _short(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, (str, int, float, type(None))) else _brief(value)


def _brief(value: Any) -> str:
    return f"[{', '.join(map(_short, value[:5]))}]" if isinstance(value, list) else f"({type(value).__name__})"
