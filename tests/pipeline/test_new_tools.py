"""What new tools cost: nothing is compiled for their names, and no grammar is bound to them before one is found."""

from __future__ import annotations

import re

import pytest

import toolglot
from toolglot.grammars.call_expression import CallExpression
from toolglot.grammars.name_then_json import NameThenJson
from toolglot.grammars.nested_tags import ToolTags

GRAMMARS = (CallExpression, NameThenJson, ToolTags)


def text_with(name: str) -> str:
    return f'Let me look.\n<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>\nI read (`x`), then {{go}} on.'


def tools_named(name: str) -> list[dict[str, object]]:
    return [{"name": name}, {"name": f"{name}.all"}, {"name": f"a{name}"}]


def test_new_tools_compile_no_pattern_and_bind_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    toolglot.extract(text_with("read_file"), tools_named("read_file"))
    done: list[object] = []
    monkeypatch.setattr(re, "compile", lambda *args: done.append(args))
    for grammar in GRAMMARS:
        monkeypatch.setattr(grammar, "for_tools", lambda self, tools: done.append(self))
    for at in range(5):
        name = f"read_new_file_{at}"
        assert [call.name for call in toolglot.extract(text_with(name), tools_named(name)).calls] == [name]
    assert done == []
