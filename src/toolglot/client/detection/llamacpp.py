"""llama.cpp: GET /props tells of the model that it runs, in template, abilities and window."""

from __future__ import annotations

from typing import Any

from toolglot.client.detection.told import Told, fields, name, template, tokens, truth

PROPS = "GET /props"


def read_props(said: Any, model: str) -> Told | None:
    held = fields(said)
    if not ({"chat_template", "default_generation_settings", "chat_template_caps"} & held.keys()):
        return None
    caps = fields(held.get("chat_template_caps"))
    # where a model has a template of its own for tools, that one counts when there are any
    shown = template(held.get("chat_template_tool_use")) or template(held.get("chat_template"))
    return Told(
        PROPS,
        tools=truth(caps.get("supports_tools")),
        parallel=truth(caps.get("supports_parallel_tool_calls")),
        context_length=tokens(fields(held.get("default_generation_settings")).get("n_ctx")),
        template=shown,
        refuses=("system",) if caps.get("supports_system_role") is False else (),
        runs=name(held.get("model_path")),
    )
