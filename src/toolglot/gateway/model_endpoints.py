"""Model lists and single models, in the format of each frontend."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from toolglot.core.interfaces import ServedModels
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.endpoint_call import EndpointCall, read_body
from toolglot.gateway.frontends import Frontend
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.model_list import Model
from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.wires.openai_common import SERVED_MODELS as OPENAI_MODELS

OLLAMA_VERSION = "0.13.5"  # clients require at least 0.13.4
_CREATED = datetime(2025, 1, 1, tzinfo=UTC)


async def list_models(call: EndpointCall) -> None:
    served = _served(call.frontend)
    page = _page(await call.live.model_list.models(), call.exchange, *served.query)
    rows = [served.write(model.name, model.upstream, _CREATED) for model in page.models]
    await call.exchange.json(served.page(rows, page.more))


async def show_model(call: EndpointCall) -> None:
    """One model, including those that only match a glob: some clients check a model before they use it."""
    name = call.path_params["model"]
    owner = call.live.routing.candidates(name)[0].upstream.name
    await call.exchange.json(_served(call.frontend).write(name, owner, _CREATED))


def _served(frontend: Frontend) -> ServedModels:
    return frontend.server.models or OPENAI_MODELS


# -- pages of a list


class _Page(msgspec.Struct, frozen=True):
    models: Sequence[Model]
    more: bool = False  # in the requested direction


def _page(models: list[Model], exchange: HttpExchange, size: str, after: str, before: str) -> _Page:
    """`size`, `after`, `before`: query parameters. Without a size, all models: not every client reads further pages."""
    begin, end = 0, len(models)
    if after and exchange.query_value(after):
        begin = _index(models, exchange.query_value(after), after) + 1
    elif before and exchange.query_value(before):
        end = _index(models, exchange.query_value(before), before)
        first = max(0, end - _size(exchange, size, end))
        return _Page(models[first:end], first > 0)
    last = min(end, begin + _size(exchange, size, end))
    return _Page(models[begin:last], last < end)


def _size(exchange: HttpExchange, key: str, default: int) -> int:
    value = exchange.query_value(key) if key else ""
    if value in ("", "0"):  # Google's API treats 0 as not set
        return default
    if not (value.isascii() and value.isdecimal()) or len(value) > 9:
        raise CallerError("must be a positive integer", key)
    return int(value)


def _index(models: list[Model], name: str, key: str) -> int:
    index = next((at for at, model in enumerate(models) if model.name == name), None)
    if index is None:
        raise CallerError(f"unknown model {name[:200]!r}", key)
    return index


# -- Ollama


async def ollama_tags(call: EndpointCall) -> None:
    await call.exchange.json({"models": [_tag(model) for model in await call.live.model_list.models()]})


async def ollama_ps(call: EndpointCall) -> None:
    """Every model counts as loaded: where it runs is the upstream's business."""
    running = {"expires_at": datetime(9999, 1, 1, tzinfo=UTC).isoformat().replace("+00:00", "Z"), "size_vram": 0}
    await call.exchange.json({"models": [{**_tag(model), **running} for model in await call.live.model_list.models()]})


def _tag(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _CREATED.isoformat().replace("+00:00", "Z"),
        "size": 0,
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),  # unique: clients distinguish models by it
        "details": _details(model.name),
    }


def _details(name: str) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": name,
        "families": [name],
        "parameter_size": "",
        "quantization_level": "",
    }


async def ollama_show(call: EndpointCall) -> None:
    try:
        body = decode(await read_body(call))
    except JSON_ERRORS as error:
        raise CallerError(f"the body is not JSON: {error}") from None
    name = (body.get("model") or body.get("name")) if isinstance(body, dict) else None
    if not isinstance(name, str) or not name:
        raise CallerError("is missing", "model")
    try:
        candidate = call.live.routing.candidates(name)[0]
    except UpstreamError as error:
        raise UpstreamError(f"model {name[:200]!r} not found", 404, error.code) from None
    profile = candidate.target.route.profile
    thinking = ["thinking"] if profile.reasoning is not None else []
    info: dict[str, Any] = {"general.architecture": profile.family, "general.basename": name}
    if profile.context_length is not None:
        info[f"{profile.family}.context_length"] = profile.context_length
    await call.exchange.json(
        {
            "license": "",
            "modelfile": "",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "renderer": "toolglot",  # so that nobody takes the template for what renders tools and history: another gateway
            "parser": "toolglot",
            "details": _details(name),
            "model_info": info,
            "capabilities": ["completion", "tools", *(["vision"] if profile.vision else []), *thinking],
            "modified_at": _CREATED.isoformat().replace("+00:00", "Z"),
        }
    )


async def ollama_version(call: EndpointCall) -> None:
    await call.exchange.json({"version": OLLAMA_VERSION})
