"""Written by DeepSeek V3.1: name, separator and JSON arguments for each call."""

from __future__ import annotations

from toolglot.dialects.deepseek_v3 import DEEPSEEK, DROPPED
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="deepseek_v31",
    grammars=(DEEPSEEK,),
    render_tools=tool_lines(),
    render_calls=named_calls(
        "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
        "",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
    ),
    render_result=result_text("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    dropped=DROPPED,
    template_markers=(("tool▁sep",),),
    source="https://huggingface.co/deepseek-ai/DeepSeek-V3.1",
)
