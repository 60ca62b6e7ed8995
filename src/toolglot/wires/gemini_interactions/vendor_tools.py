"""Gemini's own tools, with their calls and results as steps.

A step shows only some of what the model read of a page. The rest is sealed in its signature, which clients return unread.
"""

from __future__ import annotations

from html import escape

from toolglot.core.envelope import seal, unseal
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH, ServerCall, VendorTools
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body
from toolglot.io.search_results import found_pages
from toolglot.wires.gemini_interactions.shapes import WIRE

_KINDS = {"google_search": WEB_SEARCH, "url_context": WEB_FETCH, "code_execution": CODE_EXECUTION}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def _kind(tool: Tool) -> str | None:
    return _KINDS.get(tool.name)


def _as_function(tool: Tool) -> Tool | None:
    return None


# -- writing


def _write(done: ServerCall) -> list[Body]:
    kind = done.call.name
    name = _NAMES.get(kind)
    if name is None:
        return []
    given = loads_object(done.call.arguments_json) or {}
    first = next((value for value in given.values() if isinstance(value, str)), "")
    call: Body = {"type": f"{name}_call", "id": done.call.id}
    result: Body = {"type": f"{name}_result", "call_id": done.call.id}
    if kind == CODE_EXECUTION:
        call["arguments"], result["result"] = {"language": "python", "code": first}, done.text
    else:
        key, shown = ("queries", _links(done.text)) if kind == WEB_SEARCH else ("urls", _fetched(first, done))
        call["arguments"], result["result"] = {key: [first]}, shown
        result["signature"] = seal({kind: {"text": done.text}}, but=WIRE)
    return [call, {**result, "is_error": True} if done.failed else result]


def _links(text: str) -> list[Body]:
    """The pages as HTML, which is what clients get from the vendor."""
    items = "".join(f'<li><a href="{escape(url)}">{escape(title)}</a></li>' for url, title in found_pages(text))
    return [{"search_suggestions": f"<ul>{items}</ul>"}] if items else []


def _fetched(url: str, done: ServerCall) -> list[Body]:
    return [{"url": url, "status": "error" if done.failed else "success"}]


def _usage_fields(calls: tuple[ServerCall, ...]) -> Body:
    searches = sum(one.call.name == WEB_SEARCH for one in calls)
    return {"grounding_tool_count": [{"type": "google_search", "count": searches}]} if searches else {}


# -- reading


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    name, _, form = str(block.get("type")).rpartition("_")
    kind = _KINDS.get(name)
    call_id = block.get("id" if form == "call" else "call_id")
    if kind is None or not isinstance(call_id, str):
        return ()
    if form == "call":
        return (ToolCall(call_id, kind, dumps(_arguments(kind, block.get("arguments")))),)
    return (ToolResult(call_id, kind, (Text(_text(kind, block)),), block.get("is_error") is True),)


def _arguments(kind: str, given: object) -> Body:
    """As the function takes them: one query or address."""
    arguments = given if isinstance(given, dict) else {}
    if kind == CODE_EXECUTION:
        return {"code": arguments.get("code") or ""}
    listed = arguments.get("queries" if kind == WEB_SEARCH else "urls")
    first = listed[0] if isinstance(listed, list) and listed else ""
    return {"query" if kind == WEB_SEARCH else "url": first}


def _text(kind: str, block: Body) -> str:
    sealed = unseal(block.get("signature"))
    if sealed is not None:
        return str(sealed.get(kind, {}).get("text") or "")
    result = block.get("result")
    if isinstance(result, str):
        return result
    items = [item for item in result if isinstance(item, dict)] if isinstance(result, list) else []
    return "\n".join(value for item in items for value in item.values() if isinstance(value, str))


def _loaded(block: Body) -> tuple[str, ...]:
    return ()


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded, usage_fields=_usage_fields)
