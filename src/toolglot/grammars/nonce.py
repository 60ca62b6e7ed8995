"""A nonce in a dialect's markers, so that injected text can't forge a call.

The nonce comes after the opener's word: `~~~tool_call 7f3a`, `<tool_call 7f3a>`. Only the dialect with the nonce may be parsed
then: its form without the nonce, and all other dialects, are text.

A conversation keeps its nonce: it is derived from the first messages, so that the beginning of the prompt stays the same from
turn to turn, and from a secret, so that nobody else can compute it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable

import msgspec

from toolglot.core.messages import Message, Text
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.parsed_call import Grammar
from toolglot.grammars.render_json import RenderCalls, RenderResult, each_call, one_array, result_object, result_text
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython
from toolglot.io.json_codec import encode

_NONCE = re.compile(r"[A-Za-z0-9]{4,64}")
_DERIVED = 8  # characters of a derived one: small models copy a longer one with mistakes


class _Form(msgspec.Struct, frozen=True):
    """A dialect's markers with a nonce in place of `*`."""

    opener: str
    closer: str
    result: tuple[str, str]
    between: str = "\n"
    line: bool = False  # its markers are fences, on separate lines
    array: bool = False  # all calls in one array


_FORMS = {
    "tagged": _Form("~~~tool_call *", "~~~", ("~~~tool_result *\n", "\n~~~"), "\n\n", line=True),
    "fenced_json": _Form("```json *", "```", ("```json result *\n", "\n```"), "\n\n", line=True),
    "hermes": _Form("<tool_call *>", "</tool_call>", ("<tool_response *>\n", "\n</tool_response *>")),
    "granite4": _Form("<tool_call *>", "</tool_call>", ("<tool_response *>\n", "\n</tool_response *>")),
    "ernie45": _Form("<tool_call *>", "</tool_call>", ("<tool_output *>\n", "\n</tool_output *>")),
    "longcat": _Form(
        "<longcat_tool_call *>", "</longcat_tool_call>", ("<longcat_tool_response *>\n", "\n</longcat_tool_response *>")
    ),
    "jamba": _Form("<tool_calls *>", "</tool_calls>", ("<tool_response *>\n", "\n</tool_response *>"), array=True),
    "hunyuan_a13b": _Form("<tool_calls *>", "</tool_calls>", ("<tool_response *>\n", "\n</tool_response *>"), array=True),
    "nemotron_v2": _Form("<TOOLCALL *>", "</TOOLCALL>", ("<TOOL_RESPONSE *>\n", "\n</TOOL_RESPONSE *>"), array=True),
}
NONCE_DIALECTS = tuple(sorted(_FORMS))


def conversation_nonce(messages: Iterable[Message], secret: bytes) -> str:
    """The nonce of the conversation that begins with these messages."""
    first: list[list[str]] = []
    for message in messages:
        first.append([message.role, *(part.text for part in message.parts if isinstance(part, Text))])
        if message.role == "user":
            break
    return hmac.digest(secret, encode(first), "sha256").hex()[:_DERIVED]


def with_nonce(dialect: Dialect, nonce: str) -> Dialect:
    """The same dialect, but calls are parsed only with this nonce in the marker."""
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
        raise CallerError("a nonce is 4 to 64 letters and digits, new for each conversation", "nonce")
    form = _FORMS.get(dialect.name)
    if form is None:
        known = ", ".join(NONCE_DIALECTS)
        raise CallerError(f"dialect {dialect.name} does not support a nonce; these do: {known}", "nonce")
    opener = form.opener.replace("*", nonce)
    return msgspec.structs.replace(
        dialect,
        grammars=_grammars(opener, form),
        render_calls=_calls(opener, form),
        render_result=_result(form, nonce),
        weak=False,  # the marker can't occur by chance
    )


def _grammars(opener: str, form: _Form) -> tuple[Grammar, ...]:
    json = TaggedJson((opener,), (form.closer,), must_read=True, at_line_start=form.line)
    return (json, TaggedPython(opener, form.closer))


def _calls(opener: str, form: _Form) -> RenderCalls:
    if form.array:
        return one_array(f"{opener}[", f"]{form.closer}")
    return each_call(f"{opener}\n", f"\n{form.closer}", form.between)


def _result(form: _Form, nonce: str) -> RenderResult:
    """The end marker has the nonce too, or the result is JSON, so that the content can't end it."""
    before, after = (text.replace("*", nonce) for text in form.result)
    return result_object(before, after, "name", "content") if form.line else result_text(before, after)
