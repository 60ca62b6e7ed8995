"""Anthropic's own tools: those that its server runs, and those that the client runs, which are functions to others.

A call of a client's tool is an ordinary `tool_use`, so that only its definition differs.
"""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import seal, unseal
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import (
    CODE_EXECUTION,
    TOOL_SEARCH,
    WEB_FETCH,
    WEB_SEARCH,
    ServerCall,
    VendorTools,
    loaded_text,
)
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body
from toolglot.io.search_results import found_pages
from toolglot.wires.anthropic.shapes import DIRECT, WIRE

_PREFIX = "srvtoolu_"
_SEARCH_NAME = "tool_search_tool_bm25"
_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": _SEARCH_NAME}

# start of a server tool's type -> its kind
_KINDS = {
    "tool_search_tool_": TOOL_SEARCH,
    "web_search_": WEB_SEARCH,
    "web_fetch_": WEB_FETCH,
    "code_execution_": CODE_EXECUTION,
}
_RESULTS = {
    "tool_search_tool_result": TOOL_SEARCH,
    "web_search_tool_result": WEB_SEARCH,
    "web_fetch_tool_result": WEB_FETCH,
    "code_execution_tool_result": CODE_EXECUTION,
}

_CALLERS = {kind: {"caller": DIRECT} for kind in (WEB_SEARCH, WEB_FETCH)}  # their results name it

_PATH: Body = {"type": "string", "description": "An absolute path"}
_RANGE: Body = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "For view of a file: the first and the last line, from 1; -1 is the end",
}
_EDIT: Body = {
    "path": _PATH,
    "old_str": {"type": "string", "description": "For str_replace: the exact text to replace; it must occur once"},
    "new_str": {"type": "string", "description": "For str_replace: the new text"},
    "file_text": {"type": "string", "description": "For create: the content of the file"},
    "insert_line": {"type": "integer", "description": "For insert: the line after which the text goes; 0 is the start"},
    "insert_text": {"type": "string", "description": "For insert: the text"},
    "view_range": _RANGE,
}


def _commands(*names: str, **properties: Body) -> Body:
    fields = {"command": {"type": "string", "enum": list(names)}, **properties}
    return {"type": "object", "properties": fields, "required": ["command"]}


# start of a client tool's type -> what it does, and its parameters (platform.claude.com: bash, text editor and memory tools)
_FUNCTIONS: dict[str, tuple[str, Body]] = {
    "bash_": (
        "Run commands in a shell that keeps its state from call to call.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command; not needed with restart"},
                "restart": {"type": "boolean", "description": "Start the shell anew"},
            },
        },
    ),
    "text_editor_": (
        "View, create and edit text files.",
        _commands("view", "create", "str_replace", "insert", **_EDIT),
    ),
    "memory_": (
        "Read and write the memory, which is a folder of files at /memories.",
        _commands(
            "view",
            "create",
            "str_replace",
            "insert",
            "delete",
            "rename",
            **_EDIT,
            old_path={"type": "string", "description": "For rename"},
            new_path={"type": "string", "description": "For rename"},
        ),
    ),
}


def _by_type(table: dict[str, Any], tool: Tool) -> Any:
    return next((value for start, value in table.items() if tool.name.startswith(start)), None)


def _kind(tool: Tool) -> str | None:
    return _by_type(_KINDS, tool)  # type: ignore[no-any-return]


def _as_function(tool: Tool) -> Tool | None:
    found = _by_type(_FUNCTIONS, tool)
    name = tool.extra.get(WIRE, {}).get("name")
    return Tool(name, found[0], found[1]) if found is not None and isinstance(name, str) and name else None


# -- writing


def _write(done: ServerCall) -> list[Body]:
    kind = done.call.name
    use_id = done.call.id if done.call.id.startswith(_PREFIX) else _PREFIX + done.call.id
    name = _SEARCH_NAME if kind == TOOL_SEARCH else kind
    given = loads_object(done.call.arguments_json) or {}
    content = (
        {"type": f"{_result_type(kind)}_error", "error_code": "unavailable"} if done.failed else _content(kind, given, done)
    )
    return [
        {"type": "server_tool_use", "id": use_id, "name": name, "input": given, "caller": DIRECT},
        {"type": _result_type(kind), "tool_use_id": use_id, "content": content, **_CALLERS.get(kind, {})},
    ]


