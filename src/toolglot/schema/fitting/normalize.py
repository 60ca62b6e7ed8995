"""Normalizes a schema: no `$ref`, `allOf`, `oneOf`, `const`, boolean schemas or conditions; a union has no siblings.

`None` is the schema that nothing satisfies. A normalized schema may allow more than the original, never less; constraints
that were dropped are in words under DESCRIBED. `additionalProperties: false` of one part of an `allOf` does not forbid the keys
of the others: schemas composed of parts often have this mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.schema.fitting.merge import DESCRIBED, merge, remarks, rules, union, with_words
from toolglot.schema.fitting.values import distinct, is_finite, key
from toolglot.schema.fitting.words import brief, describe_loss
from toolglot.schema.references import resolved
from toolglot.schema.schema_repair import Schema

_MAX_DEPTH = 40
_UNROLLED = 2  # how often a recursive schema is expanded
_SIBLINGS_IGNORED = ("draft-03", "draft-04", "draft-06", "draft-07")
_WORDS_ONLY = (
    *("not", "contains", "unevaluatedItems", "unevaluatedProperties", "propertyNames", "dependentRequired"),
    *("dependentSchemas", "dependencies", "contentEncoding"),
)
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS = ("pattern", "format", "title", "description")


class TooLargeError(Exception):
    """The normalized form would exceed the budget."""


class Normalizer:
    """`hops`: how deep references may be nested. `budget`: how many schemas may be built."""

    def __init__(self, root: Schema, *, hops: int, budget: int, note: Callable[[str, str], None]) -> None:
        self._root = root
        self._hops = hops
        self._left = budget
        self.deepest = 0  # the deepest nesting of references so far
        self._note = note
        self._alone = any(mark in str(root.get("$schema", "")) for mark in _SIBLINGS_IGNORED)

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLargeError

    def schema(self, schema: Any, path: str = "", depth: int = 0, trail: tuple[str, ...] = ()) -> Schema | None:
        self.count()
        if schema is False:
            return None
        if not isinstance(schema, dict):
            return {}
        if depth > _MAX_DEPTH:
            self._note(path, "nested too deeply; any value is accepted there")
            return {}
        reference = schema.get("$ref", schema.get("$recursiveRef"))
        if reference is None:
            return self._whole(schema, path, depth, trail)
        target = self._referenced(reference, path, depth, trail)
        beside = {
            word: value for word, value in schema.items() if word not in ("$ref", "$recursiveRef", "$defs", "definitions")
        }
        if self._alone:  # these drafts ignore siblings of $ref
            beside = remarks(beside)
        return merge(self._whole(beside, path, depth, trail), target, self.count) if beside else target

    def _referenced(self, reference: Any, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        target = resolved(reference, self._root)
        if target is None:
            self._note(path, f"$ref {brief(reference, 60)} does not exist; any value is accepted there")
            return {}
        if trail.count(reference) < _UNROLLED and len(trail) < self._hops:
            self.deepest = max(self.deepest, len(trail) + 1)
            return self.schema(target, path, depth + 1, (*trail, reference))
        name = str(reference).rsplit("/", 1)[-1]
        again = reference in trail
        self._note(path, f"{'it contains itself' if again else '$ref is not followed further'}: {name} accepts any value there")
        cut: Schema = {"type": _listed(target["type"])} if target.get("type") else {}
        return with_words(cut, f"again {name if name != '#' else 'the whole'}" if again else f"a {name}")

    def _whole(self, schema: Schema, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        parts = [self._direct(schema, path, depth, trail)]
        parts += [self.schema(part, path, depth + 1, trail) for part in _parts(schema, "allOf")]
        while len(parts) > 1:  # neighbours in pairs: one after the other, the first would be copied for each
            pairs = zip(parts[::2], [*parts[1::2], {}], strict=False)
            parts = [merge(one, other, self.count) for one, other in pairs]
        result = parts[0]
        for word in ("anyOf", "oneOf"):
            if result is not None and _parts(schema, word):
                branches = [self.schema(part, path, depth + 1, trail) for part in schema[word]]
                result = self._either(result, branches, exactly=word == "oneOf")
        if result is not None and schema.get("nullable") is True:
            result = _or_null(result)
        return result

    def _either(self, result: Schema, branches: list[Schema | None], *, exactly: bool) -> Schema | None:
        left = [branch for branch in branches if branch is not None]
        if not left:
            return None
        if all(rules(branch).keys() <= {"required", "type"} and "required" in branch for branch in left):
            needed = " | ".join(", ".join(branch["required"]) for branch in left)
            return with_words(
                result, f"needs {'exactly one' if exactly else 'one'} of {needed}" if len(left) > 1 else f"needs {needed}"
            )
        if not all(rules(branch) for branch in left):  # one of them allows any value
            words = [word for branch in left for word in branch.get(DESCRIBED, ())]
            return with_words(result, f"one of: {' | '.join(words)}" if words else None)
        if exactly and not _apart(left):
            result = with_words(result, "exactly one of the forms")
        either = union([merge(branch, rules(result), self.count) for branch in left])
        if either is None:
            return None
        return merge(remarks(result), either, self.count)

    def _direct(self, schema: Schema, path: str, depth: int, trail: tuple[str, ...]) -> Schema | None:
        """The schema's direct keywords, without its unions."""
        result: Schema = {}
        if schema.get("type"):
            result["type"] = _listed(schema["type"])
        values = _choices(schema)
        if values is not None:
            if not values:
                return None
            result["enum"] = values
        for word in (*_COUNTS, *_BOUNDS):
            if is_finite(schema.get(word)):
                result[word] = schema[word]
        for word in _TEXTS:
            if isinstance(schema.get(word), str):
                result[word] = schema[word]
        if schema.get("uniqueItems") is True:
            result["uniqueItems"] = True
        _draft4_bounds(schema, result)
        _remarks(schema, result)
        if not self._object(schema, result, path, depth, trail):
            return None
        self._list(schema, result, path, depth, trail)
        words = [describe_loss(word, schema[word]) for word in _WORDS_ONLY if word in schema]
        return with_words(result, *words, _condition(schema))

    def _object(self, schema: Schema, result: Schema, path: str, depth: int, trail: tuple[str, ...]) -> bool:
        required = [name for name in _parts(schema, "required") if isinstance(name, str)]
        if required:
            result["required"] = list(dict.fromkeys(required))
        named = schema.get("properties")
        if isinstance(named, dict):
            inside = f"{path}." if path else ""
            found = {str(name): self.schema(one, f"{inside}{name}", depth + 1, trail) for name, one in named.items()}
            result["properties"] = {name: one for name, one in found.items() if one is not None}
            gone = [name for name, one in found.items() if one is None]
            if set(gone) & set(required):
                return False
            result.update(with_words(result, f"without {', '.join(gone)}" if gone else None))
        others = schema.get("additionalProperties")
        if schema.get("patternProperties"):
            result.update(with_words(result, describe_loss("patternProperties", schema["patternProperties"])))
            others = True  # the pattern is lost, so any key is allowed
        if isinstance(others, (bool, dict)):
            others_schema = self.schema(others, f"{path}.*", depth + 1, trail)
            result["additionalProperties"] = False if others_schema is None else others_schema or True
        return True

    def _list(self, schema: Schema, result: Schema, path: str, depth: int, trail: tuple[str, ...]) -> None:
        first, rest = schema.get("prefixItems"), schema.get("items")
        if isinstance(rest, list):  # a tuple in older drafts
            first, rest = rest, schema.get("additionalItems")
        inside = f"{path}[]"
        if isinstance(first, list) and first:
            result["prefixItems"] = [self.schema(one, inside, depth + 1, trail) for one in first]
            if None in result["prefixItems"]:
                result["maxItems"] = min(result["prefixItems"].index(None), result.get("maxItems", len(first)))
                result["prefixItems"] = result["prefixItems"][: result["maxItems"]]
            if not result["prefixItems"]:
                del result["prefixItems"]
        if isinstance(rest, (bool, dict)) and rest is not True:
            items = self.schema(rest, inside, depth + 1, trail)
            if items is None:
                most = len(first) if isinstance(first, list) else 0
                result["maxItems"] = min(most, result.get("maxItems", most))
            elif items:
                result["items"] = items


