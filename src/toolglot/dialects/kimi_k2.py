"""Kimi K2, K2.5, Kimi-Linear: calls in a section, each named by its id, `functions.f:0`, which must go back verbatim.

Read as well: `f:0`, `functionsf0`, an id that names no tool (a bare `0`, `call_...`), the singular section token, missing
section and end tokens, several sections; `functions.f:0` where the tokens before it got lost, and a JSON object with the name
in it.
"""

from __future__ import annotations

import re

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.heard import Tools
from toolglot.grammars.known_names import parameters, required
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.render_json import arguments, tool_array
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.text.json_text import loads_object

_ID = re.compile(r"functions\.(.+):\d+")


def _naming(written: str, held: str, tools: Tools) -> tuple[str, str | None]:
    """The tool's name; what is written is the id."""
    name = re.sub(r":\d+\Z", "", written)
    name = name if name in tools else name.removeprefix("functions.")
    if name not in tools:
        glued = re.sub(r"\d+\Z", "", name.removeprefix("functions"))
        name = glued if glued in tools else _by_arguments(name, held, tools)
    return name, written


def _by_arguments(name: str, written: str, tools: Tools) -> str:
    """An id without a name: the only tool that these arguments fit."""
    held = loads_object(written)
    if held is None or not (name.isdigit() or name.startswith("call_")):
        return name
    fit = [one for one, tool in tools.items() if set(required(tool)) <= set(held) <= set(parameters(tool))]
    return fit[0] if len(fit) == 1 else name


def _render_calls(calls: tuple[ToolCall, ...]) -> str:
    written = [
        f"<|tool_call_begin|>{call.id if _ID.fullmatch(call.id) else f'functions.{call.full_name}:{at}'}"
        f"<|tool_call_argument_begin|>{arguments(call)}<|tool_call_end|>"
        for at, call in enumerate(calls)
    ]
    return f"<|tool_calls_section_begin|>{''.join(written)}<|tool_calls_section_end|>"


def _render_result(result: ToolResult) -> str:
    """An id that is not the family's was not shown with the call either."""
    shown = result.call_id if _ID.fullmatch(result.call_id) else f"functions.{result.name or ''}"
    return f"## Return of {shown}\n{result.text}"


_SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")


def _calls(hopeless: str = r"(?!)") -> NamedJson:
    return NamedJson(
        ("<|tool_call_begin|>",),
        r"\s*(?P<name>[^\s<{][^<{\n]*?)\s*(?:<\|tool_call_argument_begin\|>)?\s*(?:```\w*\s*)?\"?",
        ends=("<|tool_call_end|>",),
        sections=_SECTIONS,
        section_ends=_ENDS,
        noise=("```", '"'),
        lost=("functions.",),
        hopeless=hopeless,
        naming=_naming,
    )


DIALECT = Dialect(
    name="kimi_k2",
    grammars=(
        _calls(),
        NameFirst(_calls(r"functions\.[^:]*:(?:\D|\d+\s*[^\s\d<{\"])"), "functions.{}:"),
        TaggedJson((*_SECTIONS, "<|tool_call_begin|>"), ("<|tool_call_end|>", *_ENDS), lead="<|tool_call_begin|>"),
    ),
    render_tools=tool_array(),
    render_calls=_render_calls,
    render_result=_render_result,
    dropped=(*_ENDS, "<|tool_call_end|>", "<|im_end|>"),
    source="https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md",
)
