"""Repairs arguments that don't satisfy their schema, if exactly one interpretation does.

Only invalid values are changed, and no value is invented.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from toolglot.core.budget import Budget
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.schema.check import Checker
from toolglot.schema.evaluate import Evaluator
from toolglot.schema.fixes import price
from toolglot.schema.references import refers, resolved
from toolglot.schema.relaxed_json import read_relaxed
from toolglot.schema.schema_repair import Schema

_INTEGER = re.compile(r"[+-]?\d+\Z")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_SEPARATORS = re.compile(r"[\s_\-.]+")
_BOOLEANS = {"true": True, "false": False}
_NULLS = frozenset({"null", "None", "none", "NULL", "nil", "undefined"})
_WRAPPERS = ("arguments", "parameters", "params", "input", "args", "kwargs", "tool_input", "function_args")
_BESIDE_WRAPPERS = frozenset({"name", "tool", "tool_name", "function", "type", "id"})
_BESIDE_TYPES = frozenset({"allOf", "anyOf", "oneOf", "enum", "const"})  # constraints beyond type and parts
_POSITION = re.compile(r"arg(\d{1,3})\Z")
_MAX_HOPS = 32
_SPELLED_NUMBER = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\d)")
_MAX_DIGITS = 4000  # Python refuses to parse longer integers


Fitted = tuple[Any, tuple[str, ...]]  # a value, and the codes of its fixes


class Repaired(msgspec.Struct, frozen=True):
    value: dict[str, Any]
    fixes: tuple[str, ...]


def repair(
    value: dict[str, Any], check: Checker, name: str = "", text: str = "", budget: Budget | None = None
) -> Repaired | None:
    """The cheapest reading of `value` that satisfies the schema; None if there is none, or two different ones cost the same.

    `name` is the tool's; `text` is the model's text, in which the spelling of numbers is looked up. Raises BudgetSpent.
    """
    budget = budget or Budget()
    found: list[Fitted] = []
    fit = _Fit(check, text, budget)
    for start, codes in _readings(value, check.schema, name):
        fitted, fixes = fit.fit(start, check.schema)
        if isinstance(fitted, dict) and check.fits(fitted, budget):
            found.append((fitted, tuple(dict.fromkeys((*codes, *fixes)))))
    best = _cheapest(found)
    return Repaired(*best) if best else None


def _readings(value: dict[str, Any], schema: Schema, name: str) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """The interpretations to try: the arguments as they are, unwrapped, wrapped, by position."""
    yield value, ()
    properties = schema.get("properties")
    known: dict[str, Any] = properties if isinstance(properties, dict) else {}
    inner = _unwrapped(value, known, name)
    if inner is not None:
        yield inner, ("unwrapped_arguments",)
    if len(known) == 1 and value and not known.keys() & value.keys():
        yield {next(iter(known)): value}, ("wrapped_arguments",)
    places = [_POSITION.match(key) for key in value]
    if places and all(places) and len(known) >= len(places) and not known.keys() & value.keys():
        order = sorted(value, key=lambda key: int(key[3:]))
        if [int(key[3:]) for key in order] == list(range(len(order))):
            yield {name: value[key] for name, key in zip(known, order, strict=False)}, ("positional_arguments",)


def unwrap(value: dict[str, Any], check: Checker, budget: Budget, name: str) -> Repaired | None:
    """The inner object of a wrapper that satisfies the schema, as every object does if no parameter is required.

    Its keys must all be parameters, and no other keys may be allowed explicitly.
    """
    known, schema = check.schema.get("properties"), check.schema
    if not isinstance(known, dict) or "additionalProperties" in schema or "patternProperties" in schema:
        return None
    inner = _unwrapped(value, known, name)
    whole = inner is not None and inner.keys() <= known.keys() and check.fits(inner, budget)
    return Repaired(inner, ("unwrapped_arguments",)) if inner is not None and whole else None


def _unwrapped(value: dict[str, Any], known: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The inner object of `{"arguments": {...}}`, `{"name": ..., "arguments": {...}}` or `{"get_weather": {...}}`."""
    inside = [key for key in value if key not in known and (key in _WRAPPERS or (name and key == name))]
    if len(inside) != 1 or (value.keys() - {inside[0]}) - _BESIDE_WRAPPERS or known.keys() & value.keys():
        return None
    inner = value[inside[0]]
    if isinstance(inner, str):
        inner = read_relaxed(inner).value
    return inner if isinstance(inner, dict) else None


