"""Written by GigaChat 3.5 (GCML): the tags of DeepSeek V4 with another mark."""

from __future__ import annotations

from toolglot.dialects.deepseek_v32 import dsml_calls, dsml_tags
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, tool_array
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml

_MARK = "｜GCML｜"

DIALECT = Dialect(
    name="gigachat35",
    grammars=(TaggedXml(dsml_tags("tool_calls", _MARK), ATTRIBUTE, strong=True),),
    render_tools=tool_array(wrapped=False),
    render_calls=dsml_calls("tool_calls", _MARK),
    render_result=PLAIN_RESULT,
    dropped=("<|message_sep|>",),
    template_markers=(("｜GCML｜",),),
    source="srt/function_call/gigachat35_detector.py of SGLang 0.5.23, for ai-sage/GigaChat3.5",
)
