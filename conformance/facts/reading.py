"""Small readers that the APIs share."""

from __future__ import annotations

import json
from typing import Any


def arguments(text: Any) -> Any:
    """The arguments of a call: a text that is cut stays a text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def texts_of(content: Any, *keys: str) -> str:
    """The text of a content: a string, or parts with a text under one of `keys`."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part[key] for part in content for key in keys or ("text",) if isinstance(part.get(key), str))


def events(text: str) -> list[Any]:
    """The JSON values of a stream: `data:` lines, or a value a line."""
    lines = (line.removeprefix("data:").strip() for line in text.replace("\r\n", "\n").split("\n"))
    return [json.loads(line) for line in lines if line.startswith("{")]


class History:
    """A conversation as facts, written down part by part."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.calls: list[tuple[str, Any]] = []
        self.results: list[tuple[int | None, str]] = []  # the place of its call, and its text
        self.errors: list[bool] = []  # which results are errors
        self.images = 0
        self._ids: list[str | None] = []

    def text(self, role: str, text: str) -> None:
        if not text:
            return
        if self.texts and self.texts[-1][0] == role:  # APIs cut texts into parts and messages in different places
            text = self.texts.pop()[1] + text
        self.texts.append((role, text))

    def call(self, call_id: str | None, name: str, given: Any) -> None:
        self.calls.append((name, arguments(given)))
        self._ids.append(call_id)

    def result(self, call_id: str | None, text: str, *, is_error: bool = False) -> None:
        """Without an id it belongs to the first call that has no result yet."""
        done = {place for place, _ in self.results}
        open_places = [at for at in range(len(self._ids)) if at not in done]
        found = [at for at in open_places if call_id is not None and self._ids[at] == call_id]
        found = found or (open_places if call_id is None else [])
        place = found[0] if found else None
        self.results.append((place, text.removeprefix("Error: ")))  # how some mark an error where the API has no flag
        self.errors.append(is_error)

    def facts(self, *, has_error_flag: bool) -> dict[str, Any]:
        found = {"texts": self.texts, "calls": self.calls, "results": self.results, "images": self.images}
        return found | {"errors": self.errors if has_error_flag else None}
