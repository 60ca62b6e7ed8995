"""Converts bare text (such as text between tags) to a value, by its JSON Schema.

If the schema says string, the text stays exactly as it is: `03106` keeps its zero. Otherwise the text is parsed as JSON or
as a Python literal. Text that is neither stays text, so that a bad number does not lose the call.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from typing import Any

from toolglot.io.json_codec import JSON_ERRORS, decode

Schema = dict[str, Any]
_Allowed = tuple[set[str], list[Any]]

_MEANT = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
    "any": "",
}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "TRUE": True, "FALSE": False}
_KINDS: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number", "integer"),  # JSON Schema accepts 3.0 as an integer
    str: ("string",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPED = re.compile(r'[\[{\s]++\\"')  # no notation has a backslash before its first quote
_LONGEST_LITERAL = 1_000_000  # ast is slow and recursive: longer text is parsed only as JSON
_DEEPEST = 8  # references to references
_MISSING = object()
_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


def typed_value(raw: str, schema: Schema | None) -> Any:
    """The value of `raw` under `schema`; without one, any JSON or Python literal is converted."""
    kinds, choices = _allowed(schema or {}, schema or {}, 0)
    if raw in choices:
        return raw
    text = raw.strip()
    if choices and text in choices:
        return text
    if kinds == {"string"}:
        return raw
    value = literal(text)
    if value is _MISSING or isinstance(value, str):
        return raw
    if not kinds or any(kind in kinds for kind in _KINDS[type(value)]):
        return value
    return raw


def literal(text: str) -> Any:
    """`text` as JSON or as a Python literal; `_MISSING` if it is neither."""
    if text in _WORDS:
        return _WORDS[text]
    head = text[:1]
    if head in "-0123456789" and head:
        return _number(text)
    if head not in ('"', "'", "[", "{", "("):
        return _MISSING
    try:
        return decode(text)
    except JSON_ERRORS:
        return _unescaped(text) if _ESCAPED.match(text) else _python(text)


def loose_value(raw: str) -> Any:
    """For an undeclared tool: only lists and objects are converted, because nothing states that 1 is a number."""
    value = literal(raw.strip()) if raw.lstrip()[:1] in ("[", "{") else _MISSING
    return value if isinstance(value, list | dict) else raw


def json_or(raw: str, schema: Schema | None) -> Any:
    """For a value that the model marked as not a string: JSON, else as `typed_value`."""
    value = literal(raw.strip())
    return typed_value(raw, schema) if value is _MISSING else value


def property_schema(schema: Schema | None, key: str) -> Schema | None:
    """The schema of one property, also through references and unions; None if there is none."""
    if not isinstance(schema, dict):
        return None
    return _property(schema, key, schema, 0)


def item_schema(schema: Schema | None) -> Schema | None:
    """The schema of a list's items."""
    if not isinstance(schema, dict):
        return None
    for part in _parts(schema, schema, 0):
        if isinstance(part.get("items"), dict):
            return _with_definitions(part["items"], schema)
    return None


def property_names(schema: Schema | None) -> frozenset[str]:
    """The properties that a schema declares."""
    if not isinstance(schema, dict):
        return frozenset()
    found: set[str] = set()
    for part in _parts(schema, schema, 0):
        if isinstance(part.get("properties"), dict):
            found.update(part["properties"])
    return frozenset(found)


def allows(schema: Schema | None, kind: str) -> bool:
    """Whether a schema allows this JSON type; a schema without a type allows all."""
    kinds, _ = _allowed(schema or {}, schema or {}, 0)
    return not kinds or kind in kinds


def is_text(schema: Schema | None) -> bool:
    """Whether a schema allows exactly all strings: then `typed_value` returns the text unchanged."""
    kinds, choices = _allowed(schema or {}, schema or {}, 0)
    return kinds == {"string"} and not choices


def _property(schema: Schema, key: str, root: Schema, depth: int) -> Schema | None:
    for part in _parts(schema, root, depth):
        properties = part.get("properties")
        if isinstance(properties, dict) and isinstance(properties.get(key), dict):
            return _with_definitions(properties[key], root)
    for part in _parts(schema, root, depth):
        others = part.get("additionalProperties")
        if isinstance(others, dict):
            return _with_definitions(others, root)
    return None


def _parts(schema: Schema, root: Schema, depth: int) -> list[Schema]:
    """The schema, the target of its `$ref`, and the members of its unions: each once."""
    found = [schema]
    if _COMPOSED.isdisjoint(schema):
        return found
    _add_parts(schema, root, depth, found, {id(schema)})
    return found


