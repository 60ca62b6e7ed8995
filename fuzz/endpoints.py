"""The fifth target: requests to every endpoint of the gateway, with and without keys, up to the response.

An input is a request: a line with method and path, header lines, an empty line, and the body. The upstream is a recorded one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from tests.laws.conversations import ROOT
from tests.laws.conversations import body as recorded
from tests.laws.conversations import stream as recorded_stream

from fuzz.mutate import mutate_bytes, mutate_json
from toolglot.client.transport import Limits
from toolglot.errors import UpstreamError
from toolglot.gateway.app import App
from toolglot.gateway.config import read_config
from toolglot.gateway.endpoints import EXACT
from toolglot.gateway.state import Gateway
from toolglot.io.json_codec import encode
from toolglot.wires import NAMES, find_wire

Options = dict[str, Any]
KEYS = {"user": "fuzz-key-user-0123", "admin": "fuzz-key-admin-012", "none": "", "wrong": "fuzz-key-wrong-012"}
PROVIDERS = {**{wire: wire for wire in NAMES}, "openai-chat": "vllm", "ollama": "ollama-cloud"}
_UPSTREAMS = ("plain", "plain", "plain", "calls", "error", "refused", "damaged")
_PASSED = ("/embeddings", "/completions", "/api/generate", "/api/embed")  # their responses are the upstream's, as they are
_OPEN = ("/", "/health", "/healthz", "/readyz")
_PATHS = (
    *(
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/input_items",
        "/v1/responses/resp_1/cancel",
        "/v1/messages/batches/batch_1",
        "/v1/messages/batches/batch_1/results",
        "/v1/messages/batches/batch_1/cancel",
        "/v1/batches/batch_1",
        "/v1/batches/batch_1/cancel",
        "/v1/files/file_1",
        "/v1/files/file_1/content",
        "/v1beta/interactions",
        "/v1beta/interactions/v1_1",
        "/v1beta/interactions/v1_1/cancel",
        "/toolglot/check/anthropic/m",
        "/toolglot/decisions/req_1",
        "/toolglot/page/dom.js",
        "/v1/models/anthropic/m",
        "/v1beta/models/gemini/m",
        "/models/m",
    ),
    *("/v1beta/models/gemini/m:generateContent", "/v1/models/gemini/m:streamGenerateContent?alt=sse", "/models/m:countTokens"),
)
_QUERIES = (
    "",
    "",
    "",
    "?key=fuzz-key-user-0123",
    "?alt=sse",
    "?days=7",
    "?limit=2&after_id=x",
    "?pageSize=1",
    "?span=day&after=x",
)


def _wire_at(path: str) -> str:
    """The wire whose servers have this path."""
    wires = ((name, find_wire(name)) for name in NAMES)
    return next((name for name, wire in wires if wire and re.fullmatch(wire.server.chat_path, path)), "openai-chat")


class _Recorded:
    """An answer of the upstream."""

    def __init__(self, status: int, data: bytes, kind: str) -> None:
        self.status, self._data = status, data
        self.headers: Mapping[str, str] = {"content-type": kind}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self._data), 400):
            yield self._data[at : at + 400]

    async def read(self) -> bytes:
        return self._data

    async def aclose(self) -> None:
        """There is no connection."""

    def release(self) -> None:
        """There is no connection."""


class _Upstream:
    """A transport that plays fixtures."""

    kind = "plain"

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits | None = None
    ) -> _Recorded:
        if self.kind == "refused":
            raise UpstreamError("refused", code="refused", retry_after=60.0)
        if self.kind == "error":
            return _Recorded(429, b'{"error": {"message": "slow down"}}', "application/json")
        wire = _wire_at(urlsplit(url).path)
        case = "parallel_calls" if self.kind == "calls" else "plain_text"
        streams = "stream" in url or b'"stream":true' in body
        data = recorded_stream(case, wire) if streams else encode(recorded(case, wire, "reply"))
        if self.kind == "damaged":
            data = data[: len(data) * 2 // 3]
        return _Recorded(
            200, data, ("application/x-ndjson" if wire == "ollama" else "text/event-stream") if streams else "application/json"
        )

    async def aclose(self) -> None:
        """There is no connection."""


_LOOP = asyncio.new_event_loop()


class _Errors(logging.Handler):
    """An internal error is logged, and answered with 500."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record)


_ERRORS = _Errors()