def _result_type(kind: str) -> str:
    return next(result for result, its_kind in _RESULTS.items() if its_kind == kind)


def _content(kind: str, given: Body, done: ServerCall) -> Any:
    if kind == TOOL_SEARCH:
        found = [{"type": "tool_reference", "tool_name": tool.full_name} for tool in done.loaded]
        return {"type": "tool_search_tool_search_result", "tool_references": found}
    if kind == WEB_SEARCH:
        return _pages(done.text)
    if kind == WEB_FETCH:
        source = {"type": "text", "media_type": "text/plain", "data": done.text}
        url = given.get("url")
        document = {"type": "document", "source": source, "title": None, "citations": None}
        return {
            "type": "web_fetch_result",
            "url": url if isinstance(url, str) else "",
            "content": document,
            "retrieved_at": None,
        }
    return {"type": "code_execution_result", "stdout": done.text, "stderr": "", "return_code": 0, "content": []}


def _pages(text: str) -> list[Body]:
    """The pages; the whole text goes with the first one, as what only the server reads, and comes back in the history."""
    sealed = seal({WEB_SEARCH: {"text": text}}, but=WIRE) or ""
    pages = found_pages(text) or [("", WEB_SEARCH)]
    return [
        {
            "type": "web_search_result",
            "url": url,
            "title": title,
            "encrypted_content": "" if at else sealed,
            "page_age": None,
        }
        for at, (url, title) in enumerate(pages)
    ]


# -- reading


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    if block.get("type") == "server_tool_use":
        name, use_id, given = block.get("name"), block.get("id"), block.get("input")
        kind = TOOL_SEARCH if str(name).startswith("tool_search_tool_") else name
        known = isinstance(use_id, str) and isinstance(kind, str) and isinstance(given, dict)
        return (ToolCall(_own_id(use_id), kind, dumps(given)),) if known else ()  # type: ignore[arg-type]
    kind = _RESULTS.get(str(block.get("type")))
    use_id = block.get("tool_use_id")
    if kind is None or not isinstance(use_id, str):
        return ()
    content = block.get("content")
    failed = isinstance(content, dict) and "error_code" in content
    text = f"Error: {content['error_code']}" if failed else _text(kind, content, block)  # type: ignore[index]
    return (ToolResult(_own_id(use_id), kind, (Text(text),), failed),)


def _own_id(use_id: Any) -> str:
    return str(use_id).removeprefix(_PREFIX)


def _text(kind: str, content: Any, block: Body) -> str:
    if kind == TOOL_SEARCH:
        return loaded_text(_loaded(block))
    if isinstance(content, list):
        return _pages_text([page for page in content if isinstance(page, dict)])
    content = content if isinstance(content, dict) else {}
    if kind == CODE_EXECUTION:
        return f"{content.get('stdout') or ''}{content.get('stderr') or ''}"
    document = content.get("content")
    source = document.get("source") if isinstance(document, dict) else None
    return str(source.get("data") or "") if isinstance(source, dict) else ""


def _pages_text(pages: list[Body]) -> str:
    sealed = unseal(pages[0].get("encrypted_content")) if pages else None
    if sealed is not None:
        return str(sealed.get(WEB_SEARCH, {}).get("text") or "")
    return "\n".join(f"{page.get('title') or ''} {page.get('url') or ''}" for page in pages)


def _loaded(block: Body) -> tuple[str, ...]:
    if block.get("type") == "tool_reference":
        references: Any = [block]
    elif block.get("type") == "tool_search_tool_result" and isinstance(block.get("content"), dict):
        references = block["content"].get("tool_references")
    else:
        return ()
    listed = references if isinstance(references, list) else []
    return tuple(one["tool_name"] for one in listed if isinstance(one, dict) and isinstance(one.get("tool_name"), str))


def _summary(block: Body) -> str | None:
    content = block.get("content") if block.get("type") == "compaction" else None
    return content if isinstance(content, str) and content else None


def _usage_fields(calls: tuple[ServerCall, ...]) -> Body:
    counts = {f"{kind}_requests": sum(one.call.name == kind for one in calls) for kind in (WEB_SEARCH, WEB_FETCH)}
    return {"server_tool_use": counts} if any(counts.values()) else {}


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded, _SEARCH, usage_fields=_usage_fields, summary=_summary)