def _add_parts(schema: Schema, root: Schema, depth: int, found: list[Schema], seen: set[int]) -> None:
    if depth >= _DEEPEST:
        return
    inner = [_referred(schema.get("$ref"), root)]
    for word in ("allOf", "anyOf", "oneOf"):
        members = schema.get(word)
        if isinstance(members, list):
            inner += members
    for member in inner:
        if isinstance(member, dict) and id(member) not in seen:
            seen.add(id(member))
            found.append(member)
            _add_parts(member, root, depth + 1, found, seen)


def _referred(reference: Any, root: Schema) -> Schema | None:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for step in reference[1:].strip("/").split("/"):
        if not step:
            continue
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    return target if isinstance(target, dict) else None


def _with_definitions(schema: Schema, root: Schema) -> Schema:
    """Adds the definitions that its references may point to."""
    definitions: Schema = {word: root[word] for word in ("$defs", "definitions") if word in root and word not in schema}
    return {**schema, **definitions} if definitions else schema


def _allowed(schema: Schema, root: Schema, depth: int, inside: dict[int, _Allowed] | None = None) -> _Allowed:
    """The allowed JSON types (empty: any), and the listed values. `inside`: what was read already, each part once."""
    kinds: set[str] = set()
    choices: list[Any] = []
    free = False  # a union member without a type allows everything
    if not _COMPOSED.isdisjoint(schema):
        inside = {} if inside is None else inside
        inside[id(schema)] = (set(), [])  # a part that contains itself adds nothing
        target = _referred(schema.get("$ref"), root) if depth <= _DEEPEST else None
        if target is not None:
            inner, listed = _allowed_inside(target, root, depth, inside)
            kinds |= inner
            choices += listed
        for word in ("anyOf", "oneOf", "allOf"):
            members = schema.get(word)
            for member in members if isinstance(members, list) and depth <= _DEEPEST else ():
                if isinstance(member, dict):
                    inner, listed = _allowed_inside(member, root, depth, inside)
                    free = free or (not inner and word != "allOf")
                    kinds |= inner
                    choices += listed
    named = schema.get("type")
    for kind in named if isinstance(named, list) else [named]:
        if isinstance(kind, str):
            meant = _MEANT.get(kind.lower(), kind.lower())
            free = free or not meant
            kinds.add(meant)
    if isinstance(schema.get("enum"), list):
        choices += schema["enum"]
    if "const" in schema:
        choices.append(schema["const"])
    if not kinds and choices:
        kinds = {kind for choice in choices for kind in _KINDS.get(type(choice), ())}
    return (set() if free else kinds), choices


def _allowed_inside(schema: Schema, root: Schema, depth: int, inside: dict[int, _Allowed]) -> _Allowed:
    known = inside.get(id(schema))
    if known is None:
        known = inside[id(schema)] = _allowed(schema, root, depth + 1, inside)
        return known
    return known[0], []  # its values are listed already


def _number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return _MISSING
    try:
        return decode(text)
    except JSON_ERRORS:  # out of range
        return _MISSING


def _unescaped(text: str) -> Any:
    """JSON that was escaped as if it stood in a string."""
    try:
        return decode(decode(f'"{text}"'))
    except JSON_ERRORS:
        return _MISSING


def _python(text: str) -> Any:
    if len(text) > _LONGEST_LITERAL:
        return _MISSING
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes
            return _plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return _mixed(text)


# An unclosed string extends to the end: otherwise the search would start again at each quote in it.
_JSON_WORD = re.compile(
    r"""("{3}(?:[^"\\]++|\\.|"(?!""))*(?:"{3}|\\?\Z)|'{3}(?:[^'\\]++|\\.|'(?!''))*(?:'{3}|\\?\Z)"""
    r"""|"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|'[^'\\]*+(?:\\.[^'\\]*+)*(?:'|\\?\Z)|\#[^\n]*+)"""
    r"""|\b(?:true|false|null)\b""",
    re.DOTALL,
)


def _mixed(text: str) -> Any:
    """Python's quotes with JSON's literals, which some models mix."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _plain(ast.literal_eval(_JSON_WORD.sub(lambda found: found[1] or str(_WORDS[found[0]]), text)))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return _MISSING


def _plain(value: Any) -> Any:
    """Only JSON types; a tuple becomes a list."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(_plain(key)): _plain(item) for key, item in value.items()}
    if type(value) in _KINDS and (not isinstance(value, float) or math.isfinite(value)):
        return value
    raise ValueError(value)