def _listed(kind: Any) -> list[str]:
    return list(kind) if isinstance(kind, list) else [kind]


def _parts(schema: Schema, word: str) -> list[Any]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _choices(schema: Schema) -> list[Any] | None:
    listed = schema.get("enum")
    if "const" not in schema:
        return distinct(listed) if isinstance(listed, list) else None
    both = merge({"enum": [schema["const"]]}, {"enum": listed} if isinstance(listed, list) else {}, lambda: None)
    return both["enum"] if both else []


def _draft4_bounds(schema: Schema, result: Schema) -> None:
    """In draft 4, `exclusiveMinimum: true` makes `minimum` exclusive."""
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(word) is True and bound in result:
            result[word] = result.pop(bound)


def _remarks(schema: Schema, result: Schema) -> None:
    if "default" in schema:
        result["default"] = schema["default"]
    examples = schema.get("examples", [schema["example"]] if "example" in schema else None)
    if examples:
        result["examples"] = examples if isinstance(examples, list) else [examples]


def _condition(schema: Schema) -> str | None:
    if "if" not in schema or not ("then" in schema or "else" in schema):
        return None
    text = f"if {brief(schema['if'])}"
    for word in ("then", "else"):
        if word in schema:
            text += f" {word} {brief(schema[word])}"
    return text


def _or_null(result: Schema) -> Schema:
    """OpenAPI's `nullable` without a type beside it (`repair_schema` handles the rest)."""
    ruled = rules(result)
    if not ruled or "null" in ruled.get("type", ()):
        return result
    return {**remarks(result), **(union([ruled, {"type": ["null"]}]) or {})}


def _apart(branches: list[Schema]) -> bool:
    """Whether no value can satisfy two of them: their types differ, or the values of a key that all require."""
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
