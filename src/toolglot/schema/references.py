"""Resolves references within a schema."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def resolved(reference: Any, root: Any) -> dict[str, Any] | None:
    """The schema that a local `$ref` points to."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    node = root
    for step in reference[2:].split("/") if len(reference) > 1 else ():
        step = (unquote(step) if "%" in step else step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        elif isinstance(node, dict) and step in node:
            node = node[step]
        else:
            return None
    return node if isinstance(node, dict) else None


def refers(schema: Any) -> bool:
    """Whether there is a reference in a schema."""
    left = [schema]
    for node in left:  # `left` grows during the loop
        if isinstance(node, dict):
            if not _REFERENCES.isdisjoint(node):
                return True
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
    return False
