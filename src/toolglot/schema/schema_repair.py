"""Repairs a tool's schema that is itself invalid but has one obvious meaning.

Common: `{"type": "dict"}`, `"required": true` beside a property's type, `"properties": null`. Spellings of older drafts are
translated. A valid schema is returned as the same object. Never raises; a schema that contains itself is cut there. What has no
obvious meaning is left out and reported as unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

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
_ANY = frozenset({"any", "mixed", "unknown", "typing.any", "json", "jsonvalue", ""})
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
_WITHOUT_EFFECT = frozenset({"title", "description", "$comment", "format"})
_YES = {True: True, False: False, "true": True, "false": False, "True": True, "False": False}
_MAX_DEPTH = 64
_MAX_NOTES = 20
_MAX_VISITED = 2000  # parts; more may be one part that is shared
_OLD_TUPLES = ("draft-04", "draft-06", "draft-07", "2019-09")


class SchemaReading(msgspec.Struct, frozen=True):
    """A repaired schema with a note for each repair. `unsupported`: keywords that are left out because they mean nothing."""

    schema: Schema
    notes: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()


def read_schema(schema: Schema) -> SchemaReading:
    """The same schema object, and no notes, if there is nothing to repair."""
    return SchemaReading(schema) if is_valid(schema) else repaired(schema)


def repaired(schema: Schema) -> SchemaReading:
    """Also of a schema that `is_valid`."""
    draft = str(schema.get("$schema", ""))
    repairer = _SchemaRepairer(
        old_tuples=any(mark in draft for mark in _OLD_TUPLES), old_bounds="draft-04" in draft, recursive="2019-09" in draft
    )
    try:
        result = repairer.schema(schema, "", 0)
    except RecursionError:
        return SchemaReading({}, (), ("the schema (it is nested too deeply)",))
    return SchemaReading(result if isinstance(result, dict) else {}, tuple(repairer.notes), tuple(repairer.unsupported))


def repair_schema(schema: Schema) -> tuple[Schema, tuple[str, ...]]:
    """The repaired schema, and a note for each repair and for each keyword that is left out."""
    read = read_schema(schema)
    return read.schema, (*read.notes, *(f"{one} is left out" for one in read.unsupported))


def is_valid(schema: Schema) -> bool:
    """Whether there is surely nothing to repair, as in most schemas: found out in half the time of `repaired`."""
    level: list[Any] = [schema]
    visited = 0
    for _ in range(_MAX_DEPTH):
        visited += len(level)
        if visited > _MAX_VISITED:
            return False
        below: list[Any] = []
        for node in level:
            if type(node) is bool:
                continue
            if type(node) is not dict:
                return False
            for key, value in node.items():
                kind = type(value)
                if key in _VALID_KEYS.get(kind, ()) or key not in _JUDGED or (key == "type" and value in _TYPES):
                    continue
                if kind is dict and key in _SINGLE:
                    below.append(value)
                elif kind is dict and key in _MAPS:
                    below += value.values()
                elif kind is list and key in _LISTS and value:
                    below += value
                elif not _is_valid_leaf(key, value):
                    return False
        if not below:
            return True
        level = below
    return False


def _is_valid_leaf(key: str, value: Any) -> bool:
    if key in _COUNTS:
        return type(value) is int and value >= 0
    if type(value) is not list:
        return False
    if key == "required":
        return len({name for name in value if type(name) is str}) == len(value)
    return key == "type" and bool(value) and all(one in _TYPES for one in value)


class _SchemaRepairer:
    """Walks a schema. `old_tuples`, `old_bounds`, `recursive`: the schema's draft allows these older forms, so they stay."""

    def __init__(self, *, old_tuples: bool, old_bounds: bool, recursive: bool) -> None:
        self._recursive = recursive
        self.notes: list[str] = []
        self.unsupported: list[str] = []
        self._old_bounds = old_bounds
        self._old_tuples = old_tuples
        self._done: dict[int, Any] = {}
        self._inside: set[int] = set()

    def schema(self, schema: Any, where: str, depth: int) -> Any:
        if isinstance(schema, bool):
            return schema
        if isinstance(schema, str):  # {"city": "string"}
            return self._noted(where, f"{_short(schema)} is read as a schema", _typed(schema) or {})
        if schema is None:
            return self._noted(where, "there is no schema; any value is accepted", {})
        if not isinstance(schema, dict):
            return self._left_out(where, f"{_short(schema)} in place of a schema", {})
        if id(schema) in self._done:
            return self._done[id(schema)]
        if id(schema) in self._inside or depth > _MAX_DEPTH:
            return self._left_out(where, "a schema that contains itself or is nested too deeply", {})
        self._inside.add(id(schema))
        changed = self._changes(schema, where, depth)
        self._inside.discard(id(schema))
        repaired = schema if not changed else {key: item for key, item in {**schema, **changed}.items() if item is not _REMOVED}
        self._done[id(schema)] = repaired
        return repaired

    def _changes(self, schema: Schema, where: str, depth: int) -> Schema:
        changed: Schema = {}
        for key in schema:
            read = _READ.get(key) if isinstance(key, str) else None
            if read is None:
                continue
            new = read(self, schema, key, where, depth)
            if new is not schema[key]:
                changed[key] = new
        if "properties" in schema:
            self._required(schema, changed, where)
        self._old_spellings(schema, changed, where)
        if "type" in changed:
            _add_items(schema, changed)
        if "nullable" in schema:
            _allow_null(schema, changed)
        return changed

    # one method for each kind of keyword: the repaired value, or _REMOVED

    def read_type(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if isinstance(value, str) and value in TYPES:
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) and one in TYPES for one in value):
            return value
        if value is None or (isinstance(value, str) and value.strip().lower() in _ANY):
            return self._noted(where, f"type {_short(value)} accepts any value", _REMOVED)
        meant = _type_of(value)
        if meant is None and isinstance(schema.get("enum"), list):
            return self._noted(where, f"type {_short(value)} is unknown and ignored; the values are listed", _REMOVED)
        if meant is None:
            return self._left_out(where, f"type {_short(value)}", _REMOVED)
        return self._noted(where, f"type {_short(value)} is read as {_short(meant)}", meant)

    def read_map(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if (
            isinstance(value, list)
            and value
            and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in value)
        ):
            named = {one["name"]: {word: item for word, item in one.items() if word != "name"} for one in value}
            value = self._noted(where, f"{key} is a list; its items are keyed by their names", named)
        if not isinstance(value, dict):
            return self._dropped(key, value, where)
        inside = f"{where}." if where else ""
        return _same(value, {name: self.schema(one, f"{inside}{name}", depth + 1) for name, one in value.items()})

    def read_single(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if isinstance(value, str) and value in _YES:
            return self._noted(where, f"{key} {value!r} is read as {_YES[value]}", _YES[value])
        if value is None or (key != "items" and not isinstance(value, (bool, dict, list))):
            return self._dropped(key, value, where)
        if isinstance(value, list):
            if key != "items":
                return self._dropped(key, value, where)
            if len(value) == 1 and not self._old_tuples:
                return self._noted(where, "items is a list of one", self.schema(value[0], f"{where}[]", depth + 1))
            items = _same(value, [self.schema(one, f"{where}[{at}]", depth + 1) for at, one in enumerate(value)])
            return items if self._old_tuples else self._noted(where, "items is a list; it is read as prefixItems", items)
        return self.schema(value, f"{where}[]" if key == "items" else where, depth + 1)

    def read_list(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if value == []:
            return self._noted(where, f"{key} is empty and ignored", _REMOVED)
        if not isinstance(value, list):
            return self._dropped(key, value, where)
        return _same(value, [self.schema(one, where, depth + 1) for one in value])

    def read_number(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if isinstance(value, (int, float)) and not isinstance(value, bool) and (key not in _COUNTS or value >= 0):
            return value
        if isinstance(value, bool) and key.startswith("exclusive"):  # draft 4: a flag beside minimum or maximum
            if self._old_bounds:
                return value
            bound = schema.get("minimum" if key.endswith("Minimum") else "maximum")
            meant = bound if value and isinstance(bound, (int, float)) else _REMOVED
            return self._noted(where, f"{key} {value} is read as in draft 4", meant)
        if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
            return self._noted(where, f"{key} {value!r} is read as a number", float(value) if "." in value else int(value))
        return self._dropped(key, value, where)

    def read_enum(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        return value if isinstance(value, list) else self._dropped(key, value, where)

    def read_text(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if isinstance(value, str):
            return value
        if key in _WITHOUT_EFFECT:
            return self._noted(where, f"{key} {_short(value)} is invalid and ignored", _REMOVED)
        return self._dropped(key, value, where)

    def read_required(self, schema: Schema, key: str, where: str, depth: int) -> Any:
        value = schema[key]
        if isinstance(value, list):
            names = [name for name in value if isinstance(name, str)]
            if len(set(names)) == len(value):
                return value
            return self._noted(where, "required contains duplicates or values that are not names", list(dict.fromkeys(names)))
        if isinstance(value, str) and value in _properties(schema):
            return self._noted(where, f"required {value!r} is read as a list", [value])
        if _flag(value) is None:
            return self._dropped(key, value, where)
        return _REMOVED if where else self._noted(where, f"required {_short(value)} is ignored", _REMOVED)

    # repairs that involve several keywords

    def _required(self, schema: Schema, changed: Schema, where: str) -> None:
        """Moves `required: true` of a property into the object's list."""
        properties = [(name, one) for name, one in _properties(schema).items() if isinstance(one, dict) and "required" in one]
        flagged = {name: flag for name, one in properties if (flag := _flag(one["required"])) is not None}
        if not flagged:
            return
        listed = changed.get("required", schema.get("required"))
        names = listed if isinstance(listed, list) else []
        wanted = [name for name, flag in flagged.items() if flag]
        merged = list(dict.fromkeys([*names, *wanted])) or _REMOVED
        changed["required"] = self._noted(where, f"required was set on the properties {', '.join(flagged)}", merged)

    def _old_spellings(self, schema: Schema, changed: Schema, where: str) -> None:
        """`items` as a list, and `$recursiveRef`, where the schema's draft does not have them."""
        items = changed.get("items", schema.get("items"))
        if isinstance(items, list) and not self._old_tuples:
            rest = changed.get("additionalItems", schema.get("additionalItems", _REMOVED))
            changed.update({"prefixItems": items or _REMOVED, "items": rest, "additionalItems": _REMOVED})
        if "$recursiveRef" in schema and "$ref" not in schema and not self._recursive:
            changed.update({"$ref": schema["$recursiveRef"], "$recursiveRef": _REMOVED})

    def _dropped(self, key: str, value: Any, where: str) -> Any:
        """A keyword without a value is absent. Any other value that can't be read is unsupported."""
        if value is None:
            return self._noted(where, f"{key} null is ignored", _REMOVED)
        return self._left_out(where, f"{key} {_short(value)}", _REMOVED)

    def _left_out(self, where: str, what: str, value: Any) -> Any:
        if len(self.unsupported) < _MAX_NOTES:
            self.unsupported.append(f"{what} at {where}" if where else what)
        return value

    def _noted(self, where: str, note: str, value: Any) -> Any:
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(f"{where}: {note}" if where else note)
        return value


_REMOVED: Any = object()
_Read = Callable[[_SchemaRepairer, Schema, str, str, int], Any]
_KEYWORDS: tuple[tuple[tuple[str, ...], _Read], ...] = (
    (("type",), _SchemaRepairer.read_type),
    (_MAPS, _SchemaRepairer.read_map),
    (_SINGLE, _SchemaRepairer.read_single),
    (_LISTS, _SchemaRepairer.read_list),
    ((*_COUNTS, *_BOUNDS), _SchemaRepairer.read_number),
    (("enum",), _SchemaRepairer.read_enum),
    (_TEXTS, _SchemaRepairer.read_text),
    (("required",), _SchemaRepairer.read_required),
)
_READ: dict[str, _Read] = {key: read for keys, read in _KEYWORDS for key in keys}


_JUDGED = frozenset((*_READ, "nullable", "$recursiveRef"))
_TYPES = sorted(TYPES)  # a list may be searched for any value
_VALID_KEYS: dict[type, frozenset[str]] = {
    str: frozenset(_TEXTS),
    bool: frozenset(_SINGLE),
    int: frozenset(_BOUNDS),
    float: frozenset(_BOUNDS),
    list: frozenset({"enum"}),
}  # with values of these types they are valid; other keys need a look


def _same(old: Any, new: Any) -> Any:
    """`old` if nothing in it changed."""
    pairs = zip(old.values(), new.values(), strict=True) if isinstance(old, dict) else zip(old, new, strict=True)
    return old if all(one is other for one, other in pairs) else new


def _properties(schema: Schema) -> dict[str, Any]:
    properties = schema.get("properties")
    if isinstance(properties, list):
        return {one["name"]: one for one in properties if _has_name(one)}
    return properties if isinstance(properties, dict) else {}


def _has_name(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _flag(value: Any) -> bool | None:
    return _YES.get(value) if isinstance(value, (bool, str)) else None


def _type_of(value: Any) -> Any:
    """A type, a list of types, or None for any value."""
    if isinstance(value, str):
        words = [_word(one) for one in _alternatives(value)]
    elif isinstance(value, list):
        words = ["null" if one is None else _word(one) if isinstance(one, str) else None for one in value]
    else:
        return None
    kinds = list(dict.fromkeys(words))
    if not kinds or None in kinds:
        return None
    return kinds[0] if len(kinds) == 1 else kinds


def _alternatives(text: str) -> list[str]:
    """`string|null`, `string or null`, `Optional[str]`, `Union[int, str]`."""
    generic = _GENERIC.match(text.strip().lower())
    if generic is None:
        return _EITHER.split(text)
    head = generic[1].removeprefix("typing.")
    if head == "optional":
        return [generic[2], "null"]
    return _EITHER.split(generic[2]) if head == "union" else [text]


def _word(text: str) -> str | None:
    word = text.strip().lower().removeprefix("typing.").rstrip("?")
    generic = _GENERIC.match(word)
    if generic:
        word = generic[1].removeprefix("typing.")
    elif word.endswith("[]"):
        word = "array"
    return _WORDS.get(word)


def _typed(text: str) -> Schema | None:
    kind = _type_of(text)
    return None if kind is None else {"type": kind}


def _add_items(schema: Schema, changed: Schema) -> None:
    """The item type of `list[str]` and `string[]`."""
    kind = schema.get("type")
    if changed.get("type") != "array" or not isinstance(kind, str) or "items" in schema:
        return
    generic = _GENERIC.match(kind.lower())
    inner = _typed(generic[2] if generic else kind[:-2] if kind.endswith("[]") else "")
    if inner is not None:
        changed["items"] = inner


def _allow_null(schema: Schema, changed: Schema) -> None:
    """Adds null for OpenAPI's `nullable`, which JSON Schema does not have."""
    kind = changed.get("type", schema.get("type"))
    if schema.get("nullable") is not True or kind is _REMOVED or kind is None:
        return
    kinds = kind if isinstance(kind, list) else [kind]
    if "null" not in kinds:
        changed["type"] = [*kinds, "null"]
    options = changed.get("enum", schema.get("enum"))
    if isinstance(options, list) and None not in options:
        changed["enum"] = [*options, None]


def _short(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, (str, int, float, type(None))) else _brief(value)


def _brief(value: Any) -> str:
    return f"[{', '.join(map(_short, value[:5]))}]" if isinstance(value, list) else f"({type(value).__name__})"
