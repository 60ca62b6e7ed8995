"""Written by Qwen2 and others trained on the older Qwen-Agent prompt: `✿` around the labels of name, arguments and result."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="qwen_agent",
    grammars=(
        NamedJson(
            ("✿FUNCTION✿:",),
            r"\s*(?P<name>[^\s{✿]+)\s*✿ARGS✿:\s*",
            noise=("✿RESULT✿:", "✿RESULT✿"),
            not_head=r"\s*+[^\s✿]++\s++[^\s✿]",
        ),
    ),
    render_tools=tool_lines(),
    render_calls=named_calls("✿FUNCTION✿: {name}\n✿ARGS✿: {arguments}", "\n"),
    render_result=result_text("✿RESULT✿: ", ""),
    dropped=("✿RESULT✿:", "✿RETURN✿:"),
    template_markers=(("✿FUNCTION✿",),),
    source="qwen_agent/llm/fncall_prompts/qwen_fncall_prompt.py of QwenLM/Qwen-Agent",
)
