"""Written by DeepSeek V4.1: the tags of V4 with a space before their names, in the wrapper `calls`."""

from __future__ import annotations

from toolglot.dialects.deepseek_v32 import MISSPELT, dsml_calls, dsml_tags
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import result_in
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml

_MARK = "｜DSML｜ "

DIALECT = Dialect(
    name="deepseek_v41",
    grammars=(TaggedXml(dsml_tags("calls", _MARK), ATTRIBUTE, strong=True), *MISSPELT),
    render_tools=tool_lines(),
    render_calls=dsml_calls("calls", _MARK),
    render_result=result_in("<tool_result>", "</tool_result>"),
    template_markers=(("DSML", " calls>"), ("DSML", "' calls'"), ("DSML", '" calls"')),
    source="vllm/tokenizers/deepseek_v41_encoding.py and vllm/parser/deepseek_v41.py of vLLM 0.33",
)
