"""Written by models that Cherry Studio and similar clients prompt: name and arguments in separate elements.

Models also write other elements with the same content. These are parsed for registered tools.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.named_elements import with_input_element, with_name_attribute, with_name_element
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="tool_use_xml",
    grammars=(
        NamedJson(
            ("<tool_use>",),
            r"\s*<name>\s*(?P<name>[^<>\s]+)\s*</name>\s*<arguments>\s*",
            ends=("</tool_use>",),
            noise=("</arguments>",),
            not_head=r"\s*(?:[^\s<]|<[^n]|<name>[^<]*</name>\s*(?:[^\s<]|<[^a]))",
        ),
        *map(with_name_element, ("tool_use", "tool_call", "function_call", "function", "use_tool")),
        *map(with_name_attribute, ("tool_use", "tool_call", "function_call")),
        with_name_attribute("function", outer="tool_call"),
        with_input_element("tool", "tool_input"),
    ),
    render_tools=tool_lines(),
    render_calls=named_calls("<tool_use>\n  <name>{name}</name>\n  <arguments>{arguments}</arguments>\n</tool_use>", "\n"),
    render_result=result_text("<tool_use_result>\n  <name>{name}</name>\n  <result>", "</result>\n</tool_use_result>"),
    template_markers=(("<tool_use>",),),
    source="the tool prompt of CherryHQ/cherry-studio",
)
