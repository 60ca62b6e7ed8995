"""What a tool asks to be told, and whether a value is one: for those who doubt calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.conversation import WORD
from toolglot.pipeline.relevance import as_words, spaced

_STANDS_FOR = re.compile(r"(?:some|your|any|unknown|example|placeholder|the)\b[ _]?(.*)|[<\[{](.*)[>\]}]", re.IGNORECASE)
_MAKES = re.compile(r"(?:^|[._])(?:create|add|new|make|write|set|register|insert|generate|save|start|open|todo)", re.IGNORECASE)


def open_texts(tool: Tool, held: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The texts that had to be given, and that the schema leaves open."""
    properties, required = (as_function(tool).schema or {}).get("properties"), required_of(tool)
    if not isinstance(properties, dict):
        return
    for key, value in held.items():
        own = properties.get(key)
        if key not in required or not isinstance(own, dict) or {"enum", "const", "default"} & own.keys():
            continue
        if isinstance(value, str) and value.strip():
            yield key, own, value


def names_what_it_makes(tool: Tool, key: str) -> bool:
    """`create_task` may choose a task's id, `add_to_cart` not a product's."""
    return _MAKES.search(tool.name) is not None and _words_in(key) - {"id", "ids", "uuid", "guid"} <= _words_in(tool.name)


def is_placeholder(key: str, value: str) -> bool:
    """`some train id` for train_id, `<title>` for title: the parameter's own name, and nothing beside it."""
    found = _STANDS_FOR.fullmatch(value.strip())
    told = _words_in(found[1] or found[2] or "") if found is not None else frozenset()
    return bool(told) and told <= {*_words_in(key), "id", "name", "value"}


def _words_in(name: str) -> frozenset[str]:
    return frozenset(WORD.findall(as_words(name).lower()))


def required_of(tool: Tool) -> list[Any]:
    held = (as_function(tool).schema or {}).get("required")
    return held if isinstance(held, list) else []


def words_of_tool(tool: Tool) -> str:
    told = [spaced(tool.full_name), tool.description or ""]
    properties = (as_function(tool).schema or {}).get("properties")
    for key, own in properties.items() if isinstance(properties, dict) else ():
        told += [spaced(key), *(str(own.get(name, "")) for name in ("description", "enum") if isinstance(own, dict))]
    return " ".join(told)


def plain_values(held: Any) -> Iterator[object]:
    """All values that were given, at any depth."""
    if isinstance(held, dict | list):
        for one in held.values() if isinstance(held, dict) else held:
            yield from plain_values(one)
    else:
        yield held
