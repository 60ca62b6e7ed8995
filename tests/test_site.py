"""The documentation's site: links to files outside `docs`, and each page is in the navigation."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripts.site import ROOT, link_targets, on_page_markdown

KNOWN = {"index.md", "how-to/gateway.md", "decisions/0001-meaning.md", "CHANGELOG.md", "SECURITY.md"}


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("index.md", "how-to/gateway.md", "how-to/gateway.md"),
        ("how-to/gateway.md", "../../SECURITY.md#reporting", "../SECURITY.md#reporting"),
        ("CHANGELOG.md", "docs/decisions/0001-meaning.md", "decisions/0001-meaning.md"),
        ("how-to/gateway.md", "../../deploy", "https://example/tree/main/deploy"),
        ("CHANGELOG.md", "src/toolglot/__init__.py", "https://example/blob/main/src/toolglot/__init__.py"),
        ("index.md", "https://example.org/x", "https://example.org/x"),
        ("index.md", "#here", "#here"),
        ("index.md", "none.md", "none.md"),  # broken: mkdocs reports it
    ],
)
def test_links_lead_to_pages_or_to_the_repository(source: str, link: str, expected: str) -> None:
    assert link_targets(f"a [b]({link}) c", source, "https://example", KNOWN) == f"a [b]({expected}) c"


def test_blocks_with_flags_are_code() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    text = on_page_markdown("```python no-run\nmessages[-1]\n```\n\n```sh\nls\n```\n", page, {"repo_url": "x"}, [])
    assert text == "```python\nmessages[-1]\n```\n\n```sh\nls\n```\n"


def test_each_page_is_in_the_navigation() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"[\w*/.-]+\.md", config)  # `*` stands for any name
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in Path(ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not any(fnmatchcase(page, name) for name in named)} == set()
