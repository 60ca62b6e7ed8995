"""Written by DeepSeek V3, R1-0528 and its distills, and Cogito: type, separator, name, then arguments in a fenced block.

Also parsed: V3.1's form, a missing outer marker, no newline before the closing fence, fences inside the arguments.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

_SEPARATOR = "<[｜|]tool[▁_]sep[｜|]>"


def _token(name: str) -> tuple[str, ...]:
    """A token with full-width bars; some templates have ASCII bars, and some also ASCII underscores."""
    return f"<｜{name}｜>", f"<|{name}|>", f"<|{name.replace('▁', '_')}|>"


# V3 and V3.1 write different heads between the same markers, and models mix them up: both dialects parse both.
DEEPSEEK = NamedJson(
    _token("tool▁call▁begin"),
    rf"\s*(?:(?:function)?\s*{_SEPARATOR})?\s*(?P<name>[^\s<{{`]+)\s*(?:{_SEPARATOR})?\s*(?:(?:```\w*|json)\s*)?",
    exact=rf"function{_SEPARATOR}\s*[^\s<]+\s*\n```json\s*|[^<]+{_SEPARATOR}\s*",
    ends=_token("tool▁call▁end"),
    sections=_token("tool▁calls▁begin"),
    section_ends=_token("tool▁calls▁end"),
    noise=("```",),
)
DROPPED = tuple(
    form
    for name in (
        "tool▁calls▁end",
        "tool▁call▁end",
        "tool▁outputs▁begin",
        "tool▁outputs▁end",
        "tool▁output▁begin",
        "tool▁output▁end",
        "end▁of▁sentence",
    )
    for form in _token(name)
)

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
    template_markers=(("tool▁sep", "```json"),),
    source="https://huggingface.co/deepseek-ai/DeepSeek-V3-0324",
)
