"""Written by Kimi K2, K2.5 and Kimi-Linear: calls in a section, each named by its id, `functions.f:0`.

The id must be sent back verbatim. Also parsed: `f:0`, `functionsf0`, `functions_f_0` (from ids that a client sent back without
other characters), an id without a tool's name (`0`, `call_...`), the singular section token, missing section and end tokens,
several sections, `functions.f:0` without the tokens before it, and a JSON object that contains the name.
"""

from __future__ import annotations

import re

from toolglot.core.messages import ToolResult
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.known_names import parameters, required
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.render_json import named_calls, tool_array
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.io.json_codec import loads_object

_ID = re.compile(r"functions\.(.+):\d+")


def _naming(call_id: str, text: str, tools: Tools) -> tuple[str, str | None]:
    """The tool's name and the call's id, which the model writes in place of the name."""
    name = re.sub(r":\d+\Z", "", call_id)
    name = name if name in tools else name.removeprefix("functions.")
    if name not in tools:
        glued = re.sub(r"_?\d+\Z", "", name.removeprefix("functions").removeprefix("_"))
        name = glued if glued in tools else _by_arguments(name, text, tools)
    return name, call_id


def _by_arguments(name: str, text: str, tools: Tools) -> str:
    """An id without a name: the only tool that these arguments match."""
    obj = loads_object(text)
    if obj is None or not (name.isdigit() or name.startswith("call_")):
        return name
    fit = [one for one, tool in tools.items() if set(required(tool)) <= set(obj) <= set(parameters(tool))]
    return fit[0] if len(fit) == 1 else name


def _render_result(result: ToolResult) -> str:
    """An id in another format was replaced when the call was rendered, so it is replaced here too."""
    call_id = result.call_id if _ID.fullmatch(result.call_id) else f"functions.{result.name or ''}"
    return f"## Return of {call_id}\n{result.text}"


_SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")


def _calls(not_head: str = r"(?!)") -> NamedJson:
    return NamedJson(
        ("<|tool_call_begin|>",),
        r"\s*(?P<name>[^\s<{][^<{\n]*?)\s*(?:<\|tool_call_argument_begin\|>)?\s*(?:```\w*\s*)?\"?",
        ends=("<|tool_call_end|>",),
        sections=_SECTIONS,
        section_ends=_ENDS,
        noise=("```", '"'),
        lost=("functions.",),
        not_head=not_head,
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
    render_calls=named_calls(
        "<|tool_call_begin|>{name}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>",
        "",
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        label="functions.{name}:{index}",
        own_label=_ID,
    ),
    render_result=_render_result,
    dropped=(*_ENDS, "<|tool_call_end|>", "<|im_end|>"),
    template_markers=(("<|tool_calls_section_begin|>",),),
    source="https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md",
)
