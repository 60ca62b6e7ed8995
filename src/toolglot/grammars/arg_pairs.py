"""The notation of GLM: the tool's name, then alternating keys and values, each in its tags.

<tool_call>f <arg_key>a</arg_key> <arg_value>1</arg_value> </tool_call>
"""

from __future__ import annotations

import re

from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import TaggedXml

# A name, and text that can't become one: the second pattern never matches text that may still become the first.
_NAME = r"""\s*([^\s<{\[\\"'(),;!?`=*]{1,300})(?:\s|\\n)*(?=[<{])"""
_DEAD = r"""\s*(?:[<{]|[^\s<{]*["'(),;!?`=*\[]|[^\s<{\\]+\s+[^\s<{\\])"""


def arg_pairs(
    opener: str = "<tool_call>",
    closer: str = "</tool_call>",
    *,
    outer: tuple[str, str] | None = None,
    suffix: str = "",
    separator: str = "",
    json_calls: bool = False,
    registered: bool = False,
) -> TaggedXml:
    """`suffix`: added to every tag before its `>`. `separator`: after the name. A tool's name opens a call too."""

    def tag(text: str) -> str:
        return text.replace(">", f"{suffix}>")

    key = tag("<arg_key>")
    named = (key, f"\n{key}", tag(separator)) if separator else (key, f"\n{key}")
    skipped = ("\\n", tag(separator)) if separator else ("\\n",)  # some models write the two characters for a line break
    return TaggedXml(
        Tags(
            (tag(opener), tag(closer)),
            {key: tag("</arg_value>")},
            re.compile(_NAME),
            re.compile(_DEAD),
            outer=(tag(outer[0]), tag(outer[1])) if outer else None,
            skipped=skipped,
            key=(tag("</arg_key>"), tag("<arg_value>")),
            json_calls=json_calls,
        ),
        re.compile(
            rf"\s*(?:{key}\s*)*(.{{0,300}}?)\s*"
            rf"(?:(?:{tag('</arg_key>')}(?:\s|\\n)*)+(?:{tag('<arg_value>')})?|{tag('<arg_value>')})",
            re.DOTALL,
        ),
        strong=True,
        weak_name=True,
        registered=registered,
        for_tool=None if registered else lambda name: tuple(name + behind for behind in named),
    )
