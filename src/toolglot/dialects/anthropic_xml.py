"""Written by Claude: `<invoke name="f">` elements in `<function_calls>`, with or without a namespace.

The wrapper may be missing or have another name.
"""

from __future__ import annotations

from dataclasses import replace

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml

_NAMESPACE = "antml:"
_OTHERS = ("tool_calls", "tool_call", "minimax:tool_call", "dots_function_call")  # wrappers of other families
_CALLS = calls_in_tags(
    ('<invoke name="{name}">\n', "</invoke>"),
    tag('<parameter name="{key}">', "</parameter>\n"),
    around=("<function_calls>\n", "\n</function_calls>"),
)


def _tags(space: str) -> Tags:
    return Tags(
        (f"<{space}invoke name=", f"</{space}invoke>"),
        {f"<{space}parameter name=": f"</{space}parameter>"},
        ATTRIBUTE,
        BROKEN,
        outer=(f"<{space}function_calls>", f"</{space}function_calls>"),
    )


_PLAIN = replace(_tags(""), closers=tuple(f"</{other}>" for other in _OTHERS))

DIALECT = Dialect(
    name="anthropic_xml",
    grammars=(
        TaggedXml(_PLAIN, ATTRIBUTE, headers=("<tool_calls>", "<tool_call>")),
        TaggedXml(_tags(_NAMESPACE), ATTRIBUTE, strong=True),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<function_results>\n", "\n</function_results>"),
    template_hints=(("<function_calls>", "<invoke name="),),
    source="the legacy tool use of anthropics/courses, and issues of anthropics/claude-code",
)
