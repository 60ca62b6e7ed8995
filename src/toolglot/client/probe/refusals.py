"""Errors that a server answered with, by name: what is wrong, what shows it, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolglot.client.detect import Silence
from toolglot.client.detection.told import Told
from toolglot.client.probe.parsers import VLLM
from toolglot.client.probe.seen import Finding, Seen
from toolglot.errors import UpstreamError

_KEY = frozenset({401, 403})
_NO_MODEL = re.compile(r"(?is)model\w*.{0,80}(?:not.?found|not exist|unknown|not a valid)|no such model|unknown model")

# What a server's words mean. Sources: ollama server/routes.go; vLLM's serving of chats; llama.cpp tools/server and its
# exceed_context_size_error (pull request 15780); OpenAI's context_length_exceeded; OpenRouter's "No endpoints found".
MEANT: dict[str, str] = {
    "parser_flag_missing": r"--enable-auto-tool-choice|--tool-call-parser|requires --jinja|unsupported param: tools",
    "tools_dropped": r"not support tools|support tool use|tool use is not supported|tools? (?:is|are) not supported",
    "context_too_small": r"context[ _](?:size|length|window)|maximum context|exceed_context|prompt is too long",
}

PARSER_ADVICE = {
    "vllm": "start vLLM with --enable-auto-tool-choice --tool-call-parser {parser}",
    "llamacpp": "start llama-server with --jinja (newer ones do so unless told --no-jinja)",
}
ANY_SERVER = "turn on the server's own parsing of tool calls"
TOOLS_ADVICE = "ask in another way (the table shows which works), or take a model or chat template that has a place for tools"
WINDOW_ADVICE = {
    "ollama": "give it more: OLLAMA_CONTEXT_LENGTH for the server, num_ctx in a model file, or larger_context here",
    "llamacpp": "start llama-server with a larger --ctx-size",
    "vllm": "start vLLM with a larger --max-model-len",
    "lmstudio": "load the model with a larger context length",
}
ANY_WINDOW = "take a model with a larger context window, or offer fewer tools"


def parser_advice(seen: Seen, dialect: str | None) -> str:
    """`dialect`: the one that was heard, or the one that its profile names."""
    parser = VLLM.get(dialect or seen.profile.dialect or "", "<the one for this model>")
    return PARSER_ADVICE.get(seen.kind, ANY_SERVER).format(parser=parser)


def window_advice(seen: Seen) -> str:
    return WINDOW_ADVICE.get(seen.kind, ANY_WINDOW)


def blocked(seen: Seen) -> Finding | None:
    """Why nothing came at all, where the first question says it."""
    first = next(iter(seen.heard), None)
    return None if first is None or first.error is None else blocking(first.error, seen)


def blocking(error: UpstreamError, seen: Seen) -> Finding | None:
    """An error that no other way of asking would avoid."""
    where = seen.row.base_url
    if error.status is None:
        said, _, advice = error.message.rpartition("; ")
        return Finding(
            "not_reachable", f"{where}: {said or error.message}", advice or "check that the server runs, and its address"
        )
    if error.status in _KEY:
        key = f"the variable {seen.row.key}" if seen.row.key else "the server's key"
        return Finding("wrong_key", f"HTTP {error.status}: {error.message}", f"check {key}, or give --api-key env:NAME")
    missing = any(isinstance(told, Told) and told.missing for told in (seen.told, seen.listed))
    if missing or error.code == "model_not_found" or (error.status in {400, 404} and _NO_MODEL.search(error.message)):
        return Finding("unknown_model", f"HTTP {error.status}: {error.message}", _near(seen))
    if error.status == 404:
        silent = f" ({seen.told.why})" if isinstance(seen.told, Silence) else ""
        advice = "check --base-url: something answers there, but not such an API"
        return Finding("not_reachable", f"{where}: HTTP 404: {error.message}{silent}", advice)
    return None


def _near(seen: Seen) -> str:
    for told in (seen.told, seen.listed):
        if isinstance(told, Told) and told.missing and told.notes:
            return told.notes[0]
    return "check the name, as the server lists it"


def refused(seen: Seen) -> Iterator[Finding]:
    """A way that the server would not answer; a long prompt that it says it has no room for."""
    for way in seen.ways:
        failed = next((one.error for one in seen.way(way) if one.error is not None), None)
        if failed is not None:
            yield _refusal(failed, way, seen)
    if seen.room is not None and seen.room.error is not None:
        finding = _refusal(seen.room.error, "", seen)
        if finding.code == "context_too_small":
            yield finding


def _refusal(error: UpstreamError, way: str, seen: Seen) -> Finding:
    words = f"{error.code or ''} {error.message}"
    code = next((name for name, meant in MEANT.items() if re.search(meant, words, re.IGNORECASE)), "refused")
    advice = {
        "parser_flag_missing": parser_advice(seen, None),
        "tools_dropped": TOOLS_ADVICE,
        "context_too_small": window_advice(seen),
        "refused": "read the server's words; its log may say more",
    }[code]
    status = f"HTTP {error.status}: " if error.status is not None else ""
    return Finding(code, f"{status}{error.message}", advice, way)
