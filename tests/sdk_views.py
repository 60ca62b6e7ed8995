"""What the vendors' own SDKs make of a fixture: a reply seen whole, and a stream heard through the SDK's client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import msgspec
import ollama
import openai
from google import genai
from google.genai import types as google
from google.genai._gaos.types.interactions import InteractionSSEEvent
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

Body = dict[str, Any]

ROOT = Path(__file__).parents[1] / "fixtures" / "conversations"


def load(case: str, name: str) -> Body:
    held = json.loads((ROOT / case / name).read_bytes())
    assert isinstance(held, dict)
    return held


def recorded(case: str, wire: str) -> bytes:
    return (ROOT / case / f"{wire}.stream").read_bytes()


# -- what a reply says, comparable among the wires


class Seen(msgspec.Struct, frozen=True):
    text: str
    calls: tuple[tuple[str, str, Any], ...]  # id, name, arguments
    reasoning: str
    stop: str  # the provider's own word
    tokens: tuple[int, ...]  # input, output, cached, thought; a wire that has no word for the last two says 0


def arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:  # a call that was cut
        return text


def seen_chat(body: Body) -> Seen:
    choice, usage = body["choices"][0], body["usage"]
    message = choice["message"]
    calls = []
    for call in message.get("tool_calls") or ():
        inner = call.get("function") or call["custom"]
        told = arguments(inner["arguments"]) if "arguments" in inner else {"input": inner["input"]}
        calls.append((call["id"], inner["name"], told))
    thought = message.get("reasoning_content") or message.get("reasoning") or ""
    text = (message["content"] or "") + (message.get("refusal") or "")
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    thinking = usage["completion_tokens_details"]["reasoning_tokens"]
    tokens = (usage["prompt_tokens"], usage["completion_tokens"], cached, thinking)
    assert usage["total_tokens"] == tokens[0] + tokens[1]
    return Seen(text, tuple(calls), thought, choice["finish_reason"], tokens)


def seen_responses(body: Body) -> Seen:
    texts, calls, thoughts = [], [], []
    for item in body["output"]:
        if item["type"] == "message":
            texts += [part.get("text") or part.get("refusal") or "" for part in item["content"]]
        elif item["type"] == "reasoning":
            thoughts += [part["text"] for part in item["summary"]]
        elif item["type"] in ("function_call", "custom_tool_call"):
            name = "__".join(filter(None, (item.get("namespace"), item["name"])))
            told = {"input": item["input"]} if "input" in item else arguments(item["arguments"])
            calls.append((item["call_id"], name, told))
    usage = body["usage"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    thinking = usage["output_tokens_details"]["reasoning_tokens"]
    tokens = (usage["input_tokens"], usage["output_tokens"], cached, thinking)
    assert usage["total_tokens"] == tokens[0] + tokens[1]
    stop = (body.get("incomplete_details") or {}).get("reason") or body["status"]
    return Seen("".join(texts), tuple(calls), "".join(thoughts), stop, tokens)


def seen_anthropic(body: Body) -> Seen:
    blocks, usage = body["content"], body["usage"]
    calls = tuple((block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use")
    cached = usage["cache_read_input_tokens"]
    paid = usage["input_tokens"] + cached + usage["cache_creation_input_tokens"]
    tokens = (paid, usage["output_tokens"], cached, usage["output_tokens_details"]["thinking_tokens"])
    return Seen(_joined(blocks, "text"), calls, _joined(blocks, "thinking"), body["stop_reason"], tokens)


def _joined(blocks: list[Body], kind: str) -> str:
    return "".join(block[kind] for block in blocks if block["type"] == kind)


def seen_gemini(body: Body) -> Seen:
    candidate, usage = body["candidates"][0], body["usageMetadata"]
    parts = candidate["content"]["parts"]
    calls = tuple((call["id"], call["name"], call["args"]) for part in parts if (call := part.get("functionCall")))
    said = [(bool(part.get("thought")), part.get("text") or "") for part in parts]
    text, thought = ("".join(word for thinking, word in said if thinking is wanted) for wanted in (False, True))
    thinking = usage.get("thoughtsTokenCount", 0)
    output = usage["candidatesTokenCount"] + thinking
    tokens = (usage["promptTokenCount"], output, usage.get("cachedContentTokenCount", 0), thinking)
    assert usage["totalTokenCount"] == tokens[0] + tokens[1]
    return Seen(text, calls, thought, candidate["finishReason"], tokens)


def seen_interactions(body: Body) -> Seen:
    steps, usage = body["steps"], body["usage"]
    calls = tuple((step["id"], step["name"], step["arguments"]) for step in steps if step["type"] == "function_call")
    text = "".join(_joined(step["content"], "text") for step in steps if step["type"] == "model_output")
    thought = "".join(_joined(step.get("summary") or [], "text") for step in steps if step["type"] == "thought")
    thinking = usage["total_thought_tokens"]
    output = usage["total_output_tokens"] + thinking
    tokens = (usage["total_input_tokens"], output, usage["total_cached_tokens"], thinking)
    assert usage["total_tokens"] == tokens[0] + tokens[1]
    return Seen(text, calls, thought, body["status"], tokens)


def seen_ollama(body: Body) -> Seen:
    message = body["message"]
    held = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    calls = tuple((call_id, function["name"], function["arguments"]) for call_id, function in held)
    tokens = (body["prompt_eval_count"], body["eval_count"], 0, 0)
    return Seen(message["content"], calls, message.get("thinking") or "", body["done_reason"], tokens)


SEEN: dict[str, Callable[[Body], Seen]] = {
    "openai-chat": seen_chat,
    "openai-responses": seen_responses,
    "anthropic": seen_anthropic,
    "gemini": seen_gemini,
    "gemini-interactions": seen_interactions,
    "ollama": seen_ollama,
}


# -- streams: each gives the request's body as the SDK sent it, and the reply as the SDK put it together


class Recording:
    """A server that keeps what it was sent and answers with a recorded stream."""

    def __init__(self, case: str, wire: str, kind: Any = httpx2) -> None:
        self.sent: Body = {}
        form = "application/x-ndjson" if wire == "ollama" else "text/event-stream"

        def answer(request: Any) -> Any:
            self.sent = json.loads(request.content)
            return kind.Response(200, headers={"content-type": form}, content=recorded(case, wire))

        self.transport = kind.MockTransport(answer)


def hear_chat(case: str, body: Body) -> tuple[Body, Body]:
    server = Recording(case, "openai-chat")
    state: Any = ChatCompletionStreamState()
    with httpx2.Client(transport=server.transport) as http:
        client = openai.OpenAI(api_key="test", base_url="http://test", http_client=http)
        for chunk in client.chat.completions.create(**{**body, "stream": True}):
            state.handle_chunk(chunk)
    final: Body = state.current_completion_snapshot.model_dump()
    return server.sent, final


def hear_responses(case: str, body: Body) -> tuple[Body, Body]:
    server = Recording(case, "openai-responses")
    events: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    told: dict[tuple[int, str], str] = {}
    final: Body = {}
    with httpx2.Client(transport=server.transport) as http:
        client = openai.OpenAI(api_key="test", base_url="http://test", http_client=http)
        for number, event in enumerate(client.responses.create(**{**body, "stream": True})):
            held = event.model_dump(mode="json", by_alias=True, exclude_unset=True)
            events.validate_python(held)
            assert event.sequence_number == number
            if held["type"].endswith(".delta"):
                at = (held["output_index"], held["type"])
                told[at] = told.get(at, "") + held["delta"]
            final = held.get("response", final)
    assert told == deltas_due(final["output"])  # the terminal event alone could be right
    return server.sent, final


def deltas_due(output: list[Body]) -> dict[tuple[int, str], str]:
    """What the deltas of each item must add up to."""
    due: dict[tuple[int, str], str] = {}
    for at, item in enumerate(output):
        if item["type"] == "message":
            part = item["content"][0]
            due[at, f"response.{part['type']}.delta"] = part.get("text") or part["refusal"]
        elif item["type"] == "reasoning":
            due[at, "response.reasoning_summary_text.delta"] = item["summary"][0]["text"]
        elif item["type"] == "function_call":
            due[at, "response.function_call_arguments.delta"] = item["arguments"]
        elif item["type"] == "custom_tool_call":
            due[at, "response.custom_tool_call_input.delta"] = item["input"]
    return due


# Sampling, which the API's version of 2023 takes and the SDK, which speaks that of 2026, no longer names.
OLDER_KEYS = ("temperature", "top_p", "top_k")


def hear_anthropic(case: str, body: Body) -> tuple[Body, Body]:
    server = Recording(case, "anthropic")
    with httpx2.Client(transport=server.transport) as http:
        client = anthropic.Anthropic(api_key="test", base_url="http://test", http_client=http)
        older = {key: body[key] for key in OLDER_KEYS if key in body}
        typed = {key: value for key, value in body.items() if key != "stream" and key not in older}
        with client.messages.stream(**typed, extra_body=older) as stream:
            final = stream.get_final_message()
    return server.sent, final.model_dump(mode="json")


def hear_gemini(case: str, body: Body) -> tuple[Body, Body]:
    server = Recording(case, "gemini")
    contents = read_contents(body)
    with httpx2.Client(transport=server.transport) as http:
        client = genai.Client(api_key="test", http_options=google.HttpOptions(base_url="http://test", httpx_client=http))
        stream = client.models.generate_content_stream(model=body["model"], contents=contents)
        chunks = [chunk.model_dump(mode="json", by_alias=True, exclude_none=True) for chunk in stream]
    assert read_contents(server.sent) == contents  # as values: the SDK spells keys and base64 in its own way
    final = chunks[-1]
    final["candidates"][0]["content"]["parts"] = [
        part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]
    ]
    return body, final


def hear_interactions(case: str, body: Body) -> tuple[Body, Body]:
    """The SDK gives events: what they make together is put together here."""
    server = Recording(case, "gemini-interactions")
    known: TypeAdapter[Any] = TypeAdapter(InteractionSSEEvent)
    steps: list[Body] = []
    pieces = ""
    final: Body = {}
    with httpx2.Client(transport=server.transport) as http:
        client = genai.Client(api_key="test", http_options=google.HttpOptions(base_url="http://test", httpx_client=http))
        for event in client.interactions.create(**{**body, "stream": True}):
            held = event.model_dump(mode="json", by_alias=True, exclude_unset=True)
            known.validate_python(held)
            assert "UNKNOWN" not in str(held)
            match held["event_type"]:
                case "step.start":
                    assert held["index"] == len(steps)
                    steps.append(held["step"])
                    pieces = ""
                case "step.delta":
                    delta, step = held["delta"], steps[held["index"]]
                    match delta["type"]:
                        case "text":
                            step.setdefault("content", [{"type": "text", "text": ""}])[0]["text"] += delta["text"]
                        case "thought_summary":
                            step.setdefault("summary", [{"type": "text", "text": ""}])[0]["text"] += delta["content"]["text"]
                        case "thought_signature":
                            step["signature"] = delta["signature"]
                        case "arguments_delta":
                            pieces += delta["arguments"]
                        case kind:
                            assert kind == step["type"]
                            step.update(delta)
                case "step.stop" if pieces:
                    steps[held["index"]]["arguments"] = json.loads(pieces)
                case "interaction.completed":
                    final = held["interaction"]
    whole = {**final, "steps": steps}
    assert whole["steps"] == load(case, "gemini-interactions.reply.json")["steps"]
    return server.sent, whole


def read_contents(body: Body) -> list[google.Content]:
    return [google.Content.model_validate_json(json.dumps(content)) for content in body["contents"]]


def hear_ollama(case: str, body: Body) -> tuple[Body, Body]:
    """Its SDK sends less than the API takes and drops the calls' ids, so both are taken from the fixture itself."""
    server = Recording(case, "ollama", httpx)
    client = ollama.Client("http://test", transport=server.transport)
    lines = list(client.chat("test-model", stream=True))
    messages = [json.loads(line)["message"] for line in recorded(case, "ollama").split(b"\n") if line]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    calls = [call.model_dump() for line in lines for call in line.message.tool_calls or ()]
    final = lines[-1].model_dump()
    final["message"] = {
        "content": "".join(line.message.content or "" for line in lines),
        "thinking": "".join(line.message.thinking or "" for line in lines),
        "tool_calls": [{"id": call_id, **call} for call_id, call in zip(ids, calls, strict=True)],
    }
    return body, final


HEAR: dict[str, Callable[[str, Body], tuple[Body, Body]]] = {
    "openai-chat": hear_chat,
    "openai-responses": hear_responses,
    "anthropic": hear_anthropic,
    "gemini": hear_gemini,
    "gemini-interactions": hear_interactions,
    "ollama": hear_ollama,
}
