"""llm-rosetta as a library: its conversion pipeline, as its gateway uses it. It does not read calls out of text."""

from __future__ import annotations

import json
from importlib.metadata import version

from llm_rosetta import ConversionPipeline
from loop import Body, UnsupportedError, serve

_NAMES = {"openai-chat": "openai_chat", "openai-responses": "openai_responses", "anthropic": "anthropic", "gemini": "google"}
_NAMES["gemini-interactions"] = "google_interactions"
_ASK = "Go on."
_REQUESTS: dict[str, Body] = {  # what the client asked, for the conversion of the response
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": _ASK}]},
    "openai-responses": {"model": "m", "input": _ASK},
    "anthropic": {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": _ASK}]},
    "gemini-interactions": {"model": "m", "input": _ASK},
    "gemini": {"model": "m", "contents": [{"role": "user", "parts": [{"text": _ASK}]}]},
}


def convert(given: Body) -> Body:
    source, target, body = given["source"], given["target"], given["body"]
    if source not in _NAMES or target not in _NAMES or given.get("cut"):
        raise UnsupportedError
    if given["kind"] == "request":
        return {"body": ConversionPipeline(_NAMES[source], _NAMES[target]).convert_request(body)}
    pipeline = ConversionPipeline(_NAMES[target], _NAMES[source])  # of the client to the upstream; the response goes back
    pipeline.convert_request(json.loads(json.dumps(_REQUESTS[target])))
    if given["kind"] == "response":
        return {"body": pipeline.convert_response(body)}
    processor = pipeline.create_stream_processor()
    lines = [line.removeprefix("data:").strip() for line in body.replace("\r\n", "\n").split("\n")]
    events = [event for line in lines if line.startswith("{") for event in processor.process_chunk(json.loads(line))]
    return {"body": "".join(f"data: {json.dumps(event)}\n\n" for event in events)}


def about(_: Body) -> Body:
    return {"name": "llm-rosetta", "version": version("llm-rosetta")}


serve({"about": about, "convert": convert})
