"""A scripted model without native tools: it writes its calls as text, in five dialects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from tests.gateway.scripts import response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse

MODEL = "phi-3"  # a model of the catalog without native tools
CONTENT = 'Grüße & "Küsse" <b>1 < 2</b>, it\'s 100% text'

QUESTION = re.compile(r"Write the file (\w+-\w+-(\w+)\.txt)")
ASK = "Write the file {path}, please."
RESULT = "wrote {count} characters to {path}"
ANSWER = "{path} is there."


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _expression(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_json(value)}' for key, value in arguments.items())})"


def _qwen_xml(name: str, arguments: dict[str, Any]) -> str:
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


def _between(before: str, after: str) -> Callable[[str, dict[str, Any]], str]:
    return lambda name, arguments: f"{before}\n{_json({'name': name, 'arguments': arguments})}\n{after}"


FORMS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "hermes": _between("<tool_call>", "</tool_call>"),
    "call_expression": _expression,
    "fenced_json": _between("```json", "```"),
    "tagged": _between("~~~tool_call", "~~~"),
    "qwen_xml": _qwen_xml,
}


def writes_files(request: UpstreamRequest) -> UpstreamResponse:
    """Calls `write_file` in the dialect that the file name contains; answers after the result."""
    assert "tools" not in request.body
    *before, last = request.body["messages"]
    path, form = QUESTION.findall(str([*before, last]))[0]
    if RESULT.format(count=len(CONTENT), path=path) in str(last):
        return response_to(request, text(ANSWER.format(path=path)))
    return response_to(request, text(FORMS[form]("write_file", {"path": path, "content": CONTENT})))
