"""What is given by name: options of the request (`-o NAME=VALUE`, as in OpenAI Chat), and a key (`--api-key env:NAME`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from toolglot.errors import CallerError
from toolglot.text.json_text import BadJson, decode


def named_options(pairs: Iterable[str], defaults: Mapping[str, Any] = {}) -> dict[str, Any]:
    """A value is JSON where it can be read so, and else a text. null takes a default away."""
    options = dict(defaults)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise CallerError(f"{pair!r} is not NAME=VALUE, as in temperature=0", "--option")
        options[name] = value
        with suppress(*BadJson):
            options[name] = decode(value)
    return {name: value for name, value in options.items() if value is not None}


def key_by_name(given: str | None) -> str | None:
    if given is not None and not given.startswith("env:"):
        raise CallerError("a key on the command line is seen by others; name its variable: --api-key env:NAME", "--api-key")
    return given
