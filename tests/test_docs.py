"""Runs the Python blocks of the documentation, each page from top to bottom in one namespace, and checks its links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def test_code_blocks_run(page: Path) -> None:
    names: dict[str, Any] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page.name} block {number}", "exec"), names)  # noqa: S102
    assert "toolglot" in names


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"))], ids=lambda page: page.name
)
def test_relative_links_exist(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name)
def test_each_how_to_page_has_code_and_is_linked_in_the_readme(page: Path) -> None:
    assert BLOCK.search(page.read_text(encoding="utf-8"))
    assert f"docs/how-to/{page.name}" in (ROOT / "README.md").read_text(encoding="utf-8")
