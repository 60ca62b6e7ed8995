"""InternLM2.x and Intern-S1: an action for a plugin; the arguments are called parameters."""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, how_to, result_text, tool_array
from toolglot.grammars.tagged_json import TaggedJson

_KEYS = Keys(arguments="parameters")

DIALECT = Dialect(
    name="internlm2",
    grammars=(TaggedJson(("<|action_start|>",), ("<|action_end|>",), _KEYS, lead="<|plugin|>"),),
    render_tools=tool_array(
        "<|im_start|>system name=<|plugin|>\n",
        "<|im_end|>",
        how_to('<|action_start|><|plugin|>\n{"name": "...", "parameters": {...}}<|action_end|>'),
        wrapped=False,
    ),
    render_calls=each_call("<|action_start|><|plugin|>\n", "<|action_end|>", "\n", _KEYS),
    render_result=result_text("<|im_start|>environment name=<|plugin|>\n", "<|im_end|>"),
    dropped=("<|action_end|>",),
    source="https://github.com/InternLM/InternLM/blob/main/chat/chat_format.md",
)
