"""The openers of a grammar, those with a tool's name written out."""

from __future__ import annotations

from typing import Any

from toolglot.grammars.known_names import spellings
from toolglot.grammars.parsed_call import Tools


def bound(grammar: Any, tools: Tools) -> Any:
    """The grammar that knows the tools, if it needs them."""
    return grammar.for_tools(tools) if hasattr(grammar, "for_tools") else grammar


def openers_of(grammar: Any, tools: Tools) -> list[str]:
    named = [form.before + name + form.after for form in getattr(grammar, "named_forms", ()) for name in spellings(tools)]
    return [*grammar.openers, *named]
