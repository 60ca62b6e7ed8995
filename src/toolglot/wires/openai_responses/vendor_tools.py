"""The Responses API's own tools: those that its server runs, and those that the client runs, which are functions to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from toolglot.core.envelope import seal, unseal
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import (
    CODE_EXECUTION,
    SERVER_KINDS,
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
from toolglot.wires.openai_responses.shapes import WIRE
from toolglot.wires.openai_responses.tools import declared_tools, write_tools

_QUIRKS = Quirks()
_SEALED, _SERVED = "encrypted_content", "served"


# -- tools that the server runs


def _kind(tool: Tool) -> str | None:
    if tool.name.startswith("web_search"):
        return WEB_SEARCH
    if tool.name == "tool_search":
        return None if _runs_at_client(tool) else TOOL_SEARCH
    return CODE_EXECUTION if tool.name == "code_interpreter" else None


def _runs_at_client(tool: Tool) -> bool:
    return tool.extra.get(WIRE, {}).get("execution") == "client"


def _write(done: ServerCall) -> list[Body]:
    return _WRITERS[done.call.name](done, loads_object(done.call.arguments_json) or {}, _status(failed=done.failed))


def _status(*, failed: bool) -> str:
    return "failed" if failed else "completed"


def _write_search(done: ServerCall, given: Body, status: str) -> list[Body]:
    common = {"call_id": done.call.id, "execution": "server", "status": "completed"}
    tools = write_tools(done.loaded, [], _QUIRKS)
    return [
        {"type": "tool_search_call", "id": f"tsc_{done.call.id}", "arguments": given, **common},
        {"type": "tool_search_output", "id": f"tso_{done.call.id}", "tools": tools, **common},
    ]


def _write_web_search(done: ServerCall, given: Body, status: str) -> list[Body]:
    query = next((value for value in given.values() if isinstance(value, str)), "")
    sources = [{"type": "url", "url": url} for url, _ in found_pages(done.text)]
    action = {"type": "search", "query": query, "queries": [query], "sources": sources}
    return [_search_item(done, action, status)]


def _write_web_fetch(done: ServerCall, given: Body, status: str) -> list[Body]:
    return [_search_item(done, {"type": "open_page", "url": given.get("url")}, status)]


def _search_item(done: ServerCall, action: Body, status: str) -> Body:
    """The API's item has no place for the result. Sealed in a key of ours, it comes back in the history."""
    kept = {"name": done.call.name, "arguments": done.call.arguments_json, "text": done.text, "failed": done.failed}
    item = {"type": "web_search_call", "id": f"ws_{done.call.id}", "status": status, "action": action}
    return {**item, _SEALED: seal({_SERVED: kept}, but=WIRE)}


