"""Written by Phi-4-mini and FireFunction v2: the word `functools`, then one array, or that array between tokens."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, one_array, tool_array
from toolglot.grammars.tagged_json import TOOL_CALL_TOKEN, TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="phi4_mini",
    grammars=(TaggedJson(("functools",)), TaggedPython("functools"), TOOL_CALL_TOKEN),
    render_tools=tool_array("<|tool|>", "<|/tool|>", wrapped=False),
    render_calls=one_array("functools[", "]"),
    render_result=PLAIN_RESULT,
    dropped=("<|/tool_call|>",),
    template_markers=(("functools[",), ("<|tool|>", "<|/tool|>")),
    source="https://huggingface.co/microsoft/Phi-4-mini-instruct",
)
