"""Ollama: POST /api/show tells of one model, GET /api/tags which there are."""

from __future__ import annotations

import re
from typing import Any

from toolglot.client.detection.told import Told, absent, fields, holds, name, rows, template, text, tokens

SHOW, TAGS = "POST /api/show", "GET /api/tags"

_NUM_CTX = re.compile(r"^num_ctx[ \t]+(\d{1,12})\s*$", re.MULTILINE)
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMBT])", re.IGNORECASE)
_BILLIONS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}
# what forms the prompt instead of the template, where that is said
_OTHERWISE = frozenset({"renderer_parser", "renderer", "parser", "harmony", "none"})


def read_show(said: Any, model: str) -> Told | None:
    """A model that has a renderer or parser of Ollama's own keeps a template that is not used: it tells nothing."""
    held = fields(said)
    if not ({"capabilities", "template", "model_info", "details"} & held.keys()):
        return None
    info = fields(held.get("model_info"))
    details = fields(held.get("details"))
    length = tokens(info.get(f"{text(info.get('general.architecture'))}.context_length"))
    unused = held.get("renderer") or held.get("parser") or held.get("template_source") in _OTHERWISE
    return Told(
        SHOW,
        tools=holds(held.get("capabilities"), "tools"),
        context_length=length,
        parameters=_billions(info.get("general.parameter_count"), details.get("parameter_size")),
        template="" if unused else template(held.get("template")),
        made_of=_made_of(info, details),
        notes=_window(text(held.get("parameters")), length),
    )


def _billions(count: Any, size: Any) -> float | None:
    if (whole := tokens(count)) is not None:
        return round(whole / 1e9, 3)
    found = _SIZE.fullmatch(text(size).strip())
    return float(found[1]) * _BILLIONS[found[2].upper()] if found else None


def _made_of(info: dict[str, Any], details: dict[str, Any]) -> str:
    parent = name(details.get("parent_model"))
    if parent and not parent.startswith("/"):  # a path is a blob, whose name says nothing
        return parent
    return "-".join(part for key in ("basename", "size_label") if (part := name(info.get(f"general.{key}"))))


def _window(parameters: str, length: int | None) -> tuple[str, ...]:
    """The window that the model file sets; a larger one can be asked for in each request."""
    found = _NUM_CTX.search(parameters)
    window = tokens(int(found[1])) if found else None
    if window is None or (length is not None and window >= length):
        return ()
    of = f" of {length}" if length is not None else ""
    return (f"context: its model file sets num_ctx to {window}{of} tokens; longer prompts are cut unless more is asked for",)


def read_tags(said: Any, model: str) -> Told | None:
    """Asked where /api/show did not know the model."""
    held = fields(said)
    if not isinstance(held.get("models"), list):
        return None
    known = [called for row in rows(held["models"]) if (called := name(row.get("name") or row.get("model")))]
    if model in known or f"{model}:latest" in known:
        return Told(TAGS)
    return absent(TAGS, model, known, f"; get it with `ollama pull {model}`")
