"""Written by gpt-oss (Harmony): messages on channels; a call is a message to the recipient `functions.f`.

The recipient comes before or after the channel. Reasoning is the channel analysis, preambles are commentary without a
recipient, the answer is final. `<|call|>` ends the generation and is often missing; `<|constrain|>` may be missing too. If a
server strips all tokens, ` to=functions.f json{...}` is left.
"""

from __future__ import annotations

from toolglot.grammars.channels import Channels
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls
from toolglot.grammars.render_signature import namespace


def _messages(*openers: str, at_line_start: bool = False) -> Channels:
    """If tokens are missing, some words in another script may be in their place."""
    return Channels(
        openers,
        r"[^\n]*?\bto=(?P<name>[^\s<{]+)"
        r"(?:[^\n{]*?<\|message\|>|\s*(?:<\|constrain\|>)?(?:[^\x00-\x7f\n]{1,40}\s*)?(?:json|code)?)\s*",
        r"<\|message\|>\s*\S|\{",
        ends=("<|call|>", "<|end|>", "<|return|>"),
        others=("<|start|>", "<|channel|>"),
        not_head=r"[^\n]*?\bto=(?:\s|[^\s<{]+\s+(?!json|code|<|\{)[a-z]{5}|[^{\n]*\n\s*[^\s{])",
        prefix="functions.",
        at_line_start=at_line_start,
    )


DIALECT = Dialect(
    name="harmony",
    grammars=(
        _messages(
            *("<|start|>assistant to=", "<|channel|>commentary to=", "<|channel|>analysis to=", "<|channel|>final to="),
            " to=functions.",
        ),
        _messages("to=functions.", at_line_start=True),
    ),
    render_tools=namespace("functions"),
    render_calls=named_calls(
        "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>", "<|start|>assistant"
    ),
    render_result=PLAIN_RESULT,
    reasoning=(("<|channel|>analysis<|message|>", "<|end|>"),),
    dropped=(
        "<|channel|>commentary to=assistant",
        "<|channel|>commentary<|message|>",
        "<|channel|>final<|message|>",
        "<|channel|>final <|constrain|>json<|message|>",
        "<|start|>assistant",
        "<|start|>user",
        "<|start|>system",
        "<|start|>developer",
        "<|message|>",
        "<|call|>",
        "<|end|>",
        "<|return|>",
    ),
    template_markers=(("<|channel|>", "<|message|>"),),
    source="https://cookbook.openai.com/articles/openai-harmony",
)
