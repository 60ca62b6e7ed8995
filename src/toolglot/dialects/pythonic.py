"""Written by Llama 3.2 (1B, 3B), ToolACE and Gemma 3's template: a bare Python list of calls, `[f(a=1), g(b="x")]`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.pythonic import BARE_LIST
from toolglot.grammars.render_json import PLAIN_RESULT, tool_array
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="pythonic",
    grammars=(BARE_LIST,),
    render_tools=tool_array(wrapped=False),
    render_calls=python_calls("[", "]"),
    render_result=PLAIN_RESULT,
    weak=True,
    template_markers=(("[func_name1(",),),
    source="https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_2",
)
