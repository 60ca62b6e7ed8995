"""The provider `local`: a model in this process, used like any other.

llama.cpp's server runs in the process and serves HTTP on loopback, through the same transport as every other server: streams,
errors, /props, /tokenize, /apply-template. Here a model's name is resolved to a file, the weights are downloaded if needed,
and the model is loaded on first use.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from toolglot.client import embedded_runtime, weights
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.errors import CallerError

SCHEME = "local"
TOO_LONG = "exceed_context_size_error"
_LISTS = frozenset({("GET", "/v1/models"), ("GET", "/models")})
_NOT_PASSED_ON = frozenset({"authorization", "x-api-key", "host"})
_LIMITS = Limits()


class Embedded:
    """`local:/v1/...`: `model` in the body or the query is `local`, known weights, or a .gguf file (absolute, relative, ~)."""

    def __init__(self, http: Transport, progress: weights.Progress | None = weights.on_stderr) -> None:
        self._http = http
        self._progress = progress
        self._located: dict[str, tuple[str, Path]] = {}  # of known names: each lookup reads files

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        parts = urlsplit(url)
        if parts.scheme != SCHEME:
            raise CallerError(f"{parts.scheme}: is not supported by the embedded model, only {SCHEME}:", "url")
        if (method, parts.path) in _LISTS:
            return Ready(await asyncio.to_thread(_listing))
        requested = _model_in(body) or "".join(parse_qs(parts.query).get("model", [])) or weights.LOCAL
        model = await self._running(requested)
        passed = {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED_ON}
        passed["authorization"] = f"Bearer {model.key}"
        answer = await self._http.send(method, model.address + parts.path, passed, body, limits=limits)
        return await _explained(answer, requested) if answer.status == HTTPStatus.BAD_REQUEST else answer

    async def aclose(self) -> None:
        """Closes the connections. Models stay loaded until the process ends: other clients may use them."""
        await self._http.aclose()

    async def _running(self, model: str) -> embedded_runtime.Running:
        found = self._located.get(model)
        if found is None:
            found = await asyncio.to_thread(locate, model, self._progress)
        if model in embedded_names():
            self._located[model] = found
        name, path = found
        return await asyncio.wrap_future(embedded_runtime.running(path, name))


class Ready:
    """A response that is already complete."""

    def __init__(self, body: bytes, status: int = HTTPStatus.OK) -> None:
        self.status = int(status)
        self.headers: Mapping[str, str] = {"content-type": "application/json", "content-length": str(len(body))}
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def read(self) -> bytes:
        return self._body

    async def aclose(self) -> None:
        return

    def release(self) -> None:
        return


def embedded_names() -> tuple[str, ...]:
    """Our small models by name, `local` first; a .gguf file is named by its path."""
    return (weights.LOCAL, *weights.ROWS)


def demo_note(model: str) -> str:
    """The note that is shown once for one of our small models; empty for any other. `model` is "provider/model" or `local`."""
    provider, _, name = model.partition("/")
    if provider != SCHEME or (name or provider) not in embedded_names():
        return ""
    return f"note: {model} is a small demo model, expect mistakes; choose another with -m provider/model"


def locate(model: str, progress: weights.Progress | None = weights.on_stderr) -> tuple[str, Path]:
    """The model and the file for a name after `local/`; downloaded if needed."""
    if model in embedded_names():
        embedded_runtime.import_runtime()  # fail before a large download that is useless without it
        name = weights.best(progress) if model == weights.LOCAL else model
        return name, weights.find_or_fetch(name, progress).resolve()
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
        raise CallerError(f"{path} is not a GGUF file", "model")
    return model, path


async def _explained(answer: Answer, model: str) -> Answer:
    """Where the prompt is longer than the context window, the message names the setting for it."""
    try:
        body = await answer.read()
    finally:
        await answer.aclose()
    try:
        parsed = msgspec.json.decode(body, type=_ErrorBody)
    except msgspec.DecodeError:
        return Ready(body, answer.status)
    error = parsed.error
    if error.get("type") == TOO_LONG:
        error["message"] = (
            f"the prompt has {error.get('n_prompt_tokens')} tokens, the context window of {model} {error.get('n_ctx')}: "
            "set TOOLGLOT_LOCAL_CTX to more, if the model and the memory allow it, or send fewer messages and tools"
        )
        body = msgspec.json.encode(parsed)
    return Ready(body, answer.status)


class _ErrorBody(msgspec.Struct):
    error: dict[str, Any]


class _ModelName(msgspec.Struct):
    model: str = ""


def _model_in(body: bytes) -> str:
    if not body:
        return ""
    try:
        return msgspec.json.decode(body, type=_ModelName).model
    except msgspec.DecodeError as error:
        raise CallerError(f"not a JSON object with a model's name: {error}", "body") from error


def _listing() -> bytes:
    """The available models in the shape of GET /v1/models: known weights, downloaded or not, and loaded files."""
    here = {name: weights.find(name) for name in weights.ROWS}
    named = {path.resolve() for path in here.values() if path is not None}
    rows: list[dict[str, object]] = [
        {
            **_entry(name),
            "meta": {
                "description": row.description,
                "size": row.size,
                "licence": row.licence,
                "here": here[name] is not None,
            },
        }
        for name, row in weights.ROWS.items()
    ]
    rows += [_entry(str(path)) for path in embedded_runtime.loaded() if path not in named]
    return msgspec.json.encode({"object": "list", "data": rows})


def _entry(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "toolglot"}
