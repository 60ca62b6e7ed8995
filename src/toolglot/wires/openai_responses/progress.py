"""The progress events of items that the server runs: written together with the item, which comes whole."""

from __future__ import annotations

from toolglot.io.json_codec import encode
from toolglot.io.request_validation import Body

# type of an item -> its events before the last one, which tells how it ended
_STEPS = {
    "web_search_call": ("in_progress", "searching"),
    "file_search_call": ("in_progress", "searching"),
    "code_interpreter_call": ("in_progress", "interpreting"),
    "image_generation_call": ("in_progress", "generating"),
    "mcp_call": ("in_progress",),
    "mcp_list_tools": ("in_progress",),
}
_WRITTEN = {"mcp_call": "arguments", "code_interpreter_call": "code"}  # what the model writes of it
_MAY_FAIL = ("mcp_call", "mcp_list_tools")


def first_form(item: Body) -> Body:
    """An item as it is announced."""
    return {**item, "status": "in_progress"} if str(item.get("type")) in _STEPS and "status" in item else item


def progress_events(item: Body, place: int) -> list[tuple[str, bytes]]:
    """Each event's type, and the rest of its object."""
    kind = str(item.get("type"))
    rest = b"," + encode({"item_id": item.get("id"), "output_index": place})[1:-1]
    if kind == "compaction":
        return [("response.compaction.compacting", rest)]
    if kind not in _STEPS:
        return []
    failed = kind in _MAY_FAIL and (item.get("status") == "failed" or bool(item.get("error")))
    events = [(f"response.{kind}.{step}", rest) for step in _STEPS[kind]]
    key = _WRITTEN.get(kind, "")
    if isinstance(item.get(key), str):
        text = encode(item[key])
        events.append((f"response.{kind}_{key}.delta", rest + b',"delta":' + text))
        events.append((f"response.{kind}_{key}.done", rest + b',"%b":%b' % (key.encode(), text)))
    return [*events, (f"response.{kind}.{'failed' if failed else 'completed'}", rest)]
