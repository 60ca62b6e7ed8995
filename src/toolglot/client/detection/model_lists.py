"""Servers that describe their models in a list: vLLM and SGLang, LM Studio (three versions), OpenRouter (also by endpoint)."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.catalog.model_names import billions
from toolglot.client.detection.server_facts import (
    ServerFacts,
    absent,
    contains,
    evidence,
    fields,
    name,
    rows,
    text,
    tokens,
    truth,
)

MODELS, SGLANG = "GET /v1/models", "GET /get_model_info"
STUDIO_V0, STUDIO_V1 = "GET /api/v0/models", "GET /api/v1/models"
ENDPOINTS = "GET /v1/models/{model}/endpoints"


def _row(listed: list[dict[str, Any]], key: str, model: str) -> dict[str, Any] | None:
    return next((row for row in listed if row.get(key) == model), None)


def _names(listed: list[dict[str, Any]], key: str) -> list[str]:
    return [called for row in listed if (called := name(row.get(key)))]


def read_vllm(body: Any, model: str) -> ServerFacts | None:
    """`root` is the model that runs under the name, `max_model_len` the window. Tool support is not reported.

    An adapter has a `parent`: its facts apply.
    """
    if not isinstance(listed := fields(body).get("data"), list):
        return None
    row = _row(rows(listed), "id", model)
    if row is None:
        return absent(MODELS, model, _names(rows(listed), "id"), "; --served-model-name sets the names that vLLM accepts")
    base = _row(rows(listed), "id", text(row.get("parent"))) or row
    root = base.get("root")
    return ServerFacts(
        MODELS,
        context_length=tokens(base.get("max_model_len")),
        names=evidence(root=None if root == model else root),  # SGLang repeats the name that it serves
    )


def read_sglang(body: Any, model: str) -> ServerFacts | None:
    """Its list only repeats the served name."""
    path = fields(body).get("model_path")
    return ServerFacts(SGLANG, names=evidence(model_path=path)) if path else None


def read_studio_v0(body: Any, model: str) -> ServerFacts | None:
    """LM Studio from 0.3.6 on. Without `capabilities`, tool support is unknown."""
    if not isinstance(listed := fields(body).get("data"), list):
        return None
    row = _row(rows(listed), "id", model)
    if row is None:
        return None  # the newer list also has the names of loaded instances
    loaded, most = tokens(row.get("loaded_context_length")), tokens(row.get("max_context_length"))
    kind = text(row.get("type"))
    vision = {"vlm": True, "llm": False}.get(kind)
    facts = ServerFacts(STUDIO_V0, tools=contains(row.get("capabilities"), "tool_use"), vision=vision)
    return _studio(facts, loaded, most, kind)


def read_studio_v1(body: Any, model: str) -> ServerFacts | None:
    """LM Studio from 0.4 on."""
    if not isinstance(models := fields(body).get("models"), list):
        return None
    listed = rows(models)
    row = _row(listed, "key", model) or next(
        (row for row in listed if _row(rows(row.get("loaded_instances")), "id", model)), None
    )
    if row is None:
        return absent(STUDIO_V1, model, _names(listed, "key"))
    instances = rows(row.get("loaded_instances"))
    running = _row(instances, "id", model) or (instances[0] if instances else {})
    loaded = tokens(fields(running.get("config")).get("context_length"))
    capabilities = fields(row.get("capabilities"))
    tools, vision = truth(capabilities.get("trained_for_tool_use")), truth(capabilities.get("vision"))
    facts = ServerFacts(
        STUDIO_V1,
        tools=tools,
        vision=vision,
        parameters=billions(text(row.get("params_string"))),
        names=evidence(key=row.get("key"), display_name=row.get("display_name")),
    )
    return _studio(facts, loaded, tokens(row.get("max_context_length")), text(row.get("type")))


def _studio(facts: ServerFacts, loaded: int | None, most: int | None, kind: str) -> ServerFacts:
    notes = []
    if loaded is not None and most is not None and loaded < most:
        notes.append(f"context: it is loaded with {loaded} of {most} tokens; load it with more if prompts are cut")
    if kind.startswith("embedding"):
        notes.append("this is an embedding model, not a chat model")
    return msgspec.structs.replace(facts, context_length=loaded or most, notes=tuple(notes))


def read_plain(body: Any, model: str) -> ServerFacts | None:
    """A plain OpenAI list: it only shows whether the model exists."""
    if not isinstance(listed := fields(body).get("data"), list):
        return None
    known = _names(rows(listed), "id")
    return ServerFacts(MODELS) if model in known else absent(MODELS, model, known)


def read_openrouter(body: Any, model: str) -> ServerFacts | None:
    """What any endpoint of the model supports; OpenRouter sends a request with tools only to those that support them."""
    if not isinstance(listed := fields(body).get("data"), list):
        return None
    row = _row(rows(listed), "id", model) or _row(rows(listed), "canonical_slug", model)
    if row is None:
        return absent(MODELS, model, _names(rows(listed), "id"))
    return ServerFacts(
        MODELS,
        tools=contains(row.get("supported_parameters"), "tools"),
        vision=_sees(row),
        context_length=tokens(row.get("context_length")),
        names=evidence(hugging_face_id=row.get("hugging_face_id"), canonical_slug=row.get("canonical_slug")),
        notes=_lacking(row.get("supported_parameters")),
    )


def read_endpoints(body: Any, model: str) -> ServerFacts | None:
    """The same by endpoint: tools if one supports them, and the largest window, because OpenRouter routes by length too."""
    endpoints = rows(fields(fields(body).get("data")).get("endpoints"))
    described = [row for row in endpoints if isinstance(row.get("supported_parameters"), list)]
    if not described:
        return None
    with_tools = [row for row in described if "tools" in row["supported_parameters"]]
    lengths = [length for row in with_tools or described if (length := tokens(row.get("context_length"))) is not None]
    every = sorted({word for row in with_tools or described for word in row["supported_parameters"] if isinstance(word, str)})
    notes = _lacking(every)
    if with_tools and len(with_tools) < len(described):
        providers = ", ".join(_names(with_tools, "provider_name")[:5])
        notes = (f"tools: {len(with_tools)} of its {len(described)} endpoints support them ({providers})", *notes)
    vision = _sees(fields(fields(body).get("data")))
    return ServerFacts(ENDPOINTS, tools=bool(with_tools), vision=vision, context_length=max(lengths, default=None), notes=notes)


def _sees(row: dict[str, Any]) -> bool | None:
    return contains(fields(row.get("architecture")).get("input_modalities"), "image")


# parameters that a model with tools may lack, and what follows
_OPTIONAL = {
    "tool_choice": "tool_choice: not supported, so a native call can't be forced",
    "structured_outputs": "schemas: structured outputs are not supported, so constrained mode can't be used",
}


def _lacking(supported: Any) -> tuple[str, ...]:
    if not isinstance(supported, list) or "tools" not in supported:
        return ()
    return tuple(note for word, note in _OPTIONAL.items() if word not in supported)
