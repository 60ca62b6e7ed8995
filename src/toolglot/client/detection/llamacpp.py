"""llama.cpp: GET /props describes the loaded model (template, capabilities, window), GET /v1/models how large it is."""

from __future__ import annotations

from typing import Any

from toolglot.client.detection.server_facts import ServerFacts, evidence, fields, rows, template, tokens, truth

PROPS, MODELS = "GET /props", "GET /v1/models"


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
        names=evidence(model_path=props.get("model_path")),
    )


def read_models(body: Any, model: str) -> ServerFacts | None:
    """`meta` is read from the loaded file. A server with one model shows it under each of its names."""
    listed = rows(fields(body).get("data"))
    named = [row for row in listed if row.get("id") == model or model in (row.get("aliases") or ())]
    row = (named or (listed if len(listed) == 1 else [{}]))[0]
    count = tokens(fields(row.get("meta")).get("n_params"))
    return ServerFacts(MODELS, parameters=round(count / 1e9, 3)) if count else None
