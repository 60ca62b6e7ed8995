"""DeepSeek V3, R1-0528 and its distills, Cogito: type, separator, name, arguments in a fence; calls joined by a newline.

Read as well: V3.1's form, a missing outer marker, no newline before the closing fence, fences inside the arguments.
"""

from __future__ import annotations

from toolglot.grammars.deepseek import DEEPSEEK, DROPPED
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="deepseek_v3",
    grammars=(DEEPSEEK,),
    render_tools=tool_lines(),
    render_calls=named_calls(
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>",
        "\n",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
    ),
    render_result=result_text("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    dropped=DROPPED,
    source="https://huggingface.co/deepseek-ai/DeepSeek-V3-0324",
)
