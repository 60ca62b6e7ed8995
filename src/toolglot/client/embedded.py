"""The provider `local`: a model in this process, asked as any other.

llama.cpp's own server runs in the process and speaks HTTP on loopback, so what it says comes through the same transport as from
every other server, byte for byte: streams, errors, /props, /tokenize, /apply-template. Here its names are resolved, the
weights are brought, and the model is loaded when first asked for.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from toolglot.client import embedded_runtime, weights
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.errors import CallerError

SCHEME = "local"
DEFAULT = "smollm2"
_LISTS = frozenset({("GET", "/v1/models"), ("GET", "/models")})
_NOT_PASSED_ON = frozenset({"authorization", "x-api-key", "host"})
_LIMITS = Limits()


class Embedded:
    """`local:/v1/...`: `model` in the body, or in the query, names known weights or a .gguf file (absolute, relative, ~)."""

    def __init__(self, http: Transport, progress: weights.Progress | None = weights.on_stderr) -> None:
        self._http = http
        self._progress = progress
        self._located: dict[str, Path] = {}  # of known names, for looking them up reads files

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        parts = urlsplit(url)
        if parts.scheme != SCHEME:
            raise CallerError(f"{parts.scheme}: is not carried by the embedded model, only {SCHEME}:", "url")
        if (method, parts.path) in _LISTS:
            return Ready(_listing())
        asked = _model_in(body) or "".join(parse_qs(parts.query).get("model", [])) or DEFAULT
        model = await self._running(asked)
        passed = {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED_ON}
        passed["authorization"] = f"Bearer {model.key}"
        return await self._http.send(method, model.address + parts.path, passed, body, limits=limits)

    async def aclose(self) -> None:
        """The connections. Models stay loaded until the process ends: others may use them."""
        await self._http.aclose()

    async def _running(self, model: str) -> embedded_runtime.Running:
        path = self._located.get(model)
        if path is None:
            path = await asyncio.to_thread(locate, model, self._progress)
        if model in weights.ROWS:
            self._located[model] = path
        return await asyncio.wrap_future(embedded_runtime.running(path, model))


class Ready:
    """An answer that was known at once."""

    status = 200

    def __init__(self, body: bytes) -> None:
        self.headers: Mapping[str, str] = {"content-type": "application/json", "content-length": str(len(body))}
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def read(self) -> bytes:
        return self._body

    async def aclose(self) -> None:
        return


def locate(model: str, progress: weights.Progress | None = weights.on_stderr) -> Path:
    """The file that a name after `local/` stands for; fetched if need be."""
    if model in weights.ROWS:
        return weights.find_or_fetch(model, progress).resolve()
    path = Path(os.path.expanduser(model)).resolve()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        known = ", ".join(weights.ROWS)
        raise CallerError(
            f"{model!r} is neither known ({known}) nor a file that can be read ({error.strerror})", "model"
        ) from error
    if magic != b"GGUF":
        raise CallerError(f"{path} is no GGUF file", "model")
    return path


class _Asked(msgspec.Struct):
    model: str = ""


def _model_in(body: bytes) -> str:
    if not body:
        return ""
    try:
        return msgspec.json.decode(body, type=_Asked).model
    except msgspec.DecodeError as error:
        raise CallerError(f"not a JSON object with a model's name: {error}", "body") from error


def _listing() -> bytes:
    """What can be asked for, in the shape of GET /v1/models: known weights, here or not, and files that are loaded."""
    here = {name: weights.find(name) for name in weights.ROWS}
    named = {path.resolve() for path in here.values() if path is not None}
    rows: list[dict[str, object]] = [
        {**_entry(name), "meta": {"size": row.size, "licence": row.licence, "here": here[name] is not None}}
        for name, row in weights.ROWS.items()
    ]
    rows += [_entry(str(path)) for path in embedded_runtime.loaded() if path not in named]
    return msgspec.json.encode({"object": "list", "data": rows})


def _entry(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "toolglot"}
