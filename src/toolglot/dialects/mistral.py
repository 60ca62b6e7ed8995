"""Written by Mistral: `[TOOL_CALLS]f[ARGS]{...}` for each call; before v11 one array after `[TOOL_CALLS]`.

Ids in the array have nine characters. From v11 there is no end marker, so exactly one JSON object is parsed. `[CALL_ID]` may
come before `[ARGS]`; either token may be missing.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.render_json import named_calls, result_text, tool_array
from toolglot.grammars.tagged_json import TOOL_CALLS_TOKEN
from toolglot.grammars.tagged_python import TaggedPython


def _named(not_head: str) -> NamedJson:
    return NamedJson(
        ("[TOOL_CALLS]",),
        r"\s*(?P<name>[^\s\[\]{}]+)\s*(?:\[CALL_ID\]\s*(?P<id>[^\s\[]+)\s*)?(?:\[ARGS\]|\[TOOL_CALLS\])?\s*",
        noise=("[/TOOL_CALLS]",),
        not_head=not_head,
        twice=True,
    )


_NAMED = _named(r"\s*(?:[^\s\w.:/-]|[\w.:/-]+\s+[^\s\[{])")
_LOST = NameFirst(_named(r"[^\[]*\[(?:ARGS|TOOL_CALLS)\]\s*[^\s{]"), "{}[ARGS]", "{}[TOOL_CALLS]")

DIALECT = Dialect(
    name="mistral",
    grammars=(_NAMED, _LOST, TOOL_CALLS_TOKEN, TaggedPython("[TOOL_CALLS]")),
    render_tools=tool_array("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    render_calls=named_calls("[TOOL_CALLS]{name}[ARGS]{arguments}"),
    render_result=result_text("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    reasoning=(("[THINK]", "[/THINK]"),),
    dropped=("[/TOOL_CALLS]",),
    template_markers=(("[TOOL_CALLS]",),),
    source="https://docs.mistral.ai/capabilities/function_calling",
)
