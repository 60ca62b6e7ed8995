"""Gemini's own tools. Its API shows the code that was run and its output, but no searches."""

from __future__ import annotations

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH, ServerCall, VendorTools
from toolglot.io.json_codec import loads_object
from toolglot.io.request_validation import Body

_KINDS = {
    "googleSearch": WEB_SEARCH,
    "googleSearchRetrieval": WEB_SEARCH,
    "urlContext": WEB_FETCH,
    "codeExecution": CODE_EXECUTION,
}


def _kind(tool: Tool) -> str | None:
    return _KINDS.get(tool.name)


def _as_function(tool: Tool) -> Tool | None:
    return None


def _write(done: ServerCall) -> list[Body]:
    if done.call.name != CODE_EXECUTION:
        return []
    given = loads_object(done.call.arguments_json) or {}
    code = next((value for value in given.values() if isinstance(value, str)), "")
    outcome = "OUTCOME_FAILED" if done.failed else "OUTCOME_OK"
    return [
        {"executableCode": {"language": "PYTHON", "code": code}},
        {"codeExecutionResult": {"outcome": outcome, "output": done.text}},
    ]


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    return ()  # the parts have no ids


def _loaded(block: Body) -> tuple[str, ...]:
    return ()


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded)
