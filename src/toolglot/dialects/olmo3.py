"""Written by Olmo 3: Python calls, one per line, `<function_calls>f(a=1)\\ng(b=2)</function_calls>`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.pythonic import MarkedPython
from toolglot.grammars.render_json import PLAIN_RESULT, tool_array
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="olmo3",
    grammars=(MarkedPython("<function_calls>", "</function_calls>"),),
    render_tools=tool_array("You have these functions: <functions>", "</functions>"),
    render_calls=python_calls("<function_calls>", "</function_calls>", "\n"),
    render_result=PLAIN_RESULT,
    template_hints=(("<function_calls>",),),
    source="https://huggingface.co/allenai/Olmo-3-7B-Instruct",
)
