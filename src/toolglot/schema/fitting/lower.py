"""Lowers a normalized schema to a target's keywords. Unsupported constraints go into the description.

The result allows all that the normalized schema allows, except where the target can't express it: that is reported as narrowed.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.schema.fitting.keywords import RELEVANT, bounded, implied_types, supports
from toolglot.schema.fitting.merge import DESCRIBED, NOTES, rules
from toolglot.schema.fitting.report import Report
from toolglot.schema.fitting.targets import KINDS, Target
from toolglot.schema.fitting.values import distinct, kind
from toolglot.schema.fitting.words import describe_loss, described
from toolglot.schema.schema_repair import Schema

_ANY_TYPES = tuple(name for name in KINDS if name != "integer")
_NULL: Schema = {"type": "null"}


class Lowering:
    def __init__(self, target: Target, report: Report) -> None:
        self._target = target
        self._report = report
        self._enum_left = target.enum_values
        self._properties_left = target.properties

    def root(self, schema: Schema) -> Schema:
        """The root is an object and stays one. If it can't have a description, the texts go to the tool's description."""
        if "anyOf" in schema:
            return self.schema(schema, "", 0)
        words: list[str] = list(schema.get(DESCRIBED, ()))
        lowered = self._object({"type": self._named("object")}, rules(schema), words, "", 0)
        return self._finished(lowered, schema, words, "", self._target.root or self._target.keywords)

    def schema(self, schema: Schema, path: str, depth: int) -> Schema:
        words: list[str] = list(schema.get(DESCRIBED, ()))
        options = schema["anyOf"] if "anyOf" in schema else self._alternatives(rules(schema), words)
        if len(options) == 1:
            lowered = self._one(rules(options[0]), words, path, depth)
        else:
            lowered = self._either([self.schema(option, path, depth) for option in options])
        return self._finished(lowered, schema, words, path, self._target.keywords)

    def _finished(self, lowered: Schema, schema: Schema, words: list[str], path: str, keywords: frozenset[str]) -> Schema:
        for word in ("title", "default", "examples"):
            if word in schema and word in keywords:
                lowered[word] = schema[word]
            elif word in schema and (loss := describe_loss(word, schema[word])):
                words.append(loss)
        text = described(schema.get("description"), words)
        if words:
            self._report.moved.append(f"{path}: {'; '.join(dict.fromkeys(words))}" if path else "; ".join(dict.fromkeys(words)))
        if text and "description" in keywords:
            lowered["description"] = text
        elif words:
            self._report.aside.extend(words)
        return lowered

    # unions

    def _either(self, options: list[Schema]) -> Schema:
        options = distinct(
            inner for option in options for inner in (option["anyOf"] if option.keys() == {"anyOf"} else [option])
        )
        if self._target.types == "nullable":
            bare = {"type": self._named("null")}
            left = [option for option in options if option != bare]
            if len(left) < len(options) and left:
                return {**(left[0] if len(left) == 1 else {"anyOf": left}), "nullable": True}
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _alternatives(self, schema: Schema, words: list[str]) -> list[Schema]:
        """One schema, or several if the target can't express it in one."""
        types = schema.get("type")
        if "enum" in schema:
            return self._listed(schema, types, words)
        if types is None and self._target.anything != "empty":
            types = implied_types(schema)
        if types is None:
            return [schema]
        if self._target.types == "list" or len(types) == 1:
            return [{**schema, "type": types}]
        return [{"type": [name], **{word: schema[word] for word in RELEVANT[name] if word in schema}} for name in types]

    def _listed(self, schema: Schema, types: list[str] | None, words: list[str]) -> list[Schema]:
        """Groups enum values by type; values that the target can't list are described in words."""
        groups: dict[str, list[Any]] = {}
        for value in schema["enum"]:
            groups.setdefault(kind(value), []).append(value)
        if types is not None:
            may = {"number" if name == "integer" else name for name in types}
            groups = {name: values for name, values in groups.items() if name in may} or groups
        if not self._affordable(schema["enum"]):
            words.extend(filter(None, [describe_loss("enum", schema["enum"])]))
            return [{"type": list(groups)}] if self._target.types == "list" else [{"type": [name]} for name in groups]
        if self._target.types == "list" and groups.keys() <= self._target.enums:
            values = [value for group in groups.values() for value in group]
            return [{"type": _exact(groups, types), "enum": values}]
        return [self._one_kind(name, values, types) for name, values in groups.items()]

    def _one_kind(self, name: str, values: list[Any], types: list[str] | None) -> Schema:
        typed: Schema = {"type": _exact({name: values}, types)}
        if name == "null" or (name == "boolean" and len(values) > 1):
            return typed
        if name in self._target.enums:
            return {**typed, "enum": values}
        return {**typed, DESCRIBED: [describe_loss("enum", values)]}

    def _affordable(self, values: list[Any]) -> bool:
        return self._enum_left is None or len(values) <= self._enum_left

    # one schema

    def _one(self, schema: Schema, words: list[str], path: str, depth: int) -> Schema:
        if not schema:
            return self._anything(path)
        types: list[str] = schema.get("type", [])
        lowered: Schema = (
            {"type": self._named(types[0]) if len(types) == 1 else [self._named(name) for name in types]} if types else {}
        )
        if "enum" in schema:
            lowered["enum"] = schema["enum"]
            if self._enum_left is not None:
                self._enum_left -= len(lowered["enum"])
            return lowered
        if "object" in types or (not types and RELEVANT["object"] & schema.keys()):
            lowered = self._object(lowered, schema, words, path, depth)
        if "array" in types or (not types and RELEVANT["array"] & schema.keys()):
            self._array(lowered, schema, words, path, depth)
        self._plain_keywords(lowered, schema, words)
        return lowered

    def _plain_keywords(self, lowered: Schema, schema: Schema, words: list[str]) -> None:
        """Bounds, lengths, patterns, formats."""
        simple = {word: value for word, value in schema.items() if word not in _STRUCTURE and word not in NOTES}
        for word, value in bounded(simple, schema.get("type")).items():
            if supports(word, value, self._target):
                lowered[word] = value
                continue
            words.extend(filter(None, [describe_loss(word, value)]))
            looser = _LOOSER.get(word)
            if looser and looser not in simple and supports(looser, value, self._target):
                lowered[looser] = value

    def _object(self, lowered: Schema, schema: Schema, words: list[str], path: str, depth: int) -> Schema:
        properties = dict(schema.get("properties", {}))
        others = schema.get("additionalProperties")
        for name in schema.get("required", ()):  # a required name must be in `properties`
            properties.setdefault(name, others if isinstance(others, dict) else {})
        target = self._target
        if target.closed and depth and ((not properties and others is not False) or depth >= target.depth):
            return self._as_text(lowered, words, path)
        if depth >= target.depth:
            self._report.note(path, "nested too deeply; any object is accepted there")
            return lowered
        self._check_names(properties, path)
        inside = f"{path}." if path else ""
        fitted = {name: self.schema(one, f"{inside}{name}", depth + 1) for name, one in properties.items()}
        required = list(schema.get("required", ()))
        if target.filled:
            fitted = {name: one if name in required else self._or_null(one) for name, one in fitted.items()}
            required = list(fitted)
        if fitted or target.closed or not depth:
            lowered["properties"] = fitted
        if required or target.filled:
            lowered["required"] = required
        self._others(lowered, others, words, path, depth)
        if not depth:
            self._plain_keywords(lowered, {**schema, "type": ["object"]}, words)
        return lowered

    def _others(self, lowered: Schema, others: Any, words: list[str], path: str, depth: int) -> None:
        """The keys that are not listed."""
        target = self._target
        if target.closed:
            lowered["additionalProperties"] = False
            if others is True or isinstance(others, dict):
                self._report.narrow(path, "only the listed keys can be passed")
                words.extend(filter(None, [describe_loss("additionalProperties", others)]))
            return
        if others is None:
            return
        if "additionalProperties" not in (target.keywords if depth else target.root or target.keywords):
            words.extend(filter(None, [describe_loss("additionalProperties", _without_texts(others))]))
        elif others is not False and not all(self._may_stay_open(name) for name in lowered.get("properties", ())):
            self._report.narrow(path, "with one of these names, only the listed keys can be passed")
        else:
            lowered["additionalProperties"] = (
                self.schema(others, f"{path}.*", depth + 1) if isinstance(others, dict) else others
            )

    def _may_stay_open(self, name: str) -> bool:
        return self._target.open_names is None or (name.isascii() and re.match(self._target.open_names, name) is not None)

    def _check_names(self, properties: dict[str, Any], path: str) -> None:
        if self._properties_left is not None:
            self._properties_left -= len(properties)
            if self._properties_left < 0:
                self._report.narrow(path, f"more than {self._target.properties} properties are rejected")
        if self._target.names is not None:
            for name in properties:
                if not re.match(self._target.names, name):
                    self._report.note(path, f"the name {name!r} may be rejected")

    def _array(self, lowered: Schema, schema: Schema, words: list[str], path: str, depth: int) -> None:
        first: list[Schema] = schema.get("prefixItems", [])
        rest: Schema | None = schema.get("items")
        inside = f"{path}[]"
        if first and "prefixItems" in self._target.keywords:
            lowered["prefixItems"] = [self.schema(one, inside, depth) for one in first]
        elif first:
            words.append(f"items in order: {', '.join(map(_brief_kind, first))}")
            whole = schema.get("maxItems", len(first) + 1) <= len(first)
            every = [*first, *([] if whole or rest is None else [rest])]
            rest = {"anyOf": distinct(every)} if (whole or rest is not None) and all(map(rules, every)) else None
            if rest and len(rest["anyOf"]) == 1:
                rest = rest["anyOf"][0]
        if rest is not None:
            lowered["items"] = self.schema(rest, inside, depth)
        elif self._target.items and "prefixItems" not in lowered:
            lowered["items"] = self._anything(inside, within=True)

    # forms that some targets require

    def _named(self, name: str) -> str:
        return name.upper() if self._target.capitals else name

    def _or_null(self, lowered: Schema) -> Schema:
        """Makes an optional property nullable, for targets where all properties are required."""
        if "anyOf" in lowered:
            return lowered if _NULL in lowered["anyOf"] else {**lowered, "anyOf": [*lowered["anyOf"], _NULL]}
        types = lowered["type"] if isinstance(lowered["type"], list) else [lowered["type"]]
        if "null" in types:
            return lowered
        nullable = {**lowered, "type": [*types, "null"]}
        return {**nullable, "enum": [*lowered["enum"], None]} if "enum" in lowered else nullable

    def _as_text(self, lowered: Schema, words: list[str], path: str) -> Schema:
        """An object with free keys, for targets where all keys must be listed: as JSON text, which coercion parses."""
        self._report.narrow(path, "an object with free keys can only be passed as JSON text")
        words.append("a JSON object, written as text")
        types = lowered["type"] if isinstance(lowered["type"], list) else [lowered["type"]]
        others = distinct("string" if name == "object" else name for name in types)
        return {**lowered, "type": others if len(others) > 1 else others[0]}

    def _anything(self, path: str, *, within: bool = False) -> Schema:
        if self._target.anything == "empty":
            return {}
        if self._target.anything == "types":
            return {"type": list(_ANY_TYPES)}
        names = ["string", "number", "boolean", *([] if self._target.types == "nullable" else ["null"])]
        options: list[Schema] = [{"type": self._named(name)} for name in names]
        if not self._target.closed:
            options.append({"type": self._named("object")})
        if not within:
            items = self._anything(path, within=True)
            options.append({"type": self._named("array"), "items": items})
        self._report.narrow(path, "not every JSON value can be passed, although the schema allows any")
        return {"anyOf": options, **({"nullable": True} if self._target.types == "nullable" else {})}


_STRUCTURE = frozenset(
    {"type", "enum", "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf", DESCRIBED}
)
_LOOSER = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _exact(groups: dict[str, list[Any]], types: list[str] | None) -> list[str]:
    """The types of the listed values; `integer` if the schema says so."""
    whole = types is not None and "integer" in types and "number" not in types
    return ["integer" if name == "number" and whole else name for name in groups]


def _without_texts(others: Any) -> Any:
    """Without the internal texts."""
    return {word: value for word, value in others.items() if word != DESCRIBED} if isinstance(others, dict) else others


def _brief_kind(schema: Schema) -> str:
    return "/".join(schema["type"]) if "type" in schema else "value"
