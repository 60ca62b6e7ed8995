"""What a server reports about a model, and functions that take values from its JSON whatever their type."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import msgspec

from toolglot.client.detection.templates import Template, read_template

_SHOWN = 5  # names in a note
_LONGEST = 400  # characters of a name
_LONGEST_TEMPLATE = 64 * 1024  # three times the longest that is known
_MOST_COMMENTS = 500  # more is an attempt to waste time
_MOST_TOKENS = 1 << 40
_PATH, _SEPARATOR = re.compile(r"[/\\~.]|[A-Za-z]:\\"), re.compile(r"[/\\]")
_HUB = re.compile(r"models--[^/\\]+?--([^/\\]+)")  # a hub's cache: the folders below are hashes
_HASH = re.compile(r"(?:sha256[-:])?[0-9a-f]{32,64}")  # the names of Ollama's blobs, and of a hub's snapshots


class ServerFacts(msgspec.Struct, frozen=True):
    """None and empty: not reported. Notes are for people."""

    endpoint: str = ""  # POST /api/show
    missing: bool = False  # the server does not have this model
    tools: bool | None = None
    parallel: bool | None = None
    vision: bool | None = None
    ask: str | None = None  # the only tool mode that makes sense for this server
    context_length: int | None = None
    parameters: float | None = None  # billions
    template: Template | None = None  # parsed once, when the response is read
    dialect: str | None = None  # if nothing else of the template is known
    families: tuple[str, ...] = ()  # the same: whose template it is
    refuses: tuple[str, ...] = ()  # in addition to what the template shows
    names: tuple[tuple[str, str], ...] = ()  # where it shows which model it runs, the best evidence first: field, name
    notes: tuple[str, ...] = ()

    def with_more(self, other: ServerFacts) -> ServerFacts:
        """Facts of another endpoint of the same server, where this one has none."""
        new = {
            field: value for field in self.__struct_fields__ if not getattr(self, field) and (value := getattr(other, field))
        }
        return msgspec.structs.replace(
            self, **{**new, "names": (*self.names, *other.names), "notes": (*self.notes, *other.notes)}
        )


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def name(value: Any) -> str:
    """A name that may be shown: one line, not too long."""
    return "".join(sign for sign in text(value)[:_LONGEST] if sign.isprintable()).strip()


def evidence(**shown: Any) -> tuple[tuple[str, str], ...]:
    """Names of the model by the fields that show them. Of a path only the file is kept, of a blob or a hash nothing."""
    found = []
    for field, value in shown.items():
        path = name(value)
        in_cache = _HUB.search(path)
        last = in_cache[1] if in_cache else _SEPARATOR.split(path.rstrip("/\\"))[-1] if _PATH.match(path) else path
        if last and not _HASH.fullmatch(last):
            found.append((field, last))
    return tuple(found)


def template(value: Any) -> Template | None:
    """None: there is none, or it is too large to parse."""
    source = text(value)
    too_large = len(source) > _LONGEST_TEMPLATE or source.count("{#") + source.count("/*") > _MOST_COMMENTS
    return read_template(source) if source and not too_large else None


def tokens(value: Any) -> int | None:
    """A context length. Servers report 0 for `unknown`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS
    return value if valid else None


def truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def contains(value: Any, word: str) -> bool | None:
    """Whether a list contains this word; None if it is not a list."""
    return word in value if isinstance(value, list) else None


def absent(endpoint: str, model: str, known: list[str], advice: str = "") -> ServerFacts:
    """The server does not have this model: a note lists what it has, the most similar names first."""
    near = get_close_matches(model, known, _SHOWN, 0.5)
    if near:
        listed = f"nearest: {', '.join(near)}"
    elif known:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        listed = f"it has {', '.join(known[:_SHOWN])}{more}"
    else:
        listed = "it has no models"
    return ServerFacts(endpoint, missing=True, notes=(f"the server has no model {model!r}; {listed}{advice}",))
