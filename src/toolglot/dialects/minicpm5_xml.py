"""Written by MiniCPM5: XML calls without a wrapper; values that look like markup are in CDATA."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, cdata_value, result_in
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml, from_cdata

_SPACES = (" ", "", "\u0120")  # decoded one by one, tokens lose their space, or show it as the tokenizer writes it
_CALLS = calls_in_tags(
    ('<function name="{name}">', "</function>"),
    cdata_value('<param name="{key}">', "</param>"),
)

DIALECT = Dialect(
    name="minicpm5_xml",
    grammars=(
        TaggedXml(
            Tags(
                ("<function name=", "</function>"),
                {f"<param{space}name=": "</param>" for space in _SPACES},
                ATTRIBUTE,
                BROKEN,
                variants=tuple((f"<function{space}name=", "</function>") for space in _SPACES[1:]),
                cdata=True,
            ),
            ATTRIBUTE,
            read=from_cdata,
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>\n", "\n</tool_response>"),
    template_hints=(("<function name=", "<param name="),),
    source="the chat template of openbmb/MiniCPM5",
)
