"""Mistral: before v11 one array behind `[TOOL_CALLS]`, with ids of nine characters; from v11 `[TOOL_CALLS]f[ARGS]{...}` each.

From v11 there is no end marker: exactly one JSON object is read. `[CALL_ID]` may stand before `[ARGS]`; either
token may be missing.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson, NameFirst
from toolglot.grammars.render_json import named_calls, result_text, tool_array
from toolglot.grammars.tagged_json import TOOL_CALLS_TOKEN
from toolglot.grammars.tagged_python import TaggedPython


def _named(hopeless: str) -> NamedJson:
    return NamedJson(
        ("[TOOL_CALLS]",),
        r"\s*(?P<name>[^\s\[\]{}]+)\s*(?:\[CALL_ID\]\s*(?P<id>[^\s\[]+)\s*)?(?:\[ARGS\])?\s*",
        noise=("[/TOOL_CALLS]",),
        hopeless=hopeless,
    )


_NAMED = _named(r"\s*(?:[^\s\w.:/-]|[\w.:/-]+\s+[^\s\[{])")
_LOST = NameFirst(_named(r"[^\[]*\[ARGS\]\s*[^\s{]"), "{}[ARGS]")

DIALECT = Dialect(
    name="mistral",
    grammars=(_NAMED, _LOST, TOOL_CALLS_TOKEN, TaggedPython("[TOOL_CALLS]")),
    render_tools=tool_array("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    render_calls=named_calls("[TOOL_CALLS]{name}[ARGS]{arguments}"),
    render_result=result_text("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    reasoning=(("[THINK]", "[/THINK]"),),
    dropped=("[/TOOL_CALLS]",),
    source="https://docs.mistral.ai/capabilities/function_calling",
)
