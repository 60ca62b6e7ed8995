"""Written by models with a ReAct prompt: `Action: f`, then `Action Input: {...}`; results come back as `Observation:`.

The two labels together are a reliable marker, so it is not a weak form. Only registered tools are parsed, because the labels
are ordinary words.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.react import REACT
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="react",
    grammars=(REACT,),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=named_calls("Action: {name}\nAction Input: {arguments}", "\n", by_name=True),
    render_result=result_text("Observation: ", ""),
    template_hints=(("Action Input:",),),
    source="https://arxiv.org/abs/2210.03629",
)
