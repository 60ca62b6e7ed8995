"""Which calls of a fixture a dialect's grammar for constrained decoding does not accept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.evaluation.dialect_cases import Case
from toolglot.evaluation.gbnf_matcher import GbnfMatcher
from toolglot.evaluation.hard_values import declared
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_gemma import GemmaCalls
from toolglot.grammars.render_xml import TagCalls
from toolglot.pipeline.request.tool_grammar import grammar


def matcher(name: str, tools: Toolset, *, required: bool) -> GbnfMatcher:
    return cached_for_toolset(tools, ("matcher", name, required), _matcher)


def _matcher(tools: tuple[Tool, ...], key: tuple[str, str, bool]) -> GbnfMatcher:
    text = grammar(tools, key[1], required=key[2]).grammar
    if not isinstance(text, str):
        raise TypeError(f"a GBNF grammar is text, not {type(text).__name__}")
    return GbnfMatcher(text)


def ordered_call(name: str, arguments: Any, tools: Toolset) -> ToolCall:
    """With its arguments in the order of the schema, which a grammar fixes."""
    tool = next((one for one in tools if one.full_name == name), None)
    order = list((tool.schema or {}).get("properties", {})) if tool else []
    ordered = sorted(arguments, key=lambda key: order.index(key) if key in order else len(order))
    return ToolCall(f"{name}_0", name, json.dumps({key: arguments[key] for key in ordered}, ensure_ascii=False))


def raw_text_ends(dialect: Dialect, value: str) -> bool:
    """Whether a text contains the tag that ends it, where text is written as it is: no grammar can tell them apart."""
    form = dialect.render_calls
    tags = form.value if isinstance(form, TagCalls) else None
    closer = getattr(tags, "closer", getattr(tags, "mark", None))
    if closer is None and isinstance(form, GemmaCalls):
        return form.form.mark in value
    return closer is not None and closer.strip().replace("{key}", "content") in value


def is_expressible(name: str, case: Case) -> bool:
    """Not with parameters that nobody declared, nor with text that contains the tag that ends it."""
    known = {tool.full_name: (tool.schema or {}).get("properties", {}) for tool in case.toolset}
    declared_only = all(key in known.get(called, ()) for called, arguments in case.wanted for key in arguments)
    texts = (json.dumps(arguments, ensure_ascii=False) for _, arguments in case.wanted)
    return declared_only and not any(raw_text_ends(declared(name), text) for text in texts)


def rejected_calls(name: str, cases: tuple[Case, ...]) -> Iterator[str]:
    dialect = declared(name)
    for case in cases:
        if not (case.calls and case.toolset and is_expressible(name, case)):
            continue
        text = dialect.render_calls(tuple(ordered_call(called, arguments, case.toolset) for called, arguments in case.wanted))
        texts = {True: text, False: f"Let me <see> [it].\n{text}"}
        for required, given in texts.items():
            if (required or not dialect.weak) and not matcher(name, case.toolset, required=required).accepts(given):
                yield f"{case.name}: not accepted: {given!r}"
