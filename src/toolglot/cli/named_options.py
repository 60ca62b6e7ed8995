"""What is given by name: options of the request (`-o NAME=VALUE`, as in OpenAI Chat), and a key (`--api-key env:NAME`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from inspect import signature
from typing import Any

from toolglot.agent.agent import Agent
from toolglot.errors import CallerError
from toolglot.text.json_text import BadJson, decode

# what Agent and the client take by name beside them, and what a command writes itself
_NOT_OF_THE_REQUEST = frozenset(signature(Agent).parameters) | {"messages", "route", "stream"}
_NOT_OF_THE_REQUEST |= {"api_key", "base_url", "headers", "remembered", "retries", "transport"}


def named_options(pairs: Iterable[str], defaults: Mapping[str, Any] = {}) -> dict[str, Any]:
    """A value is JSON where it can be read so, and else a text. null takes a default away."""
    options = dict(defaults)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise CallerError(f"{pair!r} is not NAME=VALUE, as in temperature=0", "--option")
        if name in _NOT_OF_THE_REQUEST:
            raise CallerError(f"{name} is no option of the request; --help says what else can be given", "--option")
        options[name] = value
        with suppress(*BadJson):
            options[name] = decode(value)
    return {name: value for name, value in options.items() if value is not None}


def key_by_name(given: str | None) -> str | None:
    if given is not None and not given.startswith("env:"):
        raise CallerError("a key on the command line is seen by others; name its variable: --api-key env:NAME", "--api-key")
    return given
