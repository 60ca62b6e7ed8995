"""Functionary v3.2: `>>>f`, a newline and JSON for each call; `>>>all` before what is said to everybody.

The first `>>>` stands in the prompt, so that the text may begin with a tool's name.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines

_NAMED = NamedJson((">>>",), r"(?P<name>[\w.-]+)\n\s*", hopeless=r"[\w.-]*(?:[^\w.\n-]|(?<=[\w.-])\n\s*[^\s{]|(?<![\w.-])\n)")

DIALECT = Dialect(
    name="functionary_v32",
    grammars=(_NAMED, NameFirst(_NAMED)),
    render_tools=tool_lines("", ""),
    render_calls=named_calls(">>>{name}\n{arguments}", "\n"),
    render_result=PLAIN_RESULT,
    dropped=(">>>all\n",),
    weak=True,
    source="https://github.com/MeetKai/functionary",
)
