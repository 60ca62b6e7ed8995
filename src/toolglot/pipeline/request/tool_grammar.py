"""The grammar that holds a model to its dialect: free text until a call begins, then only a valid call.

Made from the same declaration as the dialect's parser, renderer and prompt. Three kinds, by server:

gbnf             llama.cpp: the fields `grammar`, `grammar_lazy`, `grammar_triggers` and `preserved_tokens`
structural_tag   vLLM and SGLang: a `response_format` of this type, as xgrammar defines it
json_schema      any server with JSON Schema: a `response_format` for the list of calls of constrained mode
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import CallerError
from toolglot.grammars.call_rules import CallForm, CallRules
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.gbnf import Rules
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.constrained import CALL_DIALECT, AnswerForm, answer_schema
from toolglot.pipeline.request.prompts import callable_tools

Kind = Literal["gbnf", "structural_tag", "json_schema"]
KINDS = ("gbnf", "structural_tag", "json_schema")
_PATTERN = 2  # llama.cpp's COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN: a regular expression over the text so far
_SPECIAL = re.compile(r"<[^<>\s]{1,80}>|\[/?[A-Z_]{2,40}\]")  # what may be one token that servers don't show
_SYNTAX = re.compile(r"[.^$|()*+?\[\]{}\\]")
_MAX_TOKENS = 32


class ToolGrammar(msgspec.Struct, frozen=True):
    """A grammar for a server that constrains decoding, and how to send it."""

    kind: Kind
    dialect: str
    grammar: str | dict[str, Any]  # the text of a GBNF grammar, a structural tag, or a JSON Schema
    body: dict[str, Any]  # the fields to add to the request's body
    triggers: tuple[str, ...] = ()  # after one of these texts only a call may follow; none: the answer begins with a call
    notes: tuple[str, ...] = ()  # what the grammar can't express and therefore allows


def grammar(
    tools: Any, dialect: str | Dialect, kind: Kind = "gbnf", *, required: bool = False, parallel: bool = True
) -> ToolGrammar:
    """The grammar for calls of these tools in a dialect.

    `required`: the answer is a call, without text before it. `parallel`: several calls may follow each other.

    Examples:
        >>> found = grammar([{"name": "now"}], "hermes", required=True)
        >>> type(found).__name__
        'ToolGrammar'
    """
    if kind not in KINDS:
        raise CallerError(unknown("kind of grammar", kind, list(KINDS)), "kind")
    declared = find_dialect(dialect) if isinstance(dialect, str) else dialect
    if declared is None:
        raise CallerError(unknown("dialect", str(dialect), known_dialects()), "dialect")
    shown = callable_tools(read_any_tools(tools))
    if not shown:
        raise CallerError("a grammar needs at least one tool that can be called", "tools")
    if kind == "json_schema":
        return _json_schema(shown, declared, required=required, parallel=parallel)
    form = declared.render_calls
    if not isinstance(form, CallForm):
        raise CallerError(f"the dialect {declared.name} has no grammar: its renderer does not give one", "dialect")
    if declared.weak and not required:
        raise CallerError(
            f"the dialect {declared.name} has no marker that begins a call, so no grammar can leave text free:"
            " use required=True, or a dialect with a marker",
            "dialect",
        )
    rules = Rules()
    calls = form.rules(rules, shown)
    build = _gbnf if kind == "gbnf" else _structural_tag
    return build(declared, rules, calls, required=required, parallel=parallel)


def _gbnf(dialect: Dialect, rules: Rules, calls: CallRules, *, required: bool, parallel: bool) -> ToolGrammar:
    """Text is free in the grammar itself, because llama.cpp takes the triggers only at /completion, not in a chat."""
    if required:
        text = rules.written(calls.whole(rules, parallel=parallel))
        return ToolGrammar("gbnf", dialect.name, text, {"grammar": text}, notes=tuple(rules.notes))
    begun = calls.begun(rules, parallel=parallel)
    text = rules.written(rules.text_until(begun, may_end=True))
    triggers = [{"type": _PATTERN, "value": f"({_SYNTAX.sub(_escaped, marker)})"} for marker in begun]
    tokens = list(dict.fromkeys(_SPECIAL.findall(calls.fixed_text())))[:_MAX_TOKENS]
    body = {"grammar": text, "grammar_lazy": True, "grammar_triggers": triggers, "preserved_tokens": tokens}
    return ToolGrammar("gbnf", dialect.name, text, body, tuple(begun), tuple(rules.notes))


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _structural_tag(dialect: Dialect, rules: Rules, calls: CallRules, *, required: bool, parallel: bool) -> ToolGrammar:
    begun = calls.begun(rules, parallel=parallel)
    tags = [
        {"type": "tag", "begin": marker, "content": {"type": "grammar", "grammar": rules.written(rest)}, "end": ""}
        for marker, rest in begun.items()
    ]
    form: dict[str, Any] = {"type": "triggered_tags", "triggers": list(begun), "tags": tags}
    if required:
        form["at_least_one"] = True
    if required or not parallel:
        form["stop_after_first"] = True
    tag = {"type": "structural_tag", "format": form}
    triggers = () if required else tuple(begun)
    return ToolGrammar("structural_tag", dialect.name, tag, {"response_format": tag}, triggers, tuple(rules.notes))


def _json_schema(tools: tuple[Tool, ...], dialect: Dialect, *, required: bool, parallel: bool) -> ToolGrammar:
    if dialect.name != CALL_DIALECT:
        raise CallerError(
            f"the dialect {dialect.name} has more than JSON in its calls: json_schema is for {CALL_DIALECT};"
            " use gbnf or structural_tag",
            "kind",
        )
    schema = answer_schema(tools, AnswerForm(required, parallel))
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return ToolGrammar("json_schema", dialect.name, schema, {"response_format": form})
