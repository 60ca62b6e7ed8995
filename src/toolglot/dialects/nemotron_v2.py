"""Written by Nemotron-Nano-v2: one array in `<TOOLCALL>` tags."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_text, tool_array
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="nemotron_v2",
    grammars=(TaggedJson(("<TOOLCALL>",), ("</TOOLCALL>",)), TaggedPython("<TOOLCALL>", "</TOOLCALL>")),
    render_tools=tool_array("<AVAILABLE_TOOLS>", "</AVAILABLE_TOOLS>", wrapped=False),
    render_calls=one_array("<TOOLCALL>[", "]</TOOLCALL>"),
    render_result=result_text("<TOOL_RESPONSE>[", "]</TOOL_RESPONSE>"),
    template_markers=(("<TOOLCALL>",),),
    source="https://huggingface.co/nvidia/NVIDIA-Nemotron-Nano-9B-v2",
)
