"""Findings from errors of a server: what is wrong, the evidence, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolglot.client.detect import NoAnswer
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.probe.observations import Finding, Observations
from toolglot.client.probe.parsers import VLLM
from toolglot.errors import UpstreamError

_KEY = frozenset({401, 403})
_NO_MODEL = re.compile(r"(?is)model\w*.{0,80}(?:not.?found|not exist|unknown|not a valid)|no such model|unknown model")

# Error messages by meaning. Sources: ollama server/routes.go; vLLM's serving of chats; llama.cpp tools/server and its
# exceed_context_size_error (pull request 15780); OpenAI's context_length_exceeded; OpenRouter's "No endpoints found".
ERROR_PATTERNS: dict[str, str] = {
    "parser_flag_missing": r"--enable-auto-tool-choice|--tool-call-parser|requires --jinja|unsupported param: tools",
    "tools_dropped": r"not support tools|support tool use|tool use is not supported|tools? (?:is|are) not supported",
    "context_too_small": r"context[ _](?:size|length|window)|maximum context|exceed_context|prompt is too long",
}

PARSER_ADVICE = {
    "vllm": "start vLLM with --enable-auto-tool-choice --tool-call-parser {parser}",
    "llamacpp": "start llama-server with --jinja (the default in newer versions)",
}
ANY_SERVER = "enable tool call parsing on the server"
TOOLS_ADVICE = "use another tool mode (the table shows which work), or a model or chat template that supports tools"
WINDOW_ADVICE = {
    "ollama": "increase it: OLLAMA_CONTEXT_LENGTH for the server, num_ctx in a model file, or larger_context here",
    "llamacpp": "start llama-server with a larger --ctx-size",
    "vllm": "start vLLM with a larger --max-model-len",
    "lmstudio": "load the model with a larger context length",
}
ANY_WINDOW = "use a model with a larger context window, or send fewer tools"


def parser_advice(seen: Observations, dialect: str | None) -> str:
    """`dialect`: the one that was parsed; None: the one of the profile."""
    parser = VLLM.get(dialect or seen.profile.dialect or "", "<parser of this model>")
    return PARSER_ADVICE.get(seen.kind, ANY_SERVER).format(parser=parser)


def window_advice(seen: Observations) -> str:
    return WINDOW_ADVICE.get(seen.kind, ANY_WINDOW)


def blocked(seen: Observations) -> Finding | None:
    """Why there was no reply at all, if the first error shows it."""
    first = next(iter(seen.replies), None)
    return None if first is None or first.error is None else blocking(first.error, seen)


def blocking(error: UpstreamError, seen: Observations) -> Finding | None:
    """An error that occurs in every tool mode."""
    where = seen.row.base_url
    if error.status is None:
        cause, _, advice = error.message.rpartition("; ")
        return Finding(
            "not_reachable", f"{where}: {cause or error.message}", advice or "check that the server runs, and base_url"
        )
    if error.status in _KEY:
        key = f"the variable {seen.row.key}" if seen.row.key else "the server's key"
        return Finding("wrong_key", f"HTTP {error.status}: {error.message}", f"check {key}, or pass --api-key env:NAME")
    missing = any(isinstance(facts, ServerFacts) and facts.missing for facts in (seen.server, seen.listed))
    if missing or error.code == "model_not_found" or (error.status in {400, 404} and _NO_MODEL.search(error.message)):
        return Finding("unknown_model", f"HTTP {error.status}: {error.message}", _similar_names(seen))
    if error.status == 404:
        why = f" ({seen.server.why})" if isinstance(seen.server, NoAnswer) else ""
        advice = "check --base-url: a server responds there, but not with this API"
        return Finding("not_reachable", f"{where}: HTTP 404: {error.message}{why}", advice)
    return None


def _similar_names(seen: Observations) -> str:
    for facts in (seen.server, seen.listed):
        if isinstance(facts, ServerFacts) and facts.missing and facts.notes:
            return facts.notes[0]
    return "check the name in the server's list of models"


def refused(seen: Observations) -> Iterator[Finding]:
    """Tool modes that the server rejects, and a long prompt that it rejects as too long."""
    for tool_mode in seen.tool_modes:
        failed = next((one.error for one in seen.tool_mode(tool_mode) if one.error is not None), None)
        if failed is not None:
            yield _error_finding(failed, tool_mode, seen)
    if seen.window is not None and seen.window.error is not None:
        finding = _error_finding(seen.window.error, "", seen)
        if finding.code == "context_too_small":
            yield finding


def _error_finding(error: UpstreamError, tool_mode: str, seen: Observations) -> Finding:
    text = f"{error.code or ''} {error.message}"
    code = next((name for name, pattern in ERROR_PATTERNS.items() if re.search(pattern, text, re.IGNORECASE)), "refused")
    advice = {
        "parser_flag_missing": parser_advice(seen, None),
        "tools_dropped": TOOLS_ADVICE,
        "context_too_small": window_advice(seen),
        "refused": "read the server's message; its log may show more",
    }[code]
    status = f"HTTP {error.status}: " if error.status is not None else ""
    return Finding(code, f"{status}{error.message}", advice, tool_mode)
