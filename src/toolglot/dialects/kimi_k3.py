"""Written by Kimi K3 (XTML): tags made of special tokens, escaped attributes, raw values with their type next to the key."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.xtml import xtml

_CALLS = calls_in_tags(
    ('<|open|>call tool="{name}" index="{index}"<|sep|>', "<|close|>call<|sep|>"),
    tag('<|open|>argument key="{key}" type="{type}"<|sep|>', "<|close|>argument<|sep|>"),
    around=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    between="",
    escaped=True,
)

DIALECT = Dialect(
    name="kimi_k3",
    grammars=(xtml(), xtml(glued=True)),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<|open|>result<|sep|>", "<|close|>result<|sep|>"),
    reasoning=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
    dropped=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
    ),
    template_markers=(("<|open|>", "<|sep|>"),),
    source="the chat template of moonshotai/Kimi-K3",
)
