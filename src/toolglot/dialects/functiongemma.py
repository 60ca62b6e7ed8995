"""Written by FunctionGemma: `<start_function_call>call:f{a:<escape>text<escape>,n:1}<end_function_call>` for each call."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.gemma import Gemma, LostGemma
from toolglot.grammars.render_gemma import gemma_calls, gemma_result, gemma_tools

_FORM = Gemma("<start_function_call>", "<end_function_call>", "<escape>")

DIALECT = Dialect(
    name="functiongemma",
    grammars=(_FORM, LostGemma(_FORM.opener, _FORM.closer, _FORM.mark)),
    render_tools=gemma_tools(_FORM, "<start_function_declaration>", "<end_function_declaration>"),
    render_calls=gemma_calls(_FORM),
    render_result=gemma_result(_FORM, "<start_function_response>", "<end_function_response>"),
    dropped=("<end_function_call>", "<start_function_response>", "<end_of_turn>"),
    template_markers=(("<start_function_call>",),),
    source="https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",
)
