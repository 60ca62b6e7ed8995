"""Request options (`-o NAME=VALUE`, as in OpenAI Chat) and the variable of an API key (`--api-key env:NAME`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from inspect import signature
from typing import Any

from toolglot.agent.agent import Agent
from toolglot.catalog.providers import unknown
from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.pipeline.request.options import RunOptions

# parameters of Agent and of the client, and what a command sets itself
_NOT_OF_THE_REQUEST = frozenset(signature(Agent).parameters) | {"messages", "route", "stream"}
_NOT_OF_THE_REQUEST |= {"api_key", "base_url", "headers", "mode_stats", "retries", "transport"}
_KNOWN = [*RunOptions.__annotations__]


def named_options(pairs: Iterable[str], defaults: Mapping[str, Any] = {}) -> dict[str, Any]:
    """A value is parsed as JSON if possible, else it is a string. null removes a default."""
    options = dict(defaults)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise CallerError(f"{pair!r} is not NAME=VALUE, as in temperature=0", "--option")
        if name in _NOT_OF_THE_REQUEST:
            raise CallerError(f"{name} is not a request option; see --help for other options", "--option")
        if name not in _KNOWN:
            others = f"Fields of one server: -o 'extra_body={{\"{name}\": ...}}'"
            raise CallerError(f"{unknown('option', name, _KNOWN)}. {others}", "--option")
        options[name] = value
        with suppress(*JSON_ERRORS):
            options[name] = decode(value)
    return {name: value for name, value in options.items() if value is not None}


def key_by_name(value: str | None) -> str | None:
    if value is not None and not value.startswith("env:"):
        raise CallerError("other users can see a key on the command line; name its variable: --api-key env:NAME", "--api-key")
    return value
