"""Kimi K3's way: tags made of special tokens, with escaped attributes and raw values that carry their type.

<|open|>call tool="f" index="1"<|sep|> <|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>
    <|close|>call<|sep|>
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from toolglot.grammars.tag_walk import Tags
from toolglot.grammars.tagged_xml import TaggedXml
from toolglot.schema.typed import is_text, json_or, typed_value

_ATTRIBUTES = r"""(?=[^<]*?\s{}\s*=\s*"([^"]*)")(?P<more>[^<]*)<\|sep\|>"""
_TYPE = re.compile(r"""\stype\s*=\s*"([^"]*)\"""")


def _named(found: re.Match[str]) -> str:
    return unescape(found[1])


def _typed(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """The type is written beside the key; the schema helps where it is not."""
    said = _TYPE.search(head["more"])
    if said is None:
        return typed_value(raw, schema)
    return raw if said[1] == "string" else json_or(raw, schema)


def _plainly_text(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    said = _TYPE.search(head["more"])
    return said[1] == "string" if said else is_text(schema)


class Xtml(TaggedXml):
    """Keys are attributes, and so escaped as the name is."""

    def key_of(self, head: re.Match[str], opener: str) -> str:
        return unescape(head[1])


def xtml(*, glued: bool = False) -> Xtml:
    """`glued`: the tokens between the wrapper and its first call, and behind its end, got lost."""
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
        plain=_plainly_text,
    )
