"""Written by Functionary v3.1, and by Llama if prompted for it: `<function=f>{json}</function>` for each call.

Llama omits the `>`, puts it after the arguments, or writes `(f)` for `=f>`. These are parsed for registered tools.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines

DIALECT = Dialect(
    name="functionary_v31",
    grammars=(
        NamedJson(
            ("<function=", "<function("),
            r"(?P<name>[^\s>{(\[)]+)\)?[ \t]*(?:\[\])?[ \t]*(?:>\s*)?(?:```\w*\s*)?",
            exact=r"[^\s>{]+>\s*",
            ends=("</function>",),
            noise=(">", "```"),
            not_head=r"[^>\n{]*(?:\n|>\s*[^\s{`])",
        ),
    ),
    render_tools=tool_lines("", ""),
    render_calls=named_calls("<function={name}>{arguments}</function>"),
    render_result=PLAIN_RESULT,
    template_hints=(("<function=",), ("<function=", "<|python_tag|>", "<|start_header_id|>")),
    source="https://github.com/MeetKai/functionary",
)
