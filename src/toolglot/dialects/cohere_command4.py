"""Written by Command 4: as Command A (cohere_command3), with `<|START_TEXT|>` around the text."""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_object, tool_array
from toolglot.grammars.tagged_json import TaggedJson

_KEYS = Keys("tool_name", "parameters", "tool_call_id")
_MARKERS = ("<|START_ACTION|>", "<|END_ACTION|>")

DIALECT = Dialect(
    name="cohere_command4",
    grammars=(TaggedJson(_MARKERS[:1], _MARKERS[1:], _KEYS),),
    render_tools=tool_array("## Available tools\n\n```json\n", "\n```", wrapped=False),
    render_calls=one_array("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>", _KEYS, between=",\n    ", with_id=True),
    render_result=result_object("<|START_TOOL_RESULT|>[", "]<|END_TOOL_RESULT|>", "id", "content"),
    reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
    dropped=(
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        "<|END_ACTION|>",
        "<|CHATBOT_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
    ),
    template_markers=(("<|START_ACTION|>", "<|START_TEXT|>"),),
    source="https://docs.cohere.com/docs/command-a-hf",
)
