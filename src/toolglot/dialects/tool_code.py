"""Written by Gemini and Gemma: Python calls in a `tool_code` block, often inside `print` or with the prefix `default_api`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.fences import CODE_FENCES, TOOL_CODE_FENCES
from toolglot.grammars.render_json import result_text
from toolglot.grammars.render_python import python_calls
from toolglot.grammars.render_signature import signatures

DIALECT = Dialect(
    name="tool_code",
    grammars=(TOOL_CODE_FENCES, CODE_FENCES),
    render_tools=signatures,
    render_calls=python_calls("```tool_code\n", "\n```", "\n"),
    render_result=result_text("```tool_output\n", "\n```"),
    weak=True,
    template_hints=(("```tool_code",),),
    source="https://ai.google.dev/gemma/docs/capabilities/function-calling",
)
