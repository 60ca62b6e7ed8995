"""Gemini's and Gemma's habit: Python calls in a `tool_code` block, often printed, often through `default_api`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.fences import CODE_FENCES, TOOL_CODE_FENCES
from toolglot.grammars.render_json import how_to, result_text, tool_lines
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="tool_code",
    grammars=(TOOL_CODE_FENCES, CODE_FENCES),
    render_tools=tool_lines(how_to('```tool_code\nf(a=1, b="text")\n```')),
    render_calls=python_calls("```tool_code\n", "\n```", "\n"),
    render_result=result_text("```tool_output\n", "\n```"),
    weak=True,
    source="https://ai.google.dev/gemma/docs/capabilities/function-calling",
)
