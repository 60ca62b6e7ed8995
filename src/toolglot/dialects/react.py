"""ReAct, as agents' prompts teach it: `Action: f`, then `Action Input: {...}`; results come back as `Observation:`.

Its two labels are markers enough: it is not a weak form. But only registered tools are heard, for the labels are plain words.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.react import REACT
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="react",
    grammars=(REACT,),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=named_calls("Action: {name}\nAction Input: {arguments}", "\n"),
    render_result=result_text("Observation: ", ""),
    source="https://arxiv.org/abs/2210.03629",
)
