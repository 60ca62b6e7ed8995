"""Gemini's own tools. Its API shows the code that was run and its output as parts, and searches at the end of the reply."""

from __future__ import annotations

from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH, ServerCall, VendorTools
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body
from toolglot.io.search_results import found_pages

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
    outcome = "OUTCOME_FAILED" if done.failed else "OUTCOME_OK"
    return [
        {"executableCode": {"language": "PYTHON", "code": _first_text(given), "id": done.call.id}},
        {"codeExecutionResult": {"outcome": outcome, "output": done.text, "id": done.call.id}},
    ]


def _first_text(given: Body) -> str:
    return next((value for value in given.values() if isinstance(value, str)), "")


def _read(block: Body) -> tuple[ToolCall | ToolResult, ...]:
    """Code and its output. Without ids they belong together in their order."""
    code, output = block.get("executableCode"), block.get("codeExecutionResult")
    if isinstance(code, dict):
        return (ToolCall(_id(code), CODE_EXECUTION, dumps({"code": code.get("code") or ""})),)
    if isinstance(output, dict):
        failed = output.get("outcome") not in (None, "OUTCOME_OK")
        return (ToolResult(_id(output), CODE_EXECUTION, (Text(str(output.get("output") or "")),), failed),)
    return ()


def _id(part: Body) -> str:
    found = part.get("id")
    return found if isinstance(found, str) else ""


def _reply_fields(calls: tuple[ServerCall, ...]) -> Body:
    """What a client shows below the text: queries and pages of searches, and the pages that were fetched."""
    candidate: Body = {}
    searches = [one for one in calls if one.call.name == WEB_SEARCH]
    if searches:
        pages = dict.fromkeys(page for one in searches if not one.failed for page in found_pages(one.text))
        candidate["groundingMetadata"] = {
            "webSearchQueries": [_first_text(loads_object(one.call.arguments_json) or {}) for one in searches],
            "groundingChunks": [{"web": {"uri": url, "title": title}} for url, title in pages],
        }
    if fetches := [_fetched(one) for one in calls if one.call.name == WEB_FETCH]:
        candidate["urlContextMetadata"] = {"urlMetadata": fetches}
    return {"candidate": candidate} if candidate else {}


def _fetched(done: ServerCall) -> Body:
    status = "URL_RETRIEVAL_STATUS_ERROR" if done.failed else "URL_RETRIEVAL_STATUS_SUCCESS"
    return {"retrievedUrl": _first_text(loads_object(done.call.arguments_json) or {}), "urlRetrievalStatus": status}


def _loaded(block: Body) -> tuple[str, ...]:
    return ()


VENDOR_TOOLS = VendorTools(_kind, _as_function, _write, _read, _loaded, reply_fields=_reply_fields)
