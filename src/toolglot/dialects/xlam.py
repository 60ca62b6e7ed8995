"""Written by xLAM-2: one bare array; also after `[TOOL_CALLS]`, in `<tool_call>` tags, or in a fenced block."""

from __future__ import annotations

from toolglot.grammars.bare_json import BARE_JSON
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, one_array, tool_array
from toolglot.grammars.tagged_json import TOOL_CALL, TOOL_CALLS_TOKEN

DIALECT = Dialect(
    name="xlam",
    grammars=(BARE_JSON, TOOL_CALLS_TOKEN, TOOL_CALL),
    render_tools=tool_array(wrapped=False),
    render_calls=one_array("[", "]"),
    render_result=PLAIN_RESULT,
    weak=True,
    source="https://huggingface.co/Salesforce/Llama-xLAM-2-8b-fc-r",
)
