"""Ollama: POST /api/show describes one model, GET /api/tags lists all."""

from __future__ import annotations

import re
from typing import Any

from toolglot.client.detection.server_facts import (
    ServerFacts,
    absent,
    contains,
    evidence,
    fields,
    name,
    rows,
    template,
    text,
    tokens,
)

SHOW, TAGS = "POST /api/show", "GET /api/tags"

_NUM_CTX = re.compile(r"^num_ctx[ \t]+(\d{1,12})\s*$", re.MULTILINE)
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMBT])", re.IGNORECASE)
_BILLIONS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}
# values of template_source where something else than the template renders the prompt
_TEMPLATE_UNUSED = frozenset({"renderer_parser", "renderer", "parser", "harmony", "none"})

_GATEWAY = "toolglot"  # a gateway of ours: it offers tools to each model in its own way


def read_show(body: Any, model: str) -> ServerFacts | None:
    """The template is ignored where Ollama uses a built-in renderer or parser instead of it."""
    shown = fields(body)
    if not ({"capabilities", "template", "model_info", "details"} & shown.keys()):
        return None
    info = fields(shown.get("model_info"))
    details = fields(shown.get("details"))
    length = tokens(info.get(f"{text(info.get('general.architecture'))}.context_length"))
    tools, described = contains(shown.get("capabilities"), "tools"), template(shown.get("template"))
    # Ollama derives the capability from the template, or from what renders the prompt instead of it
    contradicts = tools is True and described is not None and not described.takes_tools
    unused = contradicts or shown.get("renderer") or shown.get("parser") or shown.get("template_source") in _TEMPLATE_UNUSED
    return ServerFacts(
        SHOW,
        tools=tools,
        vision=contains(shown.get("capabilities"), "vision"),
        ask="native" if shown.get("renderer") == _GATEWAY else None,
        context_length=length,
        parameters=_billions(info.get("general.parameter_count"), details.get("parameter_size")),
        template=None if unused else described,
        names=evidence(
            parent_model=details.get("parent_model"),
            **{
                "general.basename": _basename(info),
                "general.name": info.get("general.name"),
                "renderer": shown.get("renderer"),
            },
        ),
        notes=_window(text(shown.get("parameters")), length),
    )


def _billions(count: Any, size: Any) -> float | None:
    if (whole := tokens(count)) is not None:
        return round(whole / 1e9, 3)
    found = _SIZE.fullmatch(text(size).strip())
    return float(found[1]) * _BILLIONS[found[2].upper()] if found else None


def _basename(info: dict[str, Any]) -> str:
    parts = (name(info.get(f"general.{key}")) for key in ("basename", "size_label"))
    return "-".join(part for part in parts if part) if info.get("general.basename") else ""


def _window(parameters: str, length: int | None) -> tuple[str, ...]:
    """A note where the model file sets a smaller window than the model has; a request can ask for more."""
    found = _NUM_CTX.search(parameters)
    window = tokens(int(found[1])) if found else None
    if window is None or (length is not None and window >= length):
        return ()
    of = f" of {length}" if length is not None else ""
    return (
        f"context: its model file sets num_ctx to {window}{of} tokens; longer prompts are cut unless the request asks for more",
    )


def read_tags(body: Any, model: str) -> ServerFacts | None:
    """Queried where /api/show does not know the model."""
    shown = fields(body)
    if not isinstance(shown.get("models"), list):
        return None
    known = [called for row in rows(shown["models"]) if (called := name(row.get("name") or row.get("model")))]
    if model in known or f"{model}:latest" in known:
        return ServerFacts(TAGS)
    return absent(TAGS, model, known, f"; get it with `ollama pull {model}`")
