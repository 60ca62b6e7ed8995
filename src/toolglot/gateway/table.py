"""Every endpoint: method and path to handler. A page or another front end is one more row."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from toolglot.errors import UpstreamError
from toolglot.gateway import models, own, tokens
from toolglot.gateway.converse import Call, converse
from toolglot.gateway.exchange import Exchange
from toolglot.gateway.fronts import ANTHROPIC, CHAT, GEMINI, OLLAMA, RESPONSES, Front, told_by_headers
from toolglot.gateway.page import page
from toolglot.gateway.turned_away import wrong_method

Handler = Callable[[Call], Awaitable[None]]

_VERSION = r"(?:/v1beta|/v1|)"


class Endpoint(msgspec.Struct, frozen=True):
    handler: Handler
    front: Front  # whose shape errors have
    asks: bool = False  # asks a model: it is counted and recorded
    limited: bool = False  # makes an upstream work: it takes one of its key's places
    open: bool = False  # needs no key
    shared: bool = False  # by several vendors: the headers tell whose client asks


EXACT: dict[tuple[str, str], Endpoint] = {
    ("POST", "/v1/chat/completions"): Endpoint(converse, CHAT, asks=True, limited=True),
    ("POST", "/v1/responses"): Endpoint(converse, RESPONSES, asks=True, limited=True),
    ("GET", "/v1/responses"): Endpoint(own.no_websocket, RESPONSES),
    ("POST", "/v1/responses/input_tokens"): Endpoint(tokens.count_responses, RESPONSES, limited=True),
    ("POST", "/v1/messages"): Endpoint(converse, ANTHROPIC, asks=True, limited=True),
    ("POST", "/v1/messages/count_tokens"): Endpoint(tokens.count_anthropic, ANTHROPIC, limited=True),
    ("POST", "/api/chat"): Endpoint(converse, OLLAMA, asks=True, limited=True),
    ("GET", "/api/tags"): Endpoint(models.ollama_tags, OLLAMA),
    ("POST", "/api/show"): Endpoint(models.ollama_show, OLLAMA),
    ("GET", "/api/version"): Endpoint(models.ollama_version, OLLAMA),
    ("GET", "/v1/models"): Endpoint(models.list_models, CHAT, shared=True),
    ("GET", "/v1beta/models"): Endpoint(models.list_models, GEMINI),
    ("GET", "/models"): Endpoint(models.list_models, GEMINI),
    ("GET", "/"): Endpoint(page.show, CHAT),
    ("GET", "/toolglot/live"): Endpoint(page.live, CHAT),
    ("GET", "/toolglot/upstreams"): Endpoint(page.upstreams, CHAT),
    ("POST", "/toolglot/hear"): Endpoint(page.playground, CHAT, limited=True),
    ("GET", "/healthz"): Endpoint(own.healthz, CHAT, open=True),
    ("GET", "/readyz"): Endpoint(own.readyz, CHAT, open=True),
    ("GET", "/metrics"): Endpoint(own.show_metrics, CHAT),
}

PATTERNS: list[tuple[str, re.Pattern[str], Endpoint]] = [
    (method, re.compile(pattern), endpoint)
    for method, pattern, endpoint in (
        (
            "POST",
            _VERSION + r"/models/(?P<model>.+):(?P<verb>generateContent|streamGenerateContent)",
            Endpoint(converse, GEMINI, asks=True, limited=True),
        ),
        ("POST", _VERSION + r"/models/(?P<model>.+):countTokens", Endpoint(tokens.count_gemini, GEMINI, limited=True)),
        ("GET", r"/toolglot/decisions/(?P<id>[^/]+)", Endpoint(own.decisions, CHAT)),
        ("GET", r"/v1/responses/(?P<id>[^/]+)", Endpoint(own.stored_response, RESPONSES)),
        ("DELETE", r"/v1/responses/(?P<id>[^/]+)", Endpoint(own.drop_response, RESPONSES)),
        ("GET", r"/v1/models/(?P<model>.+)", Endpoint(models.show_model, CHAT, shared=True)),
        ("GET", r"(?:/v1beta|)/models/(?P<model>.+)", Endpoint(models.show_model, GEMINI)),
    )
]

# what Gemini's clients may ask of a model elsewhere
_NO_SUCH_VERB = re.compile(_VERSION + r"/models/(?P<model>.+):(?P<verb>[A-Za-z]+)")

# whose shape an error has where no endpoint is found: by how the path begins, else by the headers
_SHAPES = (("/v1beta", GEMINI), ("/models", GEMINI), ("/v1/messages", ANTHROPIC), ("/api/", OLLAMA))


def find_endpoint(method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
    """The endpoint and what its path tells. HEAD is answered as GET, without the body."""
    if method == "HEAD":
        method = "GET"
    found = EXACT.get((method, path))
    if found is not None:
        return found, {}
    if len(path) > 1 and path.endswith("/"):
        return find_endpoint(method, path.rstrip("/") or "/")
    for of, pattern, endpoint in PATTERNS:
        match = pattern.fullmatch(path) if of == method else None
        if match is not None:
            return endpoint, match.groupdict()
    unknown = _NO_SUCH_VERB.fullmatch(path) if method == "POST" else None
    if unknown is not None:
        model, verb = (found[:200] for found in unknown.groups())
        told = f"models/{model} is not supported for {verb} here: there are {', '.join(models.METHODS)}"
        raise UpstreamError(told, 404, "not_found")
    others = {of for (of, known) in EXACT if known == path} | {of for of, pattern, _ in PATTERNS if pattern.fullmatch(path)}
    if others:
        raise wrong_method(path, others)
    raise UpstreamError(f"there is nothing at {method} {path[:200]}", 404, "not_found")


def front_for(exchange: Exchange) -> Front:
    path = exchange.path
    verb = exchange.method == "POST" and _NO_SUCH_VERB.fullmatch(path) is not None
    otherwise = GEMINI if verb else told_by_headers(exchange, CHAT)
    return next((front for start, front in _SHAPES if path.startswith(start)), otherwise)
