"""The parts of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolglot.speed.as_chat import chat_request
from toolglot.speed.conversation import TOOLS, TURNS
from toolglot.speed.parsing import SIZE, texts
from toolglot.speed.subject import Subject
from toolglot.speed.translating import requests, streams
from toolglot.speed.validating import calls


@dataclass(frozen=True)
class Part:
    title: str
    about: str
    subjects: Callable[[], list[Subject]]


_CALLS = sum(len(turn[1]) for turn in TURNS if not isinstance(turn, str))

PARTS = {
    "translate": Part(
        "Translating a request",
        f"{len(TOOLS)} tools, {_CALLS} calls with their results, {len(chat_request()) / 1000:.0f} KB; "
        "the floor decodes and encodes the same JSON",
        requests,
    ),
    "stream": Part(
        "Translating a stream", "a reply with text and two calls; the floor decodes and encodes each chunk's JSON", streams
    ),
    "extract": Part(
        "Extracting calls from text", f"{SIZE / 1000:.0f} KB, one call with a long argument, or none in prose", texts
    ),
    "validate": Part(
        "Validating a call", f"by schema, one of {len(TOOLS)} tools; the floor decodes and encodes the arguments", calls
    ),
}
