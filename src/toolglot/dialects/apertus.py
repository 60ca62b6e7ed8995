"""Written by Apertus: one JSON array between two tokens, where each object has the tool's name as its key."""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_text, tool_array
from toolglot.grammars.tagged_json import TaggedJson

_KEYS = Keys(name_is_key=True)

DIALECT = Dialect(
    name="apertus",
    grammars=(TaggedJson(("<|tools_prefix|>",), ("<|tools_suffix|>",), _KEYS),),
    render_tools=tool_array(wrapped=False),
    render_calls=one_array("<|tools_prefix|>[", "]<|tools_suffix|>", _KEYS),
    render_result=result_text("[", "]"),
    reasoning=(("<|inner_prefix|>", "<|inner_suffix|>"),),
    dropped=("<|tools_suffix|>",),
    template_markers=(("<|tools_prefix|>",),),
    source="https://github.com/swiss-ai/apertus-format",
)
