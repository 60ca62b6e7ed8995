"""Written by Hy4: as Hy3, without a separator and without line breaks. The suffix differs from checkpoint to checkpoint."""

from __future__ import annotations

from toolglot.dialects.hunyuan_v3 import REASONING, SUFFIXED
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag

_SUFFIX = ":6124c78e"  # of Hy4-preview

_CALLS = calls_in_tags(
    (f"<tool_call{_SUFFIX}>{{name}}", f"</tool_call{_SUFFIX}>"),
    tag(f"<arg_key{_SUFFIX}>{{key}}</arg_key{_SUFFIX}><arg_value{_SUFFIX}>", f"</arg_value{_SUFFIX}>"),
    around=(f"<tool_calls{_SUFFIX}>", f"</tool_calls{_SUFFIX}>"),
    between="",
)

DIALECT = Dialect(
    name="hy_v4",
    grammars=(SUFFIXED,),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in(f"<tool_response{_SUFFIX}>", f"</tool_response{_SUFFIX}>"),
    reasoning=REASONING,
    template_markers=(("<tool_calls{}>", "<arg_key{}>"), ("<tool_calls:", "<arg_key:")),
    source="vllm/tool_parsers/hy_v4_tool_parser.py and structural_tag_registry.py of vLLM 0.33",
)
