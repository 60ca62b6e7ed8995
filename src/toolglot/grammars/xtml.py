"""The notation of Kimi K3: tags made of special tokens, with escaped attributes and raw values with a type attribute.

<|open|>call tool="f" index="1"<|sep|> <|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>
    <|close|>call<|sep|>
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import TaggedXml
from toolglot.schema.coerce_text import is_text, json_or, typed_value

_ATTRIBUTES = r"""(?=[^<]*?\s{}\s*=\s*"([^"]*)")(?P<more>[^<]*)<\|sep\|>"""
_TYPE = re.compile(r"""\stype\s*=\s*"([^"]*)\"""")


def _named(found: re.Match[str]) -> str:
    return unescape(found[1])


def _typed(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """A value typed by its `type` attribute, or by the schema without one."""
    declared = _TYPE.search(head["more"])
    if declared is None:
        return typed_value(raw, schema)
    return raw if declared[1] == "string" else json_or(raw, schema)


def _is_declared_text(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    declared = _TYPE.search(head["more"])
    return declared[1] == "string" if declared else is_text(schema)


class Xtml(TaggedXml):
    """Keys are attributes, so they are escaped like the name."""

    def key_of(self, head: re.Match[str], opener: str) -> str:
        return unescape(head[1])


def xtml(*, glued: bool = False) -> Xtml:
    """`glued`: the tokens between the wrapper and its first call, and after its end, are missing."""
    outer = ("<|open|>tools<|sep|>", "<|close|>toolsmessage<|sep|>" if glued else "<|close|>tools<|sep|>")
    return Xtml(
        Tags(
            ("<|open|>toolscall" if glued else "<|open|>call", "<|close|>call<|sep|>"),
            {"<|open|>argument": "<|close|>argument<|sep|>"},
            re.compile(_ATTRIBUTES.format("tool")),
            re.compile(r"[^<]*<[^|]|[^<]*<\|[^s]"),
            outer=outer,
            name_of=_named,
        ),
        re.compile(_ATTRIBUTES.format("key")),
        strong=True,
        read=_typed,
        plain=_is_declared_text,
    )
