"""Written by Inkling: each message begins with its kind; a call has the tool's name in the header and in the JSON.

The arguments are under `args`. The body of a call to a text-mode tool is passed to the tool as it is.
"""

from __future__ import annotations

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.channels import Channels
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines

_KEYS = Keys(arguments="args")


DIALECT = Dialect(
    name="inkling",
    grammars=(
        Channels(
            ("<|message_model|>", "<|content_invoke_tool_json|>"),
            r"(?:<\|message_model\|>)?(?P<name>[^<\s]*)<\|content_invoke_tool_(?:json|text)\|>\s*",
            r"<\|content_invoke_tool_(?:json|text)\|>\s*\S",
            ends=("<|end_message|>",),
            others=("<|message_model|>",),
            not_head=r"<\|message_model\|>[^<\n]*(?:\n|<\|content_[^i])",
            keys=_KEYS,
            text_mode="<|content_invoke_tool_text|>",
        ),
    ),
    render_tools=tool_lines(),
    render_calls=named_calls(
        "<|message_model|>{name}<|content_invoke_tool_json|>{arguments}<|end_message|>", keys=_KEYS, by_name=True
    ),
    render_result=PLAIN_RESULT,
    reasoning=(("<|message_model|><|content_thinking|>", "<|end_message|>"), ("<|content_thinking|>", "<|end_message|>")),
    dropped=("<|message_model|><|content_text|>", "<|content_text|>", "<|end_message|>"),
    template_markers=(("<|content_invoke_tool_json|>",),),
    source="https://github.com/sgl-project/sglang",
)
