"""A chat server that refuses what a real one refuses: it runs the model's real chat template, as vLLM does.

vLLM answers 400 with the template's own message, for images to a model without vision, and for more tokens than its window has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, streamed, whole

# What Mistral's API accepts, from its SDK mistralai 3.7.0 (`ChatCompletionRequest` and its parts); it rejects all other fields.
_REQUEST = """frequency_penalty guardrails logprobs max_tokens messages metadata min_tokens model n parallel_tool_calls
prediction presence_penalty prompt_cache_key prompt_logprobs prompt_mode random_seed reasoning_effort repetition_penalty
response_format safe_prompt service_tier stop stream temperature tool_choice tools top_k top_logprobs top_p
top_prompt_logprobs"""
FIELDS: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "request": _REQUEST,
        "system": "content role",
        "user": "content role",
        "assistant": "content prefix role tool_calls",
        "tool": "content name role tool_call_id",
        "call": "function id index type",
        "call function": "arguments name",
        "tool definition": "function type",
        "function": "description name parameters strict",
        "text": "text type",
        "image_url": "image_url type",
    }.items()
}
TEMPLATES = Path(__file__).parents[1] / "fixtures" / "templates"


class Refused(Exception):  # noqa: N818
    pass


class UnknownField(Refused): ...


def _raise(message: str) -> None:
    raise Refused(message)


def _tojson(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _environment() -> jinja2.Environment:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals |= {"raise_exception": _raise, "strftime_now": lambda _: "2026-11-18"}
    return environment


def render(template: str, body: dict[str, Any], *, lists: bool = True) -> str:
    """The prompt of a Chat request. `lists`: the template takes content as a list of parts; else it gets a string."""
    messages = [_message(message, lists=lists) for message in body["messages"]]
    compiled = _environment().from_string(template)
    return compiled.render(
        messages=messages, tools=body.get("tools"), add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
    )


def _check_fields(body: dict[str, Any], known: dict[str, frozenset[str]]) -> None:
    """Raises for the first field that the server does not know."""
    objects = [("request", body)]
    for tool in body.get("tools") or ():
        objects += [("tool definition", tool), ("function", tool["function"])]
    for message in body["messages"]:
        objects.append((message["role"], message))
        objects += [(part["type"], part) for part in message["content"] or () if isinstance(part, dict)]
        for call in message.get("tool_calls") or ():
            objects += [("call", call), ("call function", call["function"])]
    for kind, found in objects:
        if kind not in known or (unknown := found.keys() - known[kind]):
            raise UnknownField(kind if kind not in known else min(unknown))


def _message(message: dict[str, Any], *, lists: bool) -> dict[str, Any]:
    """As a server gives it to the template: arguments as an object, and text as one string where the template needs that."""
    out = dict(message)
    if out.get("tool_calls"):
        out["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
            for call in out["tool_calls"]
        ]
    content = out["content"] = out.get("content") or ""
    if isinstance(content, list) and not lists:
        out["content"] = "\n".join(part["text"] for part in content if part["type"] == "text")
    return out


@dataclass
class StrictServer:
    """`play` for `upstream_server`. `prompts`: what each accepted request became."""

    template: str
    window: int = 1 << 20
    vision: bool = True
    lists: bool = True
    known: dict[str, frozenset[str]] | None = None  # the fields of each kind of object; others are refused
    call: dict[str, Any] | None = None  # the first answer, where the request has tools; natively, or else as text
    reply: dict[str, Any] = field(default_factory=lambda: {"role": "assistant", "content": "Fine."})
    prompts: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, **options: Any) -> StrictServer:
        return cls((TEMPLATES / f"{name}.jinja").read_text(), **options)

    def play(self, request: UpstreamRequest) -> UpstreamResponse:
        try:
            prompt = self._prompt(request.body)
        except Refused as refused:
            self.refused.append(str(refused))
            if self.known is not None and isinstance(refused, UnknownField):
                detail = [{"type": "extra_forbidden", "loc": ["body", str(refused)], "msg": "Extra inputs are not permitted"}]
                return whole({"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}, 422)
            return whole({"error": {"message": str(refused), "type": "BadRequestError", "param": None, "code": 400}}, 400)
        self.prompts.append(prompt)
        return self._answer(request)

    def _prompt(self, body: dict[str, Any]) -> str:
        parts = [
            part for message in body["messages"] if isinstance(message.get("content"), list) for part in message["content"]
        ]
        if not self.vision and any(part["type"] == "image_url" for part in parts):
            raise Refused("/models/phi-3-mini is not a multimodal model")
        if self.known is not None:
            _check_fields(body, self.known)
        prompt = render(self.template, body, lists=self.lists)
        used, asked = len(prompt) // 4, body.get("max_tokens") or 0
        if used + asked > self.window:
            raise Refused(
                f"'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum context length is "
                f"{self.window} tokens and your request has {used} input tokens ({asked} > {self.window} - {used})."
            )
        return prompt

    def _reply(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.call is None or any(one["role"] == "tool" or "Result of" in str(one) for one in body["messages"]):
            return self.reply
        if body.get("tools"):
            function = {"name": self.call["name"], "arguments": json.dumps(self.call["arguments"])}
            call = {"index": 0, "id": "aB3dE5gH9", "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"role": "assistant", "content": f"<tool_call>\n{json.dumps(self.call)}\n</tool_call>"}

    def _answer(self, request: UpstreamRequest) -> UpstreamResponse:
        reply = self._reply(request.body)
        reason = "tool_calls" if reply.get("tool_calls") else "stop"
        head = {"id": "chatcmpl-1", "created": 1, "model": request.body["model"]}
        if not request.streams:
            choice = {"index": 0, "message": reply, "finish_reason": reason}
            return whole({**head, "object": "chat.completion", "choices": [choice]})
        chunks: list[dict[str, Any]] = [
            {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": reply, "finish_reason": None}]},
            {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return streamed("openai-chat", "".join([*lines, "data: [DONE]\n\n"]).encode())
