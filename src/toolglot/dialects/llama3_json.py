"""Written by Llama 3.1 to 3.3, and Llama 4 in JSON mode: `<|python_tag|>{"name": ..., "parameters": ...}`, joined by `; `.

Without the tag it is bare JSON and parsed as such. Built-in tools are called as `brave_search.call(query="...")`.
"""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, each_call, tool_lines
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

_KEYS = Keys(arguments="parameters")

DIALECT = Dialect(
    name="llama3_json",
    grammars=(TaggedJson(("<|python_tag|>",), (), _KEYS), TaggedPython("<|python_tag|>")),
    render_tools=tool_lines("", ""),
    render_calls=each_call("<|python_tag|>", "", "", _KEYS),
    render_result=PLAIN_RESULT,
    dropped=("<|eom_id|>", "<|eot_id|>"),
    template_hints=(("<|python_tag|>",), ('"parameters": dictionary',), ("<|start_header_id|>", '"parameters":')),
    source="https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1",
)
