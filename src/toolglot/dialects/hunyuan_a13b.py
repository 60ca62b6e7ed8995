"""Written by Hunyuan-A13B: one array in `<tool_calls>` tags; answers are in `<answer>`.

The smaller Hunyuan models write a name and a fenced object.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import one_array, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALLS

_FENCED = NamedJson(
    ("<tool_call>",),
    r"\s*(?P<name>[\w.:-]+)\s*```\w*\s*",
    ends=("</tool_call>",),
    sections=("<tool_calls>",),
    section_ends=("</tool_calls>",),
    noise=("```",),
    not_head=r"\s*(?:[^\s\w.:-]|[\w.:-]+\s*[^\s`\w.:-])",
)

DIALECT = Dialect(
    name="hunyuan_a13b",
    grammars=(TOOL_CALLS, _FENCED),
    render_tools=tool_lines(),
    render_calls=one_array("<tool_calls>[", "]</tool_calls>"),
    render_result=result_text("<tool_response>", "</tool_response>"),
    template_hints=(("<tool_calls>", "<answer>"),),
    source="https://github.com/Tencent-Hunyuan/Hunyuan-A13B",
)
