"""Written by Command R7B and Command A: one JSON array between action tokens, ids counted from 0.

Command R+ writes a fenced block after `Action:`; that is parsed too.
"""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_object, tool_array
from toolglot.grammars.tagged_json import TaggedJson

_KEYS = Keys("tool_name", "parameters", "tool_call_id")
_MARKERS = ("<|START_ACTION|>", "<|END_ACTION|>")

DIALECT = Dialect(
    name="cohere_command3",
    grammars=(
        TaggedJson(_MARKERS[:1], _MARKERS[1:], _KEYS),
        TaggedJson(("Action:\n```json", "Action: ```json"), ("```",), _KEYS),
    ),
    render_tools=tool_array("## Available tools\n\n```json\n", "\n```", wrapped=False),
    render_calls=one_array("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>", _KEYS, between=",\n    ", with_id=True),
    render_result=result_object("<|START_TOOL_RESULT|>[", "]<|END_TOOL_RESULT|>", "id", "content"),
    reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
    dropped=(
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|END_ACTION|>",
        "<|CHATBOT_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
    ),
    template_markers=(("<|START_ACTION|>",),),
    source="https://docs.cohere.com/docs/command-a-hf",
)
