"""Forms from bug reports, rewritten: calls without their markers, and text that only looks like a call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot import StreamExtractor, extract


def tool(name: str, **parameters: str) -> dict[str, Any]:
    properties = {key: {"type": of_type} for key, of_type in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)[:1]}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


TOOLS = [
    tool("run", command="string", timeout="integer"),
    tool("note", text="string", title="string"),
    tool("mailboxes"),
]
RUN = {"command": "ls -la"}

CALLS = {
    "Gemma's call without its tokens": ("call:run{command:ls -la,timeout:3}", "run", {**RUN, "timeout": 3}),
    "Gemma's call with parentheses": ('<|tool_call>call:run(command: "ls -la")<tool_call|>', "run", RUN),
    "Gemini's declaration": ("declaration:default_api:run{command:ls -la}", "run", RUN),
    "a name and braces": ("note{text:All is well,title:News}", "note", {"text": "All is well", "title": "News"}),
    "printed": ('tool_code\nprint(default_api.run(command="ls -la"))', "run", RUN),
    "a fenced block named by the tool": ('I will look.\n\n```run\n{"command": "ls -la"}\n```', "run", RUN),
    "a stray word before the wrapper": (
        'count\n<invoke name="run">\n<parameter name="command">ls -la</parameter>\n</invoke>',
        "run",
        RUN,
    ),
    "a thought that never ends": (
        "<think>I look.\n<tool_call>\n<function=run>\n<parameter=command>\nls -la\n</parameter>\n</function>\n</tool_call>",
        "run",
        RUN,
    ),
    "Gemini's keys": ('{"functionCall": {"name": "run", "args": {"command": "ls -la"}}}', "run", RUN),
}
TEXTS = {
    "a struct's type": "It is declared so:\n\nnote{text:String,title:String}\n\nand used in many places of the program.",
    "a style sheet": "note{color:red;margin:0}\nrun{color:blue}",
    "a literal in code": "let n = note{text:hello,title:news};",
    "Gemma's notation explained": "The notation call:run{command:...} is Gemma's own.",
    "an example of a printed call": (
        'Test it in Python, say:\n\n```python\nprint(default_api.run(command="ls"))\n```\n\nYou can see the files.'
    ),
    "an example in tags": (
        'It writes:\n\n```xml\n<invoke name="run">\n<parameter name="command">ls</parameter>\n</invoke>\n```\n\nThat is all.'
    ),
    "a prompt explained": "The prompt asks for:\n\n<tool_use>\n<name>{tool}</name>\n<arguments>{json}</arguments>\n</tool_use>",
    "an id in a log": 'The log shows:\n> functions.run:0 {"command": "ls -la"}\nand then an error.',
    "tools listed": "<tools>\n<tool>run</tool>\n<tool>mailboxes</tool>\n</tools>",
    "a tool described in tags": "<tool>\n<name>mailboxes</name>\n<description>Lists them.</description>\n</tool>",
    "a tool described as JSON": '<tools>\n[{"name": "mailboxes", "description": "Lists them.", "parameters": {}}]\n</tools>',
    "a component": '<tool_use name="mailboxes" /> is how the component is written.',
    "tokens in a sentence": "In that form, run[ARGS]{...} is one call, and functions.run:0 is its id.",
    "an event": 'The event was {"toolName": "run", "args": {"command": "ls"}} and was stored in the log yesterday.',
}


def extracted(text: str, size: int) -> list[tuple[str, Any]]:
    extractor = StreamExtractor(TOOLS)
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    return [(call.name, json.loads(call.arguments_json)) for call in extractor.result().calls]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("form", CALLS)
def test_a_call_is_extracted(form: str, size: int) -> None:
    text, name, arguments = CALLS[form]
    assert extracted(text, size) == [(name, arguments)]


@pytest.mark.parametrize("form", TEXTS)
def test_a_text_stays_text(form: str) -> None:
    found = extract(TEXTS[form], tools=TOOLS)
    assert not found.calls
    assert found.text == TEXTS[form]
