"""Servers that tell of their models in a list: vLLM, LM Studio (three lists, by its age), OpenRouter (and of each endpoint)."""

from __future__ import annotations

from typing import Any

from toolglot.client.detection.told import Told, absent, fields, holds, name, rows, text, tokens, truth

MODELS = "GET /v1/models"
STUDIO_V0, STUDIO_V1 = "GET /api/v0/models", "GET /api/v1/models"
ENDPOINTS = "GET /v1/models/{model}/endpoints"


def _row(listed: list[dict[str, Any]], key: str, model: str) -> dict[str, Any] | None:
    return next((row for row in listed if row.get(key) == model), None)


def _names(listed: list[dict[str, Any]], key: str) -> list[str]:
    return [called for row in listed if (called := name(row.get(key)))]


def read_vllm(said: Any, model: str) -> Told | None:
    """`root` is what runs under the name, `max_model_len` the window. Whether tools are on it does not say.

    An adapter has a `parent`, and what is to be known is the parent's.
    """
    if not isinstance(listed := fields(said).get("data"), list):
        return None
    row = _row(rows(listed), "id", model)
    if row is None:
        return absent(MODELS, model, _names(rows(listed), "id"), "; --served-model-name sets the names that vLLM answers to")
    base = _row(rows(listed), "id", text(row.get("parent"))) or row
    return Told(MODELS, context_length=tokens(base.get("max_model_len")), runs=name(base.get("root")))


def read_studio_v0(said: Any, model: str) -> Told | None:
    """LM Studio from 0.3.6 on. A model without `capabilities` may take tools or not: it does not say."""
    if not isinstance(listed := fields(said).get("data"), list):
        return None
    row = _row(rows(listed), "id", model)
    if row is None:
        return absent(STUDIO_V0, model, _names(rows(listed), "id"))
    loaded, most = tokens(row.get("loaded_context_length")), tokens(row.get("max_context_length"))
    return _studio(STUDIO_V0, loaded, most, holds(row.get("capabilities"), "tool_use"), text(row.get("type")))


def read_studio_v1(said: Any, model: str) -> Told | None:
    """LM Studio from 0.4 on."""
    if not isinstance(held := fields(said).get("models"), list):
        return None
    listed = rows(held)
    row = _row(listed, "key", model) or next(
        (row for row in listed if _row(rows(row.get("loaded_instances")), "id", model)), None
    )
    if row is None:
        return absent(STUDIO_V1, model, _names(listed, "key"))
    instances = rows(row.get("loaded_instances"))
    running = _row(instances, "id", model) or (instances[0] if instances else {})
    loaded = tokens(fields(running.get("config")).get("context_length"))
    tools = truth(fields(row.get("capabilities")).get("trained_for_tool_use"))
    return _studio(STUDIO_V1, loaded, tokens(row.get("max_context_length")), tools, text(row.get("type")))


def _studio(asked: str, loaded: int | None, most: int | None, tools: bool | None, kind: str) -> Told:
    notes = []
    if loaded is not None and most is not None and loaded < most:
        notes.append(f"context: it is loaded with {loaded} of {most} tokens; load it with more if prompts are cut")
    if kind.startswith("embedding"):
        notes.append("it is a model for embeddings, not for chats")
    return Told(asked, tools=tools, context_length=loaded or most, notes=tuple(notes))


def read_plain(said: Any, model: str) -> Told | None:
    """An OpenAI list without more: only whether the model is there."""
    if not isinstance(listed := fields(said).get("data"), list):
        return None
    known = _names(rows(listed), "id")
    return Told(MODELS) if model in known else absent(MODELS, model, known)


def read_openrouter(said: Any, model: str) -> Told | None:
    """What any endpoint of the model takes; OpenRouter sends a request with tools only to those that take them."""
    if not isinstance(listed := fields(said).get("data"), list):
        return None
    row = _row(rows(listed), "id", model) or _row(rows(listed), "canonical_slug", model)
    if row is None:
        return absent(MODELS, model, _names(rows(listed), "id"))
    return Told(
        MODELS,
        tools=holds(row.get("supported_parameters"), "tools"),
        context_length=tokens(row.get("context_length")),
        notes=_lacking(row.get("supported_parameters")),
    )


def read_endpoints(said: Any, model: str) -> Told | None:
    """The same by endpoint: tools if one takes them; of the windows the largest, for it routes by length as well."""
    endpoints = rows(fields(fields(said).get("data")).get("endpoints"))
    taken = [row for row in endpoints if isinstance(row.get("supported_parameters"), list)]
    if not taken:
        return None
    with_tools = [row for row in taken if "tools" in row["supported_parameters"]]
    lengths = [length for row in with_tools or taken if (length := tokens(row.get("context_length"))) is not None]
    every = sorted({word for row in with_tools or taken for word in row["supported_parameters"] if isinstance(word, str)})
    notes = _lacking(every)
    if with_tools and len(with_tools) < len(taken):
        who = ", ".join(_names(with_tools, "provider_name")[:5])
        notes = (f"tools: {len(with_tools)} of its {len(taken)} endpoints take them ({who})", *notes)
    return Told(ENDPOINTS, tools=bool(with_tools), context_length=max(lengths, default=None), notes=notes)


# what a model with tools may lack, and what follows
_WANTED = {
    "tool_choice": "tool_choice: it is not taken, so a call can't be forced natively",
    "structured_outputs": "schemas: structured outputs are not taken, so it can't be asked under a schema",
}


def _lacking(supported: Any) -> tuple[str, ...]:
    if not isinstance(supported, list) or "tools" not in supported:
        return ()
    return tuple(note for word, note in _WANTED.items() if word not in supported)
