"""Gemini's own tools, with their calls and results as steps. A search shows its queries, but no pages."""

from __future__ import annotations

from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH, ServerCall, VendorTools
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body

_KINDS = {"google_search": WEB_SEARCH, "url_context": WEB_FETCH, "code_execution": CODE_EXECUTION}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def _kind(tool: Tool) -> str | None:
    return _KINDS.get(tool.name)


def _as_function(tool: Tool) -> Tool | None:
    return None


def _write(done: ServerCall) -> list[Body]:
    name = _NAMES.get(done.call.name)
    if name is None:
        return []
    given = loads_object(done.call.arguments_json) or {}
    texts = [value for value in given.values() if isinstance(value, str)]
    first = texts[0] if texts else ""
    if name == "google_search":
        arguments, result = {"queries": texts[:1]}, [{"search_suggestions": done.text}]
    elif name == "url_context":
        arguments, result = {"urls": texts[:1]}, [{"url": first, "status": "error" if done.failed else "success"}]
    else:
        return _steps(name, done, {"language": "python", "code": first}, done.text)
    return _steps(name, done, arguments, result)


def _steps(name: str, done: ServerCall, arguments: Body, result: object) -> list[Body]:
    call = {"type": f"{name}_call", "id": done.call.id, "arguments": arguments}
    answer: Body = {"type": f"{name}_result", "call_id": done.call.id, "result": result}
    return [call, {**answer, "is_error": True} if done.failed else answer]


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    name, _, form = str(block.get("type")).rpartition("_")
    kind = _KINDS.get(name)
    call_id = block.get("id" if form == "call" else "call_id")
    if kind is None or not isinstance(call_id, str):
        return ()
    if form == "call":
        arguments = block.get("arguments")
        return (ToolCall(call_id, kind, dumps(arguments if isinstance(arguments, dict) else {})),)
    return (ToolResult(call_id, kind, (Text(_result_text(block.get("result"))),), block.get("is_error") is True),)


def _result_text(result: object) -> str:
    if isinstance(result, str):
        return result
    items = [item for item in result if isinstance(item, dict)] if isinstance(result, list) else []
    texts = [value for item in items for value in item.values() if isinstance(value, str)]
    return "\n".join(texts)


def _loaded(block: Body) -> tuple[str, ...]:
    return ()


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded)
