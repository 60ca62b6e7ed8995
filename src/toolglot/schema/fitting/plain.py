"""A schema in plain form: no `$ref`, `allOf`, `oneOf`, `const` or boolean schemas, no conditions; a union stands alone.

`None` is the schema that nothing satisfies. A plain schema may allow more than the original, never less; what was given up is
in words under SAID. `additionalProperties: false` of one part of an `allOf` does not forbid the keys of the others: that is the
usual slip of schemas made of parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.schema.check import resolved
from toolglot.schema.evident import Schema
from toolglot.schema.fitting.merge import SAID, merge, remarks, rules, union, with_words
from toolglot.schema.fitting.values import distinct, is_finite, key
from toolglot.schema.fitting.words import brief, said

_MOST_DEPTH = 40
_UNROLLED = 2  # how often a schema is put into itself
_SIBLINGS_IGNORED = ("draft-03", "draft-04", "draft-06", "draft-07")
_WORDS_ONLY = (
    *("not", "contains", "unevaluatedItems", "unevaluatedProperties", "propertyNames", "dependentRequired"),
    *("dependentSchemas", "dependencies", "contentEncoding"),
)
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS = ("pattern", "format", "title", "description")


class TooLargeError(Exception):
    """The plain form would be out of all proportion."""


class Plain:
    """`hops`: how many references may be followed one inside the other. `budget`: how many schemas may be made."""

    def __init__(self, root: Schema, *, hops: int, budget: int, note: Callable[[str, str], None]) -> None:
        self._root = root
        self._hops = hops
        self._left = budget
        self.deepest = 0  # references followed one inside the other
        self._note = note
        self._alone = any(mark in str(root.get("$schema", "")) for mark in _SIBLINGS_IGNORED)

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLargeError

    def schema(self, held: Any, path: str = "", depth: int = 0, trail: tuple[str, ...] = ()) -> Schema | None:
        self.count()
        if held is False:
            return None
        if not isinstance(held, dict):
            return {}
        if depth > _MOST_DEPTH:
            self._note(path, "it is nested too deeply; anything is accepted there")
            return {}
        reference = held.get("$ref", held.get("$recursiveRef"))
        if reference is None:
            return self._whole(held, path, depth, trail)
        target = self._referenced(reference, path, depth, trail)
        beside = {word: value for word, value in held.items() if word not in ("$ref", "$recursiveRef", "$defs", "definitions")}
        if self._alone:  # as these drafts have it
            beside = remarks(beside)
        return merge(self._whole(beside, path, depth, trail), target, self.count) if beside else target

    def _referenced(self, reference: Any, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        target = resolved(reference, self._root)
        if target is None:
            self._note(path, f"$ref {brief(reference, 60)} leads nowhere; anything is accepted there")
            return {}
        if trail.count(reference) < _UNROLLED and len(trail) < self._hops:
            self.deepest = max(self.deepest, len(trail) + 1)
            return self.schema(target, path, depth + 1, (*trail, reference))
        name = str(reference).rsplit("/", 1)[-1]
        again = reference in trail
        self._note(path, f"{'it contains itself' if again else '$ref is not followed further'}: {name} is left open there")
        cut: Schema = {"type": _listed(target["type"])} if target.get("type") else {}
        return with_words(cut, f"again {name if name != '#' else 'the whole'}" if again else f"a {name}")

    def _whole(self, held: Schema, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        made = self._own(held, path, depth, trail)
        for part in _parts(held, "allOf"):
            made = merge(made, self.schema(part, path, depth + 1, trail), self.count)
        for word in ("anyOf", "oneOf"):
            if made is not None and _parts(held, word):
                branches = [self.schema(part, path, depth + 1, trail) for part in held[word]]
                made = self._either(made, branches, exactly=word == "oneOf")
        if made is not None and held.get("nullable") is True:
            made = _or_null(made)
        return made

    def _either(self, made: Schema, branches: list[Schema | None], *, exactly: bool) -> Schema | None:
        left = [branch for branch in branches if branch is not None]
        if not left:
            return None
        if all(rules(branch).keys() <= {"required", "type"} and "required" in branch for branch in left):
            needed = " | ".join(", ".join(branch["required"]) for branch in left)
            return with_words(
                made, f"needs {'exactly one' if exactly else 'one'} of {needed}" if len(left) > 1 else f"needs {needed}"
            )
        if not all(rules(branch) for branch in left):  # one of them allows anything
            words = [word for branch in left for word in branch.get(SAID, ())]
            return with_words(made, f"one of: {' | '.join(words)}" if words else None)
        if exactly and not _apart(left):
            made = with_words(made, "exactly one of the forms")
        either = union([merge(branch, rules(made), self.count) for branch in left])
        if either is None:
            return None
        return merge(remarks(made), either, self.count)

    def _own(self, held: Schema, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        """The keywords that stand in it itself."""
        made: Schema = {}
        if held.get("type"):
            made["type"] = _listed(held["type"])
        values = _choices(held)
        if values is not None:
            if not values:
                return None
            made["enum"] = values
        for word in (*_COUNTS, *_BOUNDS):
            if is_finite(held.get(word)):
                made[word] = held[word]
        for word in _TEXTS:
            if isinstance(held.get(word), str):
                made[word] = held[word]
        if held.get("uniqueItems") is True:
            made["uniqueItems"] = True
        _draft4_bounds(held, made)
        _remarks(held, made)
        if not self._object(held, made, path, depth, trail):
            return None
        self._list(held, made, path, depth, trail)
        words = [said(word, held[word]) for word in _WORDS_ONLY if word in held]
        return with_words(made, *words, _condition(held))

    def _object(self, held: Schema, made: Schema, path: str, depth: int, trail: tuple[str, ...]) -> bool:
        required = [name for name in _parts(held, "required") if isinstance(name, str)]
        if required:
            made["required"] = list(dict.fromkeys(required))
        named = held.get("properties")
        if isinstance(named, dict):
            inside = f"{path}." if path else ""
            found = {str(name): self.schema(one, f"{inside}{name}", depth + 1, trail) for name, one in named.items()}
            made["properties"] = {name: one for name, one in found.items() if one is not None}
            gone = [name for name, one in found.items() if one is None]
            if set(gone) & set(required):
                return False
            made.update(with_words(made, f"without {', '.join(gone)}" if gone else None))
        others = held.get("additionalProperties")
        if held.get("patternProperties"):
            made.update(with_words(made, said("patternProperties", held["patternProperties"])))
            others = True  # which keys are meant is no longer known
        if isinstance(others, (bool, dict)):
            schema = self.schema(others, f"{path}.*", depth + 1, trail)
            made["additionalProperties"] = False if schema is None else schema or True
        return True

    def _list(self, held: Schema, made: Schema, path: str, depth: int, trail: tuple[str, ...]) -> None:
        first, rest = held.get("prefixItems"), held.get("items")
        if isinstance(rest, list):  # a tuple of older drafts
            first, rest = rest, held.get("additionalItems")
        inside = f"{path}[]"
        if isinstance(first, list) and first:
            made["prefixItems"] = [self.schema(one, inside, depth + 1, trail) for one in first]
            if None in made["prefixItems"]:
                made["maxItems"] = min(made["prefixItems"].index(None), made.get("maxItems", len(first)))
                made["prefixItems"] = made["prefixItems"][: made["maxItems"]]
            if not made["prefixItems"]:
                del made["prefixItems"]
        if isinstance(rest, (bool, dict)) and rest is not True:
            items = self.schema(rest, inside, depth + 1, trail)
            if items is None:
                most = len(first) if isinstance(first, list) else 0
                made["maxItems"] = min(most, made.get("maxItems", most))
            elif items:
                made["items"] = items


def _listed(said_type: Any) -> list[str]:
    return list(said_type) if isinstance(said_type, list) else [said_type]


def _parts(held: Schema, word: str) -> list[Any]:
    found = held.get(word)
    return found if isinstance(found, list) else []


def _choices(held: Schema) -> list[Any] | None:
    listed = held.get("enum")
    if "const" not in held:
        return distinct(listed) if isinstance(listed, list) else None
    both = merge({"enum": [held["const"]]}, {"enum": listed} if isinstance(listed, list) else {}, lambda: None)
    return both["enum"] if both else []


def _draft4_bounds(held: Schema, made: Schema) -> None:
    """There, `exclusiveMinimum: true` says how `minimum` is meant."""
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if held.get(word) is True and bound in made:
            made[word] = made.pop(bound)


def _remarks(held: Schema, made: Schema) -> None:
    if "default" in held:
        made["default"] = held["default"]
    examples = held.get("examples", [held["example"]] if "example" in held else None)
    if examples:
        made["examples"] = examples if isinstance(examples, list) else [examples]


def _condition(held: Schema) -> str | None:
    if "if" not in held or not ("then" in held or "else" in held):
        return None
    told = f"if {brief(held['if'])}"
    for word in ("then", "else"):
        if word in held:
            told += f" {word} {brief(held[word])}"
    return told


def _or_null(made: Schema) -> Schema:
    """OpenAPI's `nullable` where no type stands beside it (`evident` has seen to the rest)."""
    ruled = rules(made)
    if not ruled or "null" in ruled.get("type", ()):
        return made
    return {**remarks(made), **(union([ruled, {"type": ["null"]}]) or {})}


def _apart(branches: list[Schema]) -> bool:
    """No value can satisfy two of them: their types differ, or the values of a key that all must have."""
    types = [{"number" if name == "integer" else name for name in branch.get("type", ())} for branch in branches]
    if _disjoint(types):
        return True
    shared = set.intersection(*(set(branch.get("required", ())) for branch in branches))
    tags = (
        [branch["properties"].get(name, {}).get("enum", ()) for branch in branches if "properties" in branch] for name in shared
    )
    return any(len(tag) == len(branches) and _disjoint([set(map(key, values)) for values in tag]) for tag in tags)


def _disjoint(sets: list[set[str]]) -> bool:
    return all(sets) and sum(map(len, sets)) == len(set().union(*sets))
