"""DeepSeek V3.1: a name, a separator and JSON for each call, one behind the other."""

from __future__ import annotations

from toolglot.grammars.deepseek import DEEPSEEK, DROPPED
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
    source="https://huggingface.co/deepseek-ai/DeepSeek-V3.1",
)
