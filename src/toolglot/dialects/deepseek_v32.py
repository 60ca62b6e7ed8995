"""Written by DeepSeek V3.2 (DSML): tags with fullwidth bars; the attribute `string` marks a value as text or JSON.

Its wrapper is `function_calls`, V4's is `tool_calls`; neither accepts the other's. Misspelt marks are parsed for both: models
double the bars, servers and copies write them in ASCII, and then any wrapper is accepted.
"""

from __future__ import annotations

from dataclasses import replace

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import TagCalls, calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml

_MARK = "｜DSML｜"
_MISSPELT = ("｜｜DSML｜｜", "｜｜DSML｜｜ ", "|DSML|", "||DSML||", "‖DSML‖", " | DSML | ", "DSML ")
_WRAPPERS = ("tool_calls", "function_calls", "calls", "tool_use")


def dsml_tags(outer: str, mark: str = _MARK) -> Tags:
    return Tags(
        (f"<{mark}invoke name=", f"</{mark}invoke>"),
        {f"<{mark}parameter name=": f"</{mark}parameter>"},
        ATTRIBUTE,
        BROKEN,
        outer=(f"<{mark}{outer}>", f"</{mark}{outer}>"),
    )


def dsml(outer: str, refused: str) -> TaggedXml:
    """A call without its opening wrapper may be followed by the closing tag of either wrapper; both are accepted."""
    tags, foreign = dsml_tags(outer), dsml_tags(refused)
    return TaggedXml(replace(tags, closers=foreign.outer[1:] if foreign.outer else ()), ATTRIBUTE, strong=True, foreign=foreign)


def _misspelt(mark: str) -> TaggedXml:
    first, *others = _WRAPPERS
    tags = replace(dsml_tags(first, mark), closers=tuple(f"</{mark}{other}>" for other in others))
    return TaggedXml(tags, ATTRIBUTE, strong=True, headers=tuple(f"<{mark}{other}>" for other in others))


MISSPELT = tuple(map(_misspelt, _MISSPELT))


def dsml_calls(outer: str, mark: str = _MARK) -> TagCalls:
    return calls_in_tags(
        (f'<{mark}invoke name="{{name}}">\n', f"</{mark}invoke>"),
        tag(f'<{mark}parameter name="{{key}}" string="{{string}}">', f"</{mark}parameter>\n"),
        around=(f"<{mark}{outer}>\n", f"\n</{mark}{outer}>"),
    )


_CALLS = dsml_calls("function_calls")

DIALECT = Dialect(
    name="deepseek_v32",
    grammars=(dsml("function_calls", "tool_calls"), *MISSPELT),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<function_results>\n<result>", "</result>\n</function_results>"),
    template_markers=(("DSML", "function_calls>"),),
    source="encoding_dsv32.py of deepseek-ai/DeepSeek-V3.2",
)
