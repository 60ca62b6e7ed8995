"""Wire names do not leak: what a wire is like, it declares. Elsewhere no code compares its name or has a table by it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import toolglot
from toolglot.wires import NAMES, wires

ROOT = Path(toolglot.__file__).parent
HOME = ("wires", "catalog", "integrations")  # an integration names the paths of its SDK
# kinds of servers and dialects of schemas that are called as wires
OTHERS = {
    "client/detection/questions.py": 1,
    "client/probe/blockers.py": 1,
    "gateway/pass_through.py": 1,
    "pipeline/request/constrained.py": 1,
}


def found(tree: ast.AST) -> Iterator[int]:
    """Lines that compare a wire's name, or have it as a key."""
    for node in ast.walk(tree):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            values = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            values = list(node.keys)
        elif isinstance(node, ast.MatchValue):
            values = [node.value]
        if any(isinstance(value, ast.Constant) and value.value in NAMES for value in values):
            yield getattr(node, "lineno", 0)


def test_no_code_compares_the_name_of_a_wire() -> None:
    leaks: dict[str, int] = {}
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT)
        lines = list(found(ast.parse(file.read_text(encoding="utf-8")))) if place.parts[0] not in HOME else []
        if lines:
            leaks[place.as_posix()] = len(lines)
    assert leaks == OTHERS


def test_every_wire_declares_what_others_ask_it() -> None:
    for wire in wires():
        assert wire.server.chat_path
        assert wire.forms.around_message is not None
        assert all(wire is other or wire.server.chat_path != other.server.chat_path for other in wires())
