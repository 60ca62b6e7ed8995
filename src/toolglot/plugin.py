"""What a plugin is made of: the stable names for other packages. How: docs/how-to/plugins.md.

`toolglot dialect check` runs all laws on a dialect, and `toolglot plugins` lists what is installed. `Wire` follows the APIs and
may change in a minor version; everything else here changes only in a major one.
"""

from __future__ import annotations

from toolglot.core.interfaces import Quirks, Wire
from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.grammars.call_objects import Keys
from toolglot.grammars.dialect import THINK, Dialect
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.parsed_call import Grammar, ParsedCall, Region, RegionResult, Tools
from toolglot.grammars.pythonic import MarkedPython
from toolglot.grammars.render_json import (
    PLAIN_RESULT,
    each_call,
    named_calls,
    one_array,
    result_object,
    result_text,
    tool_array,
    tool_lines,
)
from toolglot.grammars.render_python import python_calls
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml
from toolglot.wires import find_wire

__all__ = [
    "ATTRIBUTE",
    "PLAIN_RESULT",
    "THINK",
    "Dialect",
    "Grammar",
    "Keys",
    "MarkedPython",
    "NamedJson",
    "ParsedCall",
    "Quirks",
    "Region",
    "RegionResult",
    "TaggedJson",
    "TaggedPython",
    "TaggedXml",
    "Tags",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Tools",
    "Wire",
    "calls_in_tags",
    "each_call",
    "find_wire",
    "named_calls",
    "one_array",
    "python_calls",
    "result_in",
    "result_object",
    "result_text",
    "tag",
    "tool_array",
    "tool_lines",
]
