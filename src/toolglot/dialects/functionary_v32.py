"""Written by Functionary v3.2: `>>>f`, a newline and JSON for each call; `>>>all` comes before plain text.

The first `>>>` is part of the prompt, so the output may begin with a tool's name.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines

_NAMED = NamedJson((">>>",), r"(?P<name>[\w.-]+)\n\s*", not_head=r"[\w.-]*(?:[^\w.\n-]|(?<=[\w.-])\n\s*[^\s{]|(?<![\w.-])\n)")

DIALECT = Dialect(
    name="functionary_v32",
    grammars=(_NAMED, NameFirst(_NAMED)),
    render_tools=tool_lines("", ""),
    render_calls=named_calls(">>>{name}\n{arguments}", "\n"),
    render_result=PLAIN_RESULT,
    dropped=(">>>all\n",),
    weak=True,
    template_markers=((">>>all",),),
    source="https://github.com/MeetKai/functionary",
)
