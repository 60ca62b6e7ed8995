"""A plain schema in the words that a target knows. What it has no word for goes into the description.

It allows what the plain schema allows, except where the target has no way to: those places are reported as narrowed.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.schema.evident import Schema
from toolglot.schema.fitting.keywords import RELEVANT, bounded, evident_types, kept
from toolglot.schema.fitting.merge import NOTES, SAID, rules
from toolglot.schema.fitting.report import Report
from toolglot.schema.fitting.targets import KINDS, Target
from toolglot.schema.fitting.values import distinct, kind
from toolglot.schema.fitting.words import described, said

_ANY_TYPES = tuple(name for name in KINDS if name != "integer")
_NULL: Schema = {"type": "null"}


class Loosen:
    def __init__(self, target: Target, report: Report) -> None:
        self._target = target
        self._report = report
        self._enum_left = target.enum_values
        self._properties_left = target.properties

    def root(self, held: Schema) -> Schema:
        """The root is an object and stays one; where it takes no description, the words are put aside."""
        if "anyOf" in held:
            return self.schema(held, "", 0)
        words: list[str] = list(held.get(SAID, ()))
        made = self._object({"type": self._named("object")}, rules(held), words, "", 0)
        return self._finished(made, held, words, "", self._target.root or self._target.keywords)

    def schema(self, held: Schema, path: str, depth: int) -> Schema:
        words: list[str] = list(held.get(SAID, ()))
        options = held["anyOf"] if "anyOf" in held else self._alternatives(rules(held), words)
        if len(options) == 1:
            made = self._one(rules(options[0]), words, path, depth)
        else:
            made = self._either([self.schema(option, path, depth) for option in options])
        return self._finished(made, held, words, path, self._target.keywords)

    def _finished(self, made: Schema, held: Schema, words: list[str], path: str, keywords: frozenset[str]) -> Schema:
        for word in ("title", "default", "examples"):
            if word in held and word in keywords:
                made[word] = held[word]
            elif word in held and (told := said(word, held[word])):
                words.append(told)
        text = described(held.get("description"), words)
        if words:
            self._report.moved.append(f"{path}: {'; '.join(dict.fromkeys(words))}" if path else "; ".join(dict.fromkeys(words)))
        if text and "description" in keywords:
            made["description"] = text
        elif words:
            self._report.aside.extend(words)
        return made

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

    def _alternatives(self, held: Schema, words: list[str]) -> list[Schema]:
        """One schema, or several where the target can't say it in one."""
        types = held.get("type")
        if "enum" in held:
            return self._listed(held, types, words)
        if types is None and self._target.anything != "empty":
            types = evident_types(held)
        if types is None:
            return [held]
        if self._target.types == "list" or len(types) == 1:
            return [{**held, "type": types}]
        return [{"type": [name], **{word: held[word] for word in RELEVANT[name] if word in held}} for name in types]

    def _listed(self, held: Schema, types: list[str] | None, words: list[str]) -> list[Schema]:
        """By the kinds of the listed values; those that may not be listed are told in words."""
        groups: dict[str, list[Any]] = {}
        for value in held["enum"]:
            groups.setdefault(kind(value), []).append(value)
        if types is not None:
            may = {"number" if name == "integer" else name for name in types}
            groups = {name: values for name, values in groups.items() if name in may} or groups
        if not self._affordable(held["enum"]):
            words.extend(filter(None, [said("enum", held["enum"])]))
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
        return {**typed, SAID: [said("enum", values)]}

    def _affordable(self, values: list[Any]) -> bool:
        return self._enum_left is None or len(values) <= self._enum_left

    # one schema

    def _one(self, held: Schema, words: list[str], path: str, depth: int) -> Schema:
        if not held:
            return self._anything(path)
        types: list[str] = held.get("type", [])
        made: Schema = (
            {"type": self._named(types[0]) if len(types) == 1 else [self._named(name) for name in types]} if types else {}
        )
        if "enum" in held:
            made["enum"] = held["enum"]
            if self._enum_left is not None:
                self._enum_left -= len(made["enum"])
            return made
        if "object" in types or (not types and RELEVANT["object"] & held.keys()):
            made = self._object(made, held, words, path, depth)
        if "array" in types or (not types and RELEVANT["array"] & held.keys()):
            self._array(made, held, words, path, depth)
        self._plain_keywords(made, held, words)
        return made

    def _plain_keywords(self, made: Schema, held: Schema, words: list[str]) -> None:
        """Bounds, lengths, patterns, formats."""
        simple = {word: value for word, value in held.items() if word not in _STRUCTURE and word not in NOTES}
        for word, value in bounded(simple, held.get("type")).items():
            if kept(word, value, self._target):
                made[word] = value
                continue
            words.extend(filter(None, [said(word, value)]))
            looser = _LOOSER.get(word)
            if looser and looser not in simple and kept(looser, value, self._target):
                made[looser] = value

    def _object(self, made: Schema, held: Schema, words: list[str], path: str, depth: int) -> Schema:
        properties = dict(held.get("properties", {}))
        others = held.get("additionalProperties")
        for name in held.get("required", ()):  # a name that must be there has to be known
            properties.setdefault(name, others if isinstance(others, dict) else {})
        target = self._target
        if target.closed and depth and ((not properties and others is not False) or depth >= target.depth):
            return self._as_text(made, words, path)
        if depth >= target.depth:
            self._report.note(path, "it is nested too deeply; any object is accepted there")
            return made
        self._check_names(properties, path)
        inside = f"{path}." if path else ""
        fitted = {name: self.schema(one, f"{inside}{name}", depth + 1) for name, one in properties.items()}
        required = list(held.get("required", ()))
        if target.filled:
            fitted = {name: one if name in required else self._or_null(one) for name, one in fitted.items()}
            required = list(fitted)
        if fitted or target.closed or not depth:
            made["properties"] = fitted
        if required or target.filled:
            made["required"] = required
        self._others(made, others, words, path, depth)
        if not depth:
            self._plain_keywords(made, {**held, "type": ["object"]}, words)
        return made

    def _others(self, made: Schema, others: Any, words: list[str], path: str, depth: int) -> None:
        """The keys that are not listed."""
        target = self._target
        if target.closed:
            made["additionalProperties"] = False
            if others is True or isinstance(others, dict):
                self._report.narrow(path, "keys that are not listed can't be given")
                words.extend(filter(None, [said("additionalProperties", others)]))
            return
        if others is None:
            return
        if "additionalProperties" not in (target.keywords if depth else target.root or target.keywords):
            words.extend(filter(None, [said("additionalProperties", _spoken(others))]))
        elif others is not False and not all(self._may_stay_open(name) for name in made.get("properties", ())):
            self._report.narrow(path, "keys that are not listed can't be given beside one of these names")
        else:
            made["additionalProperties"] = self.schema(others, f"{path}.*", depth + 1) if isinstance(others, dict) else others

    def _may_stay_open(self, name: str) -> bool:
        return self._target.open_names is None or (name.isascii() and re.match(self._target.open_names, name) is not None)

    def _check_names(self, properties: dict[str, Any], path: str) -> None:
        if self._properties_left is not None:
            self._properties_left -= len(properties)
            if self._properties_left < 0:
                self._report.narrow(path, f"more than {self._target.properties} properties are refused")
        if self._target.names is not None:
            for name in properties:
                if not re.match(self._target.names, name):
                    self._report.note(path, f"the name {name!r} may be refused")

    def _array(self, made: Schema, held: Schema, words: list[str], path: str, depth: int) -> None:
        first: list[Schema] = held.get("prefixItems", [])
        rest: Schema | None = held.get("items")
        inside = f"{path}[]"
        if first and "prefixItems" in self._target.keywords:
            made["prefixItems"] = [self.schema(one, inside, depth) for one in first]
        elif first:
            words.append(f"items in order: {', '.join(map(_brief_kind, first))}")
            whole = held.get("maxItems", len(first) + 1) <= len(first)
            every = [*first, *([] if whole or rest is None else [rest])]
            rest = {"anyOf": distinct(every)} if (whole or rest is not None) and all(map(rules, every)) else None
            if rest and len(rest["anyOf"]) == 1:
                rest = rest["anyOf"][0]
        if rest is not None:
            made["items"] = self.schema(rest, inside, depth)
        elif self._target.items and "prefixItems" not in made:
            made["items"] = self._anything(inside, within=True)

    # what a target wants written out

    def _named(self, name: str) -> str:
        return name.upper() if self._target.capitals else name

    def _or_null(self, made: Schema) -> Schema:
        """For a property that may be left out, where all must be there."""
        if "anyOf" in made:
            return made if _NULL in made["anyOf"] else {**made, "anyOf": [*made["anyOf"], _NULL]}
        types = made["type"] if isinstance(made["type"], list) else [made["type"]]
        if "null" in types:
            return made
        nullable = {**made, "type": [*types, "null"]}
        return {**nullable, "enum": [*made["enum"], None]} if "enum" in made else nullable

    def _as_text(self, made: Schema, words: list[str], path: str) -> Schema:
        """An object with free keys, where keys must be listed: as JSON text, which coercion reads back."""
        self._report.narrow(path, "an object with free keys can only be given as JSON text")
        words.append("a JSON object, written as text")
        types = made["type"] if isinstance(made["type"], list) else [made["type"]]
        others = distinct("string" if name == "object" else name for name in types)
        return {**made, "type": others if len(others) > 1 else others[0]}

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
        self._report.narrow(path, "not every value can be given where anything is allowed")
        return {"anyOf": options, **({"nullable": True} if self._target.types == "nullable" else {})}


_STRUCTURE = frozenset(
    {"type", "enum", "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf", SAID}
)
_LOOSER = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _exact(groups: dict[str, list[Any]], types: list[str] | None) -> list[str]:
    """The types of the listed values; `integer` where it was said."""
    whole = types is not None and "integer" in types and "number" not in types
    return ["integer" if name == "number" and whole else name for name in groups]


def _spoken(others: Any) -> Any:
    """In words, the plain form is as good as any."""
    return {word: value for word, value in others.items() if word != SAID} if isinstance(others, dict) else others


def _brief_kind(schema: Schema) -> str:
    return "/".join(schema["type"]) if "type" in schema else "value"
