"""The routing table: method and path to handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from toolglot.errors import UpstreamError
from toolglot.gateway import admin_endpoints, background_endpoints, model_check, model_endpoints, responses_endpoints, tokens
from toolglot.gateway.batches import anthropic_batches, openai_batches
from toolglot.gateway.chat_endpoints import chat
from toolglot.gateway.compaction import compact
from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.frontends import (
    ANTHROPIC,
    CHAT,
    FRONTENDS,
    GEMINI,
    OLLAMA,
    RESPONSES,
    Frontend,
    frontend_from_headers,
)
from toolglot.gateway.http_exchange import HttpExchange, wrong_method
from toolglot.gateway.page import page
from toolglot.gateway.pass_through import forward
from toolglot.gateway.responses_websocket import responses_websocket
from toolglot.wires.gemini.shapes import METHODS as GEMINI_METHODS

Handler = Callable[[EndpointCall], Awaitable[None]]

_VERSION = r"(?:/v1beta|/v1|)"


class Endpoint(msgspec.Struct, frozen=True):
    handler: Handler
    frontend: Frontend  # the format of errors
    recorded: bool = False  # in metrics and records
    limited: bool = False  # counts towards the rate and concurrency limits of its key
    open: bool = False  # needs no key
    admin: bool = False  # needs one of the admin keys, if keys are set
    shared: bool = False  # by several APIs: the headers decide the frontend


def _of_every_wire() -> list[tuple[str, str, Endpoint]]:
    """The endpoints that a wire declares: chat and, where it has them, stored conversations."""
    found: list[tuple[str, str, Endpoint]] = []
    for frontend in FRONTENDS.values():
        conversations = frontend.wire.conversations
        create = chat if conversations is None else background_endpoints.create
        found.append(("POST", frontend.server.chat_path, Endpoint(create, frontend, recorded=True, limited=True)))
        if conversations is not None:
            path = rf"{conversations.path}/(?P<id>[^/]+)"
            found += [
                ("GET", path, Endpoint(background_endpoints.retrieve, frontend)),
                ("DELETE", path, Endpoint(background_endpoints.delete, frontend)),
                ("POST", f"{path}/cancel", Endpoint(background_endpoints.cancel, frontend)),
            ]
    return found


EXACT: dict[tuple[str, str], Endpoint] = {
    **{(method, path): endpoint for method, path, endpoint in _of_every_wire() if "(" not in path},
    ("POST", "/v1/responses"): Endpoint(responses_endpoints.create, RESPONSES, recorded=True, limited=True),
    ("GET", "/v1/responses"): Endpoint(responses_websocket, RESPONSES),
    ("POST", "/v1/responses/compact"): Endpoint(compact, RESPONSES, recorded=True, limited=True),
    ("POST", "/v1/responses/input_tokens"): Endpoint(tokens.count_responses, RESPONSES, limited=True),
    ("POST", "/v1/messages/count_tokens"): Endpoint(tokens.count_anthropic, ANTHROPIC, limited=True),
    ("POST", "/v1/messages/batches"): Endpoint(anthropic_batches.create, ANTHROPIC, limited=True),
    ("GET", "/v1/messages/batches"): Endpoint(anthropic_batches.list_all, ANTHROPIC),
    ("POST", "/v1/batches"): Endpoint(openai_batches.create, CHAT, limited=True),
    ("GET", "/v1/batches"): Endpoint(openai_batches.list_all, CHAT),
    ("POST", "/v1/files"): Endpoint(openai_batches.upload, CHAT, limited=True, shared=True),
    ("GET", "/v1/files"): Endpoint(openai_batches.list_files, CHAT, shared=True),
    ("POST", "/v1/embeddings"): Endpoint(forward, CHAT, recorded=True, limited=True),
    ("POST", "/v1/completions"): Endpoint(forward, CHAT, recorded=True, limited=True),
    ("POST", "/api/generate"): Endpoint(forward, OLLAMA, recorded=True, limited=True),
    ("POST", "/api/embed"): Endpoint(forward, OLLAMA, recorded=True, limited=True),
    ("POST", "/api/embeddings"): Endpoint(forward, OLLAMA, recorded=True, limited=True),
    ("GET", "/api/ps"): Endpoint(model_endpoints.ollama_ps, OLLAMA),
    ("GET", "/api/tags"): Endpoint(model_endpoints.ollama_tags, OLLAMA),
    ("POST", "/api/show"): Endpoint(model_endpoints.ollama_show, OLLAMA),
    ("GET", "/api/version"): Endpoint(model_endpoints.ollama_version, OLLAMA),
    ("GET", "/v1/models"): Endpoint(model_endpoints.list_models, CHAT, shared=True),
    ("GET", "/v1beta/models"): Endpoint(model_endpoints.list_models, GEMINI),
    ("GET", "/models"): Endpoint(model_endpoints.list_models, GEMINI),
    ("GET", "/"): Endpoint(page.show, CHAT, open=True),
    ("GET", "/toolglot/live"): Endpoint(page.live, CHAT),
    ("GET", "/toolglot/upstreams"): Endpoint(page.show_upstreams, CHAT),
    ("GET", "/toolglot/config"): Endpoint(page.show_config, CHAT),
    ("GET", "/toolglot/usage"): Endpoint(admin_endpoints.usage, CHAT),
    ("DELETE", "/toolglot/records"): Endpoint(admin_endpoints.delete_records, CHAT),
    ("POST", "/toolglot/parse"): Endpoint(page.playground, CHAT, limited=True),
    ("GET", "/healthz"): Endpoint(admin_endpoints.healthz, CHAT, open=True),
    ("GET", "/health"): Endpoint(admin_endpoints.healthz, CHAT, open=True),
    ("GET", "/readyz"): Endpoint(admin_endpoints.readyz, CHAT, open=True),
    ("GET", "/metrics"): Endpoint(admin_endpoints.show_metrics, CHAT, admin=True),
}

PATTERNS: list[tuple[str, re.Pattern[str], Endpoint]] = [
    (method, re.compile(pattern), endpoint)
    for method, pattern, endpoint in (
        ("GET", r"/v1/messages/batches/(?P<id>[^/]+)", Endpoint(anthropic_batches.retrieve, ANTHROPIC)),
        ("GET", r"/v1/messages/batches/(?P<id>[^/]+)/results", Endpoint(anthropic_batches.results, ANTHROPIC)),
        ("POST", r"/v1/messages/batches/(?P<id>[^/]+)/cancel", Endpoint(anthropic_batches.cancel, ANTHROPIC)),
        ("DELETE", r"/v1/messages/batches/(?P<id>[^/]+)", Endpoint(anthropic_batches.delete, ANTHROPIC)),
        ("GET", r"/v1/batches/(?P<id>[^/]+)", Endpoint(openai_batches.retrieve, CHAT)),
        ("POST", r"/v1/batches/(?P<id>[^/]+)/cancel", Endpoint(openai_batches.cancel, CHAT)),
        ("GET", r"/v1/files/(?P<id>[^/]+)", Endpoint(openai_batches.show_file, CHAT, shared=True)),
        ("DELETE", r"/v1/files/(?P<id>[^/]+)", Endpoint(openai_batches.delete_file, CHAT, shared=True)),
        ("GET", r"/v1/files/(?P<id>[^/]+)/content", Endpoint(openai_batches.file_content, CHAT, shared=True)),
        *((method, path, endpoint) for method, path, endpoint in _of_every_wire() if "(" in path),
        ("POST", _VERSION + r"/models/(?P<model>.+):countTokens", Endpoint(tokens.count_gemini, GEMINI, limited=True)),
        ("GET", r"/toolglot/page/(?P<name>[a-z]+\.(?:js|css))", Endpoint(page.show, CHAT, open=True)),
        ("GET", r"/toolglot/decisions/(?P<id>[^/]+)", Endpoint(admin_endpoints.decisions, CHAT)),
        ("GET", r"/v1/responses/(?P<id>[^/]+)/input_items", Endpoint(responses_endpoints.input_items, RESPONSES)),
        ("GET", r"/toolglot/check/(?P<model>.+)", Endpoint(model_check.check_endpoint, CHAT)),
        ("GET", r"/v1/models/(?P<model>.+)", Endpoint(model_endpoints.show_model, CHAT, shared=True)),
        ("GET", r"(?:/v1beta|)/models/(?P<model>.+)", Endpoint(model_endpoints.show_model, GEMINI)),
    )
]

# clients whose base URL ends before the version
_WITHOUT_VERSION = re.compile(r"/(?:chat/completions|completions|embeddings|(?:responses|messages|batches|files)(?:/.*)?)")

# methods of Gemini's API that the gateway does not support
_UNSUPPORTED_VERB = re.compile(_VERSION + r"/models/(?P<model>.+):(?P<verb>[A-Za-z]+)")

# the format of an error for an unknown path; other paths: by the headers
_FRONTEND_BY_PREFIX = sorted(
    ((prefix, frontend) for frontend in FRONTENDS.values() for prefix in frontend.server.error_paths),
    key=lambda pair: -len(pair[0]),
)


def find_endpoint(method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
    """The endpoint and its path parameters. HEAD is handled as GET without the body."""
    if method == "HEAD":
        method = "GET"
    if _WITHOUT_VERSION.fullmatch(path):
        path = f"/v1{path}"
    exact = EXACT.get((method, path))
    if exact is not None:
        return exact, {}
    if len(path) > 1 and path.endswith("/"):
        return find_endpoint(method, path.rstrip("/") or "/")
    for allowed, pattern, endpoint in PATTERNS:
        match = pattern.fullmatch(path) if allowed == method else None
        if match is not None:
            return endpoint, match.groupdict()
    unsupported = _UNSUPPORTED_VERB.fullmatch(path) if method == "POST" else None
    if unsupported is not None:
        model, verb = (group[:200] for group in unsupported.groups())
        message = f"models/{model} does not support {verb}; supported: {', '.join(GEMINI_METHODS)}"
        raise UpstreamError(message, 404, "not_found")
    methods = {allowed for (allowed, known) in EXACT if known == path}
    methods |= {allowed for allowed, pattern, _ in PATTERNS if pattern.fullmatch(path)}
    if methods:
        raise wrong_method(path, methods)
    raise UpstreamError(f"{method} {path[:200]} is not supported", 404, "not_found")


def frontend_for(exchange: HttpExchange) -> Frontend:
    """The frontend for an error where no endpoint matches."""
    path = exchange.path
    is_gemini = exchange.method == "POST" and _UNSUPPORTED_VERB.fullmatch(path) is not None
    default = GEMINI if is_gemini else frontend_from_headers(exchange, CHAT)
    return next((frontend for prefix, frontend in _FRONTEND_BY_PREFIX if path.startswith(prefix)), default)
