"""Runs the blocks of the documentation, each page from top to bottom: Python in one namespace, commands in one folder.

Blocks of configuration and of questions are read by the code that reads such files. All relative links are checked.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests import console
from toolglot.evaluation.questions import read_questions
from toolglot.gateway.config import read_config

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCK_OR_EXAMPLE = re.compile(r"^```python[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
CONFIG = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUESTIONS = re.compile(r"^```jsonl\n(.*?)^```", re.DOTALL | re.MULTILINE)
KEY = "sk-a-key-that-is-long-enough"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def test_code_blocks_run(page: Path) -> None:
    names: dict[str, Any] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page.name} block {number}", "exec"), names)  # noqa: S102
    assert "toolglot" in names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_imports_only_public_names(page: Path) -> None:
    for block in BLOCK_OR_EXAMPLE.findall(page.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(block)):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            ours = [one.split(".")[1] for one in modules if one.startswith("toolglot.")]
            assert {*ours} <= {"integrations", "plugin"}


def _with(kind: re.Pattern[str]) -> list[Path]:
    return [page for page in PAGES if kind.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", _with(CONFIG), ids=lambda page: page.name)
def test_configurations_are_valid(page: Path) -> None:
    for block in CONFIG.findall(page.read_text(encoding="utf-8")):
        environ = dict.fromkeys(re.findall(r"env:(\w+)", block), KEY) | {"TOOLGLOT_STATE": "redis://redis:6379/0"}
        assert read_config(block, page.name, environ) is not None


@pytest.mark.parametrize("page", _with(QUESTIONS), ids=lambda page: page.name)
def test_questions_are_valid(page: Path) -> None:
    for block in QUESTIONS.findall(page.read_text(encoding="utf-8")):
        assert read_questions(block)


@pytest.mark.parametrize("page", _with(console.BLOCK), ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for command in console.commands(page.read_text(encoding="utf-8")):
        output = console.run(command, tmp_path)
        assert console.matches(command.expected, output), f"$ {command.line}\n{output}"


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"))], ids=lambda page: page.name
)
def test_relative_links_exist(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name)
def test_each_how_to_page_has_code_and_is_linked_in_the_readme(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert any(kind.search(text) for kind in (BLOCK, CONFIG, QUESTIONS, console.BLOCK))
    assert f"docs/how-to/{page.name}" in (ROOT / "README.md").read_text(encoding="utf-8")