class _Fit:
    """Walks a value and its schema together, each pair of the two once."""

    def __init__(self, check: Checker, text: str, budget: Budget) -> None:
        self._check, self._root = check, check.schema
        self._text = text
        self._budget = budget
        self._numbers: frozenset[str] | None = None  # as the model wrote them
        self._evaluator: Evaluator | None = None
        self._fitted: dict[tuple[int, int], tuple[Fitted, Any]] = {}  # with the value, so that no other gets its id

    def fit(self, value: Any, schema: Any) -> Fitted:
        if not isinstance(schema, dict):
            return value, ()
        if "$ref" in schema:
            schema = self._followed(schema)
        self._budget.spend()
        if _BESIDE_TYPES.isdisjoint(schema):  # the common case
            return self._by_type(value, schema)
        pair = (id(value), id(schema))
        known = self._fitted.get(pair)
        if known is None:
            self._fitted[pair] = ((value, ()), value)  # a schema that refers to itself
            known = self._fitted[pair] = (self._by_parts(value, schema), value)
        return known[0]

    def _by_parts(self, value: Any, schema: Schema) -> Fitted:
        fixes: tuple[str, ...] = ()
        for part in _parts(schema, "allOf"):
            value, more = self.fit(value, part)
            fixes += more
        for word in ("anyOf", "oneOf"):
            if _parts(schema, word):
                value, more = self._either(value, _parts(schema, word))
                fixes += more
        value, more = self._by_choice(value, schema)
        fixes += more
        value, more = self._by_type(value, schema)
        return value, fixes + more

    def _followed(self, schema: Schema) -> Schema:
        """The target of a `$ref`, merged with the keywords beside it. Kept, so that it is the same object each time."""
        kept: Schema | None = self._check.derived.get(("merged", id(schema)))
        if kept is None:
            kept = self._check.derived["merged", id(schema)] = self._merged(schema)
        return kept

    def _merged(self, schema: Schema) -> Schema:
        for _ in range(_MAX_HOPS):
            if "$ref" not in schema:
                return schema
            target = resolved(schema["$ref"], self._root)
            if target is None:
                return schema
            schema = target if len(schema) == 1 else {**target, **{key: item for key, item in schema.items() if key != "$ref"}}
        return {}

    # unions

    def _either(self, value: Any, branches: list[Any]) -> Fitted:
        """The value fitted to the cheapest branch; unchanged if it satisfies one, or if two results differ."""
        if any(self._fits(value, branch) for branch in branches):
            return value, ()
        found: list[Fitted] = []
        for branch in branches:
            fitted, fixes = self.fit(value, branch)
            if fixes and self._fits(fitted, branch):
                found.append((fitted, fixes))
        return _cheapest(found) or (value, ())

    def _fits(self, value: Any, branch: Any) -> bool:
        """A branch without references is compiled; others would need all definitions compiled with each of them."""
        if not isinstance(branch, dict):
            return branch is not False
        try:
            kept = self._check.branches[id(branch)]
        except KeyError:
            kept = None if self._check.weight.stepwise and refers(branch) else Checker(self._with_definitions(branch))
            self._check.branches[id(branch)] = kept
        if kept is not None:
            return kept.fits(value, self._budget)
        if self._evaluator is None:
            self._evaluator = self._check.evaluator(self._budget)
        return self._evaluator.valid(value, branch)

    def _with_definitions(self, branch: Schema) -> Schema:
        if not refers(branch):
            return branch
        return {**{word: self._root[word] for word in ("$defs", "definitions") if word in self._root}, **self._followed(branch)}

    # enum and const

    def _by_choice(self, value: Any, schema: Schema) -> Fitted:
        listed = _parts(schema, "enum") or ([schema["const"]] if "const" in schema else [])
        if not listed:
            return value, ()
        choices: _Choices | None = self._check.derived.get(("choices", id(schema)))
        if choices is None:
            choices = self._check.derived["choices", id(schema)] = _Choices(listed)
        return choices.match(value)

    # types

    def _by_type(self, value: Any, schema: Schema) -> Fitted:
        kinds = _kinds(schema)
        if not kinds or _is(value, kinds[0]) or any(_is(value, kind) for kind in kinds[1:]):  # most schemas have one type
            return self._inside(value, schema)
        found: list[Fitted] = []
        for kind in kinds:
            fitted, code = _TO[kind](self, value, schema) if kind in _TO else (_NOTHING, "")
            if fitted is not _NOTHING:
                inner, more = self._inside(fitted, schema)
                found.append((inner, (code, *more)))
        return _cheapest(found) or (value, ())

    def _inside(self, value: Any, schema: Schema) -> Fitted:
        if isinstance(value, dict):
            return self._object(value, schema)
        return self._list(value, schema) if isinstance(value, list) else (value, ())

    def _object(self, value: dict[str, Any], schema: Schema) -> Fitted:
        properties = schema.get("properties")
        known: dict[str, Any] = properties if isinstance(properties, dict) else {}
        others = schema.get("additionalProperties")
        open_ended = isinstance(others, dict) or "patternProperties" in schema
        value, renamed = (value, ()) if open_ended or not known else self._respelled(value, known)
        wanted: frozenset[str] | None = None
        fixes = list(renamed)
        result: dict[str, Any] = {}
        for key, item in value.items():
            inner = known.get(key, others)
            fitted, more = self.fit(item, inner)
            if _nothing(fitted) and key in known:
                wanted = frozenset(_parts(schema, "required")) if wanted is None else wanted
                if key not in wanted and not self._fits(fitted, inner):
                    fixes.append("dropped_null")
                    continue
            result[key] = fitted
            fixes += more
        return (result if fixes else value), tuple(fixes)

    def _respelled(self, value: dict[str, Any], known: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Renames unknown keys that differ from exactly one unused parameter only in case or separators."""
        unknown = [key for key in value if key not in known]
        if not unknown:
            return value, ()
        names: dict[str, list[str]] | None = self._check.derived.get(("names", id(known)))
        if names is None:
            names = {}
            for name in known:
                names.setdefault(_folded(name), []).append(name)
            self._check.derived["names", id(known)] = names
        self._budget.spend(len(unknown))
        meant = {key: [name for name in names.get(_folded(key), ()) if name not in value] for key in unknown}
        taken = Counter(first[0] for first in meant.values() if first)
        renamed = {key: found[0] for key, found in meant.items() if len(found) == 1 and taken[found[0]] == 1}
        if not renamed:
            return value, ()
        return {renamed.get(key, key): item for key, item in value.items()}, ("fixed_key",)

    def _list(self, value: list[Any], schema: Schema) -> Fitted:
        first, rest = _parts(schema, "prefixItems"), schema.get("items")
        fitted = [self.fit(item, first[at] if at < len(first) else rest) for at, item in enumerate(value)]
        fixes = tuple(dict.fromkeys(code for _, codes in fitted for code in codes))
        return ([item for item, _ in fitted] if fixes else value), fixes

    # conversions: the value and the code of the fix, or _NO

    def to_string(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, bool):
            return ("true" if value else "false"), "coerced_type"
        if isinstance(value, int):
            return str(value), "coerced_type"
        if isinstance(value, float):  # 1.10 was parsed as 1.1: only convert if the text has the same spelling
            spelled = dumps(value)
            return (spelled, "coerced_type") if spelled in self._spelled_numbers() else _NO
        return _only(value, str)

    def _spelled_numbers(self) -> frozenset[str]:
        if self._numbers is None:
            self._budget.spend_characters(len(self._text))
            self._numbers = frozenset(_SPELLED_NUMBER.findall(self._text))
        return self._numbers

    def to_integer(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, str):
            word = value.strip()
            if _INTEGER.match(word) and len(word) < _MAX_DIGITS:
                return int(word), "coerced_type"
            if _NUMBER.match(word) and float(word).is_integer() and abs(float(word)) < 2**53:
                return int(float(word)), "coerced_type"
        return _only(value, int)

    def to_number(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, str):
            word = value.strip()
            if _INTEGER.match(word) and len(word) < _MAX_DIGITS:
                return int(word), "coerced_type"
            if _NUMBER.match(word) and abs(float(word)) != float("inf"):
                return float(word), "coerced_type"
        return _only(value, int, float)

    def to_boolean(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, str) and value.strip().lower() in _BOOLEANS:
            return _BOOLEANS[value.strip().lower()], "coerced_type"
        return _only(value, bool)

    def to_null(self, value: Any, schema: Schema) -> tuple[Any, str]:
        return (None, "coerced_type") if isinstance(value, str) and value.strip() in _NULLS else _NO

    def to_object(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, str):
            parsed = read_relaxed(_unquoted(value)).value
            return (parsed, "unwrapped_string") if isinstance(parsed, dict) else _NO
        return _only(value, dict)

    def to_array(self, value: Any, schema: Schema) -> tuple[Any, str]:
        if isinstance(value, str):
            value = _unquoted(value)
            if value.strip()[:1] in ("[", "("):
                parsed = read_relaxed(value).value
                return (parsed, "unwrapped_string") if isinstance(parsed, list) else _NO
            if not value.strip() or re.search(r"[,;\n]", value) or value.strip() in _NULLS:  # may be one item or several
                return _NO
        return ([value], "scalar_to_list") if value is not None else _NO


class _Choices:
    """The values of an enum, by what they are compared with."""

    __slots__ = ("_exact", "_folded", "_texts")

    def __init__(self, listed: list[Any]) -> None:
        self._exact = {_identity(choice) for choice in listed}
        self._folded: dict[str, list[str]] = {}
        self._texts: dict[str, list[Any]] = {}
        for choice in listed:
            if isinstance(choice, str):
                self._folded.setdefault(_folded(choice), []).append(choice)
            text = _as_text(choice)
            if text is not None:
                self._texts.setdefault(text, []).append(choice)

    def match(self, value: Any) -> Fitted:
        if _identity(value) in self._exact:
            return value, ()
        if isinstance(value, list) and len(value) == 1 and _identity(value[0]) in self._exact:
            return value[0], ("list_to_scalar",)
        if isinstance(value, str):
            folded = self._folded.get(_folded(value), ())
            if len(folded) == 1:
                return folded[0], ("fixed_enum",)
        text = _as_text(value)
        alike = [choice for choice in self._texts.get(text, ()) if type(choice) is not type(value)] if text is not None else []
        return (alike[0], ("coerced_type",)) if len(alike) == 1 else (value, ())


def _identity(value: Any) -> Any:
    """A key that is equal for values that are equal as JSON: true is not 1."""
    if not isinstance(value, (dict, list)):
        return isinstance(value, bool), value
    try:
        return "json", msgspec.json.encode(value, order="sorted")
    except UnicodeError:  # a lone surrogate
        return "json", dumps(value)


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip().lower() if value.strip().lower() in _BOOLEANS else value.strip()
    return None if value is None or isinstance(value, (dict, list)) else dumps(value)


def _unquoted(text: str) -> str:
    """The text in a JSON string, if that is an array or an object: it was escaped once too often."""
    try:
        inner = decode(text) if text.strip()[:2] in ('"[', '"{') else None
    except JSON_ERRORS:
        inner = None
    return inner if isinstance(inner, str) else text


_NOTHING: Any = object()
_NO: tuple[Any, str] = (_NOTHING, "")
_TO: dict[str, Callable[[_Fit, Any, Schema], tuple[Any, str]]] = {
    "string": _Fit.to_string,
    "integer": _Fit.to_integer,
    "number": _Fit.to_number,
    "boolean": _Fit.to_boolean,
    "null": _Fit.to_null,
    "object": _Fit.to_object,
    "array": _Fit.to_array,
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}


def _cheapest(found: list[Fitted]) -> Fitted | None:
    """None if there is none, or if two different ones cost the same."""
    least = min((price(fixes) for _, fixes in found), default=0)
    best = [(fitted, fixes) for fitted, fixes in found if price(fixes) == least]
    return best[0] if best and all(_same(fitted, best[0][0]) for fitted, _ in best) else None


def _only(value: Any, *kinds: type) -> tuple[Any, str]:
    """The one item of a list."""
    if isinstance(value, list) and len(value) == 1 and type(value[0]) in kinds:
        return value[0], "list_to_scalar"
    return _NO


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON.get(kind, ()))


def _kinds(schema: Schema) -> list[str]:
    types = schema.get("type")
    if types is None:
        return ["object"] if "properties" in schema else ["array"] if "items" in schema else []
    return types if isinstance(types, list) else [types]


def _parts(schema: Schema, word: str) -> list[Any]:
    parts = schema.get(word)
    return parts if isinstance(parts, list) else []


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _NULLS)


def _folded(word: str) -> str:
    return _SEPARATORS.sub("", word).casefold() or word