def _read_search(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    kept = (unseal(block.get(_SEALED)) or {}).get(_SERVED, {})
    name, arguments, text, call_id = kept.get("name"), kept.get("arguments"), kept.get("text"), block.get("id")
    if name not in SERVER_KINDS or not (isinstance(arguments, str) and isinstance(text, str) and isinstance(call_id, str)):
        return ()
    call_id = call_id.removeprefix("ws_")
    return ToolCall(call_id, name, arguments), ToolResult(call_id, name, (Text(text),), kept.get("failed") is True)


def without_sealed(block: Body) -> Body:
    """An item as the vendor's server takes it."""
    return {key: value for key, value in block.items() if key != _SEALED} if block.get("type") == "web_search_call" else block


def _write_code(done: ServerCall, given: Body, status: str) -> list[Body]:
    code = next((value for value in given.values() if isinstance(value, str)), "")
    logs = [{"type": "logs", "logs": done.text}]
    names = {"id": f"ci_{done.call.id}", "container_id": "toolglot"}
    return [{"type": "code_interpreter_call", **names, "status": status, "code": code, "outputs": logs}]


_WRITERS: dict[str, Callable[[ServerCall, Body, str], list[Body]]] = {
    TOOL_SEARCH: _write_search,
    WEB_SEARCH: _write_web_search,
    WEB_FETCH: _write_web_fetch,
    CODE_EXECUTION: _write_code,
}


# -- tools that the client runs


class _ClientTool(NamedTuple):
    item: str  # the type of its calls; that of their results ends in _output
    arguments: str  # the item's key for the arguments
    description: str
    schema: Body
    more: Body = {}  # what an item also needs, where the model does not write it


def _object(required: list[str], **properties: Body) -> Body:
    return {"type": "object", "properties": properties, "required": required}


_STRING: Body = {"type": "string"}
_LINES: Body = {"type": "array", "items": _STRING}
_CLIENT_TOOLS = {
    "shell": _ClientTool(
        "shell_call",
        "action",
        "Run shell commands.",
        _object(
            ["commands"],
            commands={**_LINES, "description": "They run one after the other"},
            timeout_ms={"type": "integer"},
            max_output_length={"type": "integer", "description": "In characters"},
        ),
    ),
    "local_shell": _ClientTool(
        "local_shell_call",
        "action",
        "Run a command.",
        _object(
            ["command"],
            command={**_LINES, "description": "The program and its arguments"},
            working_directory=_STRING,
            timeout_ms={"type": "integer"},
        ),
        {"type": "exec", "env": {}},
    ),
    "apply_patch": _ClientTool(
        "apply_patch_call",
        "operation",
        "Create, change or delete a file.",
        _object(
            ["type", "path"],
            type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            path=_STRING,
            diff={
                "type": "string",
                "description": "The change: hunks that begin with @@ and have lines with ' ', '-' or '+' in front. A new "
                "file has only '+' lines. Not for delete_file",
            },
        ),
    ),
    "tool_search": _ClientTool(
        "tool_search_call",
        "arguments",
        "Search for further tools, and load them.",
        _object(["query"], query={"type": "string", "description": "Words that describe the tool"}),
    ),
}
_TOOL_OF_CALL = {tool.item: name for name, tool in _CLIENT_TOOLS.items()}
_TOOL_OF_OUTPUT = {f"{item}_output": name for item, name in _TOOL_OF_CALL.items()} | {"tool_search_output": TOOL_SEARCH}


def _as_function(tool: Tool) -> Tool | None:
    known, definition = _CLIENT_TOOLS.get(tool.name), tool.extra.get(WIRE, {})
    environment = definition.get("environment")
    in_container = isinstance(environment, dict) and environment.get("type") != "local"
    if known is None or in_container or (tool.name == "tool_search" and not _runs_at_client(tool)):
        return None
    description, schema = definition.get("description"), definition.get("parameters")
    return Tool(
        tool.name,
        description if isinstance(description, str) else known.description,
        schema if isinstance(schema, dict) else known.schema,
    )


def client_tools(request: Request | None) -> frozenset[str]:
    """The names of the tools in a client's request whose calls have items of their own."""
    tools = request.tools if request is not None else ()
    return frozenset(tool.name for tool in tools if tool.kind == "server" and _as_function(tool) is not None)


def write_client_call(call: ToolCall, item_id: str) -> Body:
    """The item of a call that a function's name was the stand-in for."""
    known = _CLIENT_TOOLS[call.name]
    item: Body = {"type": known.item, "id": item_id, "call_id": call.id, "status": "completed"}
    item[known.arguments] = {**known.more, **(loads_object(call.arguments_json) or {})}
    if call.name == "tool_search":
        item["execution"] = "client"
    return item


# -- reading


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    kind, call_id = str(block.get("type")), block.get("call_id")
    if kind == "code_interpreter_call" and isinstance(block.get("id"), str):
        return _read_code(block, block["id"].removeprefix("ci_"))
    if kind == "web_search_call":
        return _read_search(block)
    if kind in _TOOL_OF_CALL:
        return _read_call(_TOOL_OF_CALL[kind], block, call_id if isinstance(call_id, str) else "")
    name = _TOOL_OF_OUTPUT.get(kind)
    if name is None:
        return ()
    call_id = call_id or (block.get("id") if kind == "local_shell_call_output" else "")
    failed = block.get("status") == "failed"
    return (ToolResult(call_id if isinstance(call_id, str) else "", name, (Text(_output_text(name, block)),), failed),)


def _read_call(name: str, block: Body, call_id: str) -> tuple[ToolCall, ...]:
    """The arguments are what the model writes of the item."""
    known = _CLIENT_TOOLS[name]
    given = block.get(known.arguments)
    written = {key: value for key, value in given.items() if known.more.get(key) != value} if isinstance(given, dict) else {}
    return (ToolCall(call_id, name, dumps(written)),)


def _read_code(block: Body, call_id: str) -> tuple[ToolCall | ToolResult, ...]:
    outputs = block.get("outputs")
    logs = [str(one.get("logs") or "") for one in outputs if isinstance(one, dict)] if isinstance(outputs, list) else []
    call = ToolCall(call_id, CODE_EXECUTION, dumps({"code": block.get("code") or ""}))
    return call, ToolResult(call_id, CODE_EXECUTION, (Text("".join(logs)),))


def _output_text(name: str, block: Body) -> str:
    if name == TOOL_SEARCH:
        return loaded_text(_loaded(block))
    output = block.get("output")
    if isinstance(output, list):
        return "\n".join(_shell_text(one) for one in output if isinstance(one, dict)) or "(no output)"
    return output if isinstance(output, str) and output else str(block.get("status") or "completed")


def _shell_text(output: Body) -> str:
    outcome: Any = output.get("outcome")
    outcome = outcome if isinstance(outcome, dict) else {}
    end = "timed out" if outcome.get("type") == "timeout" else f"exit code {outcome.get('exit_code', 0)}"
    texts = [str(output.get(key) or "").rstrip("\n") for key in ("stdout", "stderr")]
    return "\n".join([*filter(None, texts), f"({end})"])


def _loaded(block: Body) -> tuple[str, ...]:
    return tuple(tool.full_name for tool in declared_tools(block)) if block.get("type") == "tool_search_output" else ()


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded, {"type": "tool_search"})
