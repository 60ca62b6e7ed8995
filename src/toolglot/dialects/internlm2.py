"""Written by InternLM2.x and Intern-S1: an action for a plugin; the arguments are under `parameters`."""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, each_call, tool_array
from toolglot.grammars.tagged_json import TaggedJson

_KEYS = Keys(arguments="parameters")

DIALECT = Dialect(
    name="internlm2",
    grammars=(TaggedJson(("<|action_start|>",), ("<|action_end|>",), _KEYS, lead="<|plugin|>"),),
    render_tools=tool_array(wrapped=False),
    render_calls=each_call("<|action_start|><|plugin|>\n", "<|action_end|>", "\n", _KEYS),
    render_result=PLAIN_RESULT,
    dropped=("<|action_end|>",),
    template_markers=(("<|action_start|>",),),
    source="https://github.com/InternLM/InternLM/blob/main/chat/chat_format.md",
)
