"""Merges a union of objects into one object, for roots that must not be a union."""

from __future__ import annotations

from typing import Any

from toolglot.io.json_codec import preview
from toolglot.schema.fitting.merge import remarks, rules, union, with_words
from toolglot.schema.fitting.values import distinct, key
from toolglot.schema.schema_repair import Schema

_MOST_FORMS = 8


def flattened(schema: Schema) -> Schema:
    """Every key of every branch, required if all require it; the description says which keys belong together."""
    branches: list[Schema] = schema["anyOf"]
    names = list(dict.fromkeys(name for branch in branches for name in branch.get("properties", {})))
    merged: Schema = {"type": ["object"], "properties": {name: _property(name, branches) for name in names}}
    required = [
        name for name in branches[0].get("required", ()) if all(name in branch.get("required", ()) for branch in branches)
    ]
    if required:
        merged["required"] = required
    others = _others(branches)
    if others is not None:
        merged["additionalProperties"] = others
    return with_words({**merged, **remarks(schema)}, _forms(branches))


def _property(name: str, branches: list[Schema]) -> Schema:
    """The union of what the branches have under the name. A branch that explicitly allows other keys counts too."""
    found: list[Schema] = []
    for branch in branches:
        others = branch.get("additionalProperties")
        if name in branch.get("properties", {}):
            found.append(branch["properties"][name])
        elif others is True or isinstance(others, dict):
            found.append(others if isinstance(others, dict) else {})
    beside = remarks(next(filter(remarks, found), {}))
    ruled = [rules(one) for one in found]
    if not all(ruled):
        return beside
    if all(one.keys() <= {"type", "enum"} and "enum" in one for one in ruled):
        kinds = distinct(word for one in ruled for word in one.get("type", ()))
        typed = {"type": kinds} if all("type" in one for one in ruled) else {}
        return {**typed, "enum": distinct(value for one in ruled for value in one["enum"]), **beside}
    if len({key(one) for one in ruled}) == 1:
        return {**ruled[0], **beside}
    return union(list(found)) or {}


def _others(branches: list[Schema]) -> Any:
    """Open if one branch is; None if no branch sets it."""
    values = [branch.get("additionalProperties") for branch in branches]
    schemas = [one for one in values if isinstance(one, dict)]
    if True in values or (schemas and None in values):
        return True
    return union(list(schemas)) if schemas else False if None not in values else None


def _forms(branches: list[Schema]) -> str | None:
    """`either kind=file, path | kind=url, url`."""
    forms = [_form(branch) for branch in branches]
    if len(set(forms)) < 2:
        return None
    return f"either {preview(' | '.join(list(dict.fromkeys(forms))[:_MOST_FORMS]))}"


def _form(branch: Schema) -> str:
    tags = {name: one.get("enum", ()) for name, one in branch.get("properties", {}).items()}
    named = [f"{name}={tags[name][0]}" if len(tags.get(name, ())) == 1 else name for name in branch.get("required", ())]
    return ", ".join(named) or "nothing"
