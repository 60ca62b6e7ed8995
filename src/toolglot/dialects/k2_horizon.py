"""Written by K2 Horizon (IFM): the key and value pairs of GLM with marked tags, optionally with types, or JSON instead.

Each level of reasoning effort has its own tags.
"""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag

DIALECT = Dialect(
    name="k2_horizon",
    grammars=(arg_pairs(outer=("<tool_calls>", "</tool_calls>"), prefix="ifm|", typed=True, json_calls=True, named=False),),
    render_tools=tool_lines(),
    render_calls=calls_in_tags(
        ("<ifm|tool_call>{name}\n", "</ifm|tool_call>"),
        tag("<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>", "</ifm|arg_value>\n"),
        around=("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
    ),
    render_result=PLAIN_RESULT,
    reasoning=tuple((f"<ifm|{word}>", f"</ifm|{word}>") for word in ("think", "think_fast", "think_faster")),
    dropped=("<|ifm|im_end|>",),
    template_markers=(("<ifm|tool_call",),),
    source="vllm/tool_parsers/k2_horizon_tool_parser.py of vLLM 0.33; srt/function_call/k2_v3_detector.py of SGLang 0.5.23",
)
