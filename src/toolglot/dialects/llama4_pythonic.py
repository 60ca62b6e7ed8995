"""Written by Llama 4: a Python list of calls, `<|python_start|>[f(a=1)]<|python_end|>`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.pythonic import MarkedPython
from toolglot.grammars.render_json import PLAIN_RESULT, tool_array
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="llama4_pythonic",
    grammars=(MarkedPython("<|python_start|>", "<|python_end|>"),),
    render_tools=tool_array(wrapped=False),
    render_calls=python_calls("<|python_start|>[", "]<|python_end|>"),
    render_result=PLAIN_RESULT,
    dropped=("<|python_end|>", "<|eom|>", "<|eot|>"),
    template_hints=(("<|python_start|>",),),
    source="https://www.llama.com/docs/model-cards-and-prompt-formats/llama4",
)
