"""The pages in a web search's result, by the structure of its JSON: any list of objects with an address."""

from __future__ import annotations

from typing import Any

from toolglot.io.json_codec import JSON_ERRORS, decode_lenient

_ADDRESS, _TITLE = ("url", "link", "href"), ("title", "name")
_MOST = 50
_DEPTH = 4


def found_pages(text: str) -> list[tuple[str, str]]:
    """Address and title of each page. Text that is not JSON has none."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        value = decode_lenient(text)
    except JSON_ERRORS:
        return []
    return _pages(value, _DEPTH)[:_MOST]


def _pages(value: Any, depth: int) -> list[tuple[str, str]]:
    if depth == 0:
        return []
    if isinstance(value, list):
        return [page for one in value[:_MOST] for page in _pages(one, depth - 1)]
    if not isinstance(value, dict):
        return []
    address = _first(value, _ADDRESS)
    if address:
        return [(address, _first(value, _TITLE) or address)]
    return [page for one in value.values() for page in _pages(one, depth - 1)]


def _first(obj: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((obj[key] for key in keys if isinstance(obj.get(key), str)), "")
