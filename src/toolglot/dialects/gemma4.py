"""Written by Gemma 4: `<|tool_call>call:f{a:<|"|>text<|"|>,n:1}<tool_call|>` for each call; reasoning has a channel."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.gemma import Gemma, LostGemma
from toolglot.grammars.render_gemma import gemma_calls, gemma_result, gemma_tools
from toolglot.grammars.tagged_python import TaggedPython

_FORM = Gemma("<|tool_call>", "<tool_call|>", '<|"|>')
_IN_TAG = Gemma("<call:", "/>", '<|"|>')  # a mistake of Gemini: `<call:default_api:f{a:text}/>`
_PYTHON = TaggedPython("<|tool_call>", "<tool_call|>", lead="call:")

DIALECT = Dialect(
    name="gemma4",
    grammars=(_FORM, LostGemma(_FORM.opener, _FORM.closer, _FORM.mark), _IN_TAG, _PYTHON),
    render_tools=gemma_tools(_FORM, "<|tool>", "<tool|>"),
    render_calls=gemma_calls(_FORM),
    render_result=gemma_result(_FORM, "<|tool_response>", "<tool_response|>"),
    reasoning=(
        ("<|channel>thought\n", "<channel|>"),
        ("<|channel>thought", "<channel|>"),
        ("<|channel>", "<channel|>"),
    ),
    dropped=("<tool_call|>", "<|tool_response>", "<turn|>"),
    template_markers=(("<|tool_call>",),),
    source="https://ai.google.dev/gemma/docs/capabilities/text/function-calling-gemma4",
)
