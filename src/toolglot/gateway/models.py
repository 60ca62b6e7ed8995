"""Lists of models, and single ones, in the shape of each front end."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.converse import Call, read_body
from toolglot.gateway.exchange import Exchange
from toolglot.gateway.listing import Model
from toolglot.gateway.paging import page_of
from toolglot.text.json_text import BadJson, decode

OLLAMA_VERSION = "0.13.5"  # clients ask for at least 0.13.4
_SINCE = datetime(2025, 1, 1, tzinfo=UTC)
METHODS = ["generateContent", "streamGenerateContent", "countTokens"]


async def list_models(call: Call) -> None:
    models = await call.live.listing.models()
    await call.exchange.json(_LISTS.get(call.front.wire.name, _openai_list)(models, call.exchange))


async def show_model(call: Call) -> None:
    """One model; also one that only a glob leads to, for a client may ask before it uses it."""
    name = call.told["model"]
    call.live.routing.targets(name)
    one = Model(name, call.live.routing.targets(name)[0].upstream.name)
    await call.exchange.json(_ONE.get(call.front.wire.name, _openai)(one))


def _openai(model: Model) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": int(_SINCE.timestamp()), "owned_by": model.upstream}


def _openai_list(models: list[Model], _: Exchange) -> dict[str, Any]:
    return {"object": "list", "data": [_openai(model) for model in models]}


def _anthropic(model: Model) -> dict[str, Any]:
    created = _SINCE.isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": model.name, "display_name": model.name, "created_at": created}


def _anthropic_list(models: list[Model], exchange: Exchange) -> dict[str, Any]:
    page = page_of(models, exchange, "limit", "after_id", "before_id")
    data = [_anthropic(model) for model in page.models]
    ends = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"data": data, "has_more": page.more, "first_id": ends[0], "last_id": ends[1]}


def _gemini(model: Model) -> dict[str, Any]:
    return {
        "name": f"models/{model.name}",
        "baseModelId": model.name,
        "version": "1",
        "displayName": model.name,
        "supportedGenerationMethods": METHODS,
    }


def _gemini_list(models: list[Model], exchange: Exchange) -> dict[str, Any]:
    page = page_of(models, exchange, "pageSize", "pageToken")
    held: dict[str, Any] = {"models": [_gemini(model) for model in page.models]}
    if page.more:
        held["nextPageToken"] = page.models[-1].name
    return held


_LISTS = {"anthropic": _anthropic_list, "gemini": _gemini_list}
_ONE = {"anthropic": _anthropic, "gemini": _gemini}


# -- Ollama


async def ollama_tags(call: Call) -> None:
    await call.exchange.json({"models": [_tag(model) for model in await call.live.listing.models()]})


def _tag(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _SINCE.isoformat().replace("+00:00", "Z"),
        "size": 0,
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),  # its own for each: clients tell models apart by it
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


async def ollama_show(call: Call) -> None:
    try:
        held = decode(await read_body(call))
    except BadJson as error:
        raise CallerError(f"the body is not JSON: {error}") from None
    name = (held.get("model") or held.get("name")) if isinstance(held, dict) else None
    if not isinstance(name, str) or not name:
        raise CallerError("names the model to be shown", "model")
    try:
        target = call.live.routing.targets(name)[0]
    except UpstreamError as error:
        raise UpstreamError(f"model {name[:200]!r} not found", 404, error.code) from None
    known = target.route.profile
    info: dict[str, Any] = {"general.architecture": known.family, "general.basename": name}
    if known.context_length is not None:
        info[f"{known.family}.context_length"] = known.context_length
    await call.exchange.json(
        {
            "license": "",
            "modelfile": "",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "details": _details(name),
            "model_info": info,
            "capabilities": ["completion", "tools"],
            "modified_at": _SINCE.isoformat().replace("+00:00", "Z"),
        }
    )


async def ollama_version(call: Call) -> None:
    await call.exchange.json({"version": OLLAMA_VERSION})