@cache
def _app() -> tuple[App, _Upstream]:
    text = f'[server]\ndetect = false\nrecord = true\nkeys = ["{KEYS["user"]}"]\nadmin_keys = ["{KEYS["admin"]}"]\n'
    for wire in NAMES:
        text += f'[[upstream]]\nname = "{wire}"\nprovider = "{PROVIDERS[wire]}"\nbase_url = "http://up"\napi_key = "k"\n'
        text += f'[[route]]\nmodel = "{wire}/*"\nto = "{wire}/*"\n'
    logger = logging.getLogger("toolglot.gateway")
    logger.addHandler(_ERRORS)
    logger.propagate = False
    upstream = _Upstream()
    return App(Gateway(read_config(text + '[[route]]\nmodel = "m"\nto = "openai-chat/m"\n', environ={}), upstream)), upstream


def seeds() -> Iterator[tuple[Options, bytes]]:
    bodies = {wire: json.loads((ROOT / "conversations/parallel_calls" / f"{wire}.request.json").read_bytes()) for wire in NAMES}
    lines = [(method, path) for method, path in EXACT] + [
        (method, path) for path in _PATHS for method in ("GET", "POST", "DELETE")
    ]
    for method, path in lines:
        wire = _wire_at(path.partition("?")[0])
        for to in NAMES if method == "POST" else ("m",):
            body = {**bodies[wire], "model": f"{to}/m", "stream": to in NAMES[::2]} if method == "POST" else {}
            if path == "/toolglot/parse":
                body = {
                    "text": '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>',
                    "tools": bodies["openai-chat"]["tools"],
                }
            if path == "/v1/messages/batches":
                body = {"requests": [{"custom_id": "a", "params": body}]}
            data = json.dumps(body, ensure_ascii=False).encode() if body else b""
            yield {"key": "admin", "upstream": "plain"}, f"{method} {path}\naccept: */*\n\n".encode() + data


def vary(options: Options, chance: Random) -> Options:
    return {
        "key": chance.choice(("user", "user", "admin", "admin", "none", "wrong")),
        "upstream": chance.choice(_UPSTREAMS),
        "query": chance.choice(_QUERIES),
    }


def mutate(data: bytes, other: bytes, words: Any, chance: Random) -> bytes:
    head, mark, body = data.partition(b"\n\n")
    if chance.random() < 0.3:
        head = mutate_bytes(head, other.partition(b"\n\n")[0], words, chance)
    return head + mark + (mutate_json(body, other.partition(b"\n\n")[2], words, chance) if body else body)


def check(options: Options, data: bytes) -> tuple[Hashable, ...]:
    head, _, body = data.partition(b"\n\n")
    line, *lines = head.split(b"\n")
    method, _, target = line.decode("latin-1").partition(" ")
    path, _, query = (target + options.get("query", "")).partition("?")
    headers = [(name.strip().lower(), value.strip()) for name, mark, value in (each.partition(b":") for each in lines) if mark]
    headers = [(name, value) for name, value in headers if name not in (b"content-length", b"authorization", b"x-api-key")]
    if key := KEYS[options["key"]]:
        headers.append((b"authorization", b"Bearer " + key.encode()))
    scope = {
        "type": "http",
        "method": method[:20].upper(),
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "query_string": query.encode("latin-1", "replace"),
        "headers": headers,
        "client": ("127.0.0.1", 1),
    }
    return _LOOP.run_until_complete(_answered(scope, body, options))


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith("/toolglot/page/")  # the page's files contain no data


async def _answered(scope: dict[str, Any], body: bytes, options: Options) -> tuple[Hashable, ...]:
    from fuzz.targets import law  # noqa: PLC0415  (it imports this module)

    app, upstream = _app()
    upstream.kind = options.get("upstream", "plain")
    _ERRORS.found.clear()
    sent: list[dict[str, Any]] = []
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if left:
            return left.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    law(len(starts) == 1 and sent[0] is starts[0], "not one response", sent[:3])
    law(not sent[-1].get("more_body"), "the response has no end", sent[-1])
    status, written = starts[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])
    law(not _ERRORS.found or status != 500, "an internal error", *(record.exc_text or record for record in _ERRORS.found))
    law(200 <= status < 600 and status != 500, "an internal error", status, written)
    law(app.gateway.gate.running == 0, "a slot stays taken")
    path = scope["path"].rstrip("/") or "/"
    if options["key"] in ("none", "wrong") and b"key=fuzz" not in scope["query_string"] and not _is_open(path):
        keys = {b"x-goog-api-key"} & dict(scope["headers"]).keys()
        law(status in (204, 401, 404, 405) or keys, "in without a key", status, written[:300])
    is_whole = options["upstream"] != "damaged" or status >= 300 or not path.endswith(_PASSED)
    kind = dict(starts[0]["headers"]).get(b"content-type")
    if kind == b"application/json" and written and scope["method"] != "HEAD" and is_whole:
        json.loads(written)
    place = path[:12] if status not in (404, 405) else ""  # of unknown paths there is no end
    return (scope["method"] if place else "", place, status, options["upstream"], len(written) > 0)
