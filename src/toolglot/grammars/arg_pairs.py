"""The notation of GLM: the tool's name, then alternating keys and values, each in its tags.

<tool_call>f <arg_key>a</arg_key> <arg_value>1</arg_value> </tool_call>
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import TaggedXml, by_schema, text_by_schema
from toolglot.schema.coerce_text import allows, typed_value

# A name, and text that can't become one: the second pattern never matches text that may still become the first.
_NAME = re.compile(r"""\s*([^\s<{\[\\"'(),;!?`=*]{1,300})(?:\s|\\n)*(?=[<{])""")
_DEAD = re.compile(r"""\s*(?:[<{]|[^\s<{]*["'(),;!?`=*\[]|[^\s<{\\]+\s+[^\s<{\\])""")

_TYPE = ("<arg_type>", "</arg_type>")

Spelling = Callable[[str], str]  # how a dialect writes a tag


def arg_pairs(
    opener: str = "<tool_call>",
    closer: str = "</tool_call>",
    *,
    outer: tuple[str, str] | None = None,
    separator: str = "",
    prefix: str = "",
    typed: bool = False,
    json_calls: bool = False,
    registered: bool = False,
    named: bool = True,
) -> TaggedXml:
    """`prefix`: at the start of every tag's name. `separator`: after the tool's name. `typed`: a tag between key and value may
    name its type. `named`: a tool's name with the tag of a key opens a call too.
    """

    def tag(text: str) -> str:
        slash = text.startswith("</")
        return f"<{'/' * slash}{prefix}{text[1 + slash :]}" if text else ""

    key = tag("<arg_key>")
    behind = tuple(filter(None, (key, f"\n{key}", tag(separator))))
    return TaggedXml(
        pair_tags(tag, (opener, closer), outer, (separator, *(_TYPE if typed else ())), json_calls=json_calls),
        value_head(lambda text: re.escape(tag(text)), typed=typed),
        strong=True,
        weak_name=True,
        registered=registered,
        behind_name=behind if named and not registered else (),
        read=_declared if typed else by_schema,
        plain=_is_declared_text if typed else text_by_schema,
    )


def pair_tags(
    tag: Spelling,
    call: tuple[str, str],
    outer: tuple[str, str] | None,
    skipped: tuple[str, ...],
    *,
    json_calls: bool = False,
    of: type[Tags] = Tags,
) -> Tags:
    return of(
        (tag(call[0]), tag(call[1])),
        {tag("<arg_key>"): tag("</arg_value>")},
        _NAME,
        _DEAD,
        outer=(tag(outer[0]), tag(outer[1])) if outer else None,
        skipped=("\\n", *map(tag, filter(None, skipped))),  # some models write the two characters for a line break
        key=(tag("</arg_key>"), tag("<arg_value>")),
        json_calls=json_calls,
    )


def value_head(tag: Spelling, *, typed: bool = False) -> re.Pattern[str]:
    """The key with all tags up to the value. `tag` gives a pattern."""
    begin, end = map(tag, _TYPE)
    declared = rf"(?:{begin}(?P<type>[^<]{{0,300}}){end}\s*+)?(?!{begin})" if typed else ""
    return re.compile(
        rf"\s*(?:{tag('<arg_key>')}\s*)*(.{{0,300}}?)\s*"
        rf"(?:(?:{tag('</arg_key>')}(?:\s|\\n)*+)+{declared}(?:{tag('<arg_value>')})?|{tag('<arg_value>')})",
        re.DOTALL,
    )


def _is_text(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    kind = (head["type"] or "").strip().lower()
    return kind == "string" and allows(schema, "string")


def _declared(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """The schema types a value; the declared type decides what the schema leaves open."""
    kind = (head["type"] or "any").partition("[")[0].strip().lower()
    if _is_text(head, schema):
        return raw
    return by_schema(raw, head, schema, known) if kind in {"any", "string"} else typed_value(raw, schema)


def _is_declared_text(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    return _is_text(head, schema) or text_by_schema(head, schema)
