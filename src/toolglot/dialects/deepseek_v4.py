"""Written by DeepSeek V4: the tags of V3.2 in the wrapper `tool_calls`, which is optional.

A call without arguments may close itself.
"""

from __future__ import annotations

from toolglot.dialects.deepseek_v32 import MISSPELT, dsml, dsml_calls
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import result_in

_CALLS = dsml_calls("tool_calls")

DIALECT = Dialect(
    name="deepseek_v4",
    grammars=(dsml("tool_calls", "function_calls"), *MISSPELT),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_result>", "</tool_result>"),
    template_markers=(("DSML",),),
    source="the encoding of deepseek-ai/DeepSeek-V4",
)
