"""How Acme's models write calls: a JSON object between `<acme:call>` and `</acme:call>`."""

from toolglot.plugin import Dialect, TaggedJson, each_call, result_text, tool_lines

DIALECT = Dialect(
    name="acme",
    grammars=(TaggedJson(("<acme:call>",), ("</acme:call>",)),),
    render_tools=tool_lines(),
    render_calls=each_call("<acme:call>\n", "\n</acme:call>"),
    render_result=result_text("<acme:result>\n", "\n</acme:result>"),
    template_markers=(("<acme:call>",),),
    source="the chat template of Acme's models",
)
