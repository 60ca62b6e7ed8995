"""Written by PLaMo 3: a section of requests, each with a name and JSON arguments between markers.

The constraint before the arguments (`<|plamo:constrain|>json`) may be missing.
"""

from __future__ import annotations

import re

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import PLAIN_RESULT, named_calls, tool_lines


def _markers(name: str) -> tuple[str, str]:
    return f"<|plamo:begin_{name}:plamo|>", f"<|plamo:end_{name}:plamo|>"


_ALL, _ONE, _NAME, _ARGUMENTS = map(_markers, ("tool_requests", "tool_request", "tool_name", "tool_arguments"))
_CONSTRAINT, _MESSAGE = "<|plamo:constrain|>json", "<|plamo:msg|>"
_BEFORE, _AFTER = re.escape(_NAME[0]), re.escape(_NAME[1])

DIALECT = Dialect(
    name="plamo3",
    grammars=(
        NamedJson(
            (_ONE[0],),
            rf"\s*{_BEFORE}\s*(?P<name>[^\s<{{]+)\s*{_AFTER}\s*{re.escape(_ARGUMENTS[0])}"
            rf"(?:{re.escape(_CONSTRAINT)})?(?:{re.escape(_MESSAGE)})?\s*",
            ends=(_ARGUMENTS[1], _ONE[1]),
            sections=_ALL[:1],
            section_ends=_ALL[1:],
        ),
    ),
    render_tools=tool_lines(),
    render_calls=named_calls(
        f"{_ONE[0]}{_NAME[0]}{{name}}{_NAME[1]}{_ARGUMENTS[0]}{_CONSTRAINT}{_MESSAGE}{{arguments}}{_ARGUMENTS[1]}{_ONE[1]}",
        "",
        *_ALL,
    ),
    render_result=PLAIN_RESULT,
    reasoning=(_markers("think"),),
    dropped=("<|plamo:tag|>",),
    template_markers=(("plamo:begin_", "tool_request"),),
    source="vllm/parser/plamo3.py of vLLM 0.33",
)
