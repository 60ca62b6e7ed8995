"""Written by Step-3.5-Flash: the tags of Qwen3-Coder, with line breaks around the end of the reasoning."""

from __future__ import annotations

from toolglot.dialects import qwen3_coder
from toolglot.grammars.dialect import Dialect

DIALECT = Dialect(
    name="step3p5",
    grammars=qwen3_coder.DIALECT.grammars,
    render_tools=qwen3_coder.DIALECT.render_tools,
    render_calls=qwen3_coder.DIALECT.render_calls,
    render_result=qwen3_coder.DIALECT.render_result,
    reasoning=(("<think>", "</think>"),),
    source="the chat template of stepfun-ai/Step-3.5-Flash",
)
