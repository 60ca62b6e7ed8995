"""llama.cpp: GET /props describes the loaded model: template, capabilities, context window."""

from __future__ import annotations

from typing import Any

from toolglot.client.detection.server_facts import ServerFacts, fields, name, template, tokens, truth

PROPS = "GET /props"


def read_props(body: Any, model: str) -> ServerFacts | None:
    props = fields(body)
    if not ({"chat_template", "default_generation_settings", "chat_template_caps"} & props.keys()):
        return None
    caps = fields(props.get("chat_template_caps"))
    return ServerFacts(
        PROPS,
        tools=truth(caps.get("supports_tools")),
        parallel=truth(caps.get("supports_parallel_tool_calls")),
        vision=truth(fields(props.get("modalities")).get("vision")),
        context_length=tokens(fields(props.get("default_generation_settings")).get("n_ctx")),
        # a separate template for requests with tools takes precedence
        template=template(props.get("chat_template_tool_use")) or template(props.get("chat_template")),
        refuses=("system",) if caps.get("supports_system_role") is False else (),
        runs=name(props.get("model_path")),
    )
