"""Functionary v3.1: `<function=f>{json}</function>` for each call."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines

DIALECT = Dialect(
    name="functionary_v31",
    grammars=(
        NamedJson(
            ("<function=",),
            r"(?P<name>[^\s>{]+)>\s*",
            ends=("</function>",),
            hopeless=r"[^>\n]*(?:\n|>\s*[^\s{])",
        ),
    ),
    render_tools=tool_lines("", ""),
    render_calls=named_calls("<function={name}>{arguments}</function>"),
    render_result=PLAIN_RESULT,
    source="https://github.com/MeetKai/functionary",
)
