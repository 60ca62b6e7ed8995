"""Hooks of mkdocs: the site also has the pages at the root of the repository, and links to other files go to the repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
AT_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md")
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")

_FLAGS = re.compile(r"^( *```\w+) .*$", re.MULTILINE)  # of a block, for the tests: with them it is not read as code


def on_config(config: Any) -> Any:
    """`decisions/*.md` in the navigation stands for the files."""
    for section in config["nav"]:
        for title, pages in section.items() if isinstance(section, dict) else ():
            if isinstance(pages, list):
                section[title] = [one for page in pages for one in _expanded(page)]
    return config


def _expanded(page: Any) -> list[Any]:
    if not isinstance(page, str) or "*" not in page:
        return [page]
    return sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob(page))


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File  # noqa: PLC0415  (of the docs group alone)

    for name in AT_ROOT:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    source = page.file.src_uri
    markdown = _FLAGS.sub(r"\1", markdown)
    return link_targets(markdown, source, config["repo_url"], {file.src_uri for file in files})


def link_targets(markdown: str, source: str, repository: str, known: set[str]) -> str:
    """The page with its links as the site needs them. `source` is its path below `docs`, or a file at the root."""
    folder = posixpath.dirname(source if source in AT_ROOT else f"docs/{source}")

    def replaced(link: re.Match[str]) -> str:
        path, anchor = posixpath.normpath(posixpath.join(folder, link[1])), link[2] or ""
        inside = path.removeprefix("docs/") if path.startswith("docs/") else path if path in AT_ROOT else None
        if inside in known:
            return posixpath.relpath(inside, posixpath.dirname(source) or ".") + anchor
        if (ROOT / path).exists():
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"{repository}/{kind}/main/{path}{anchor}"
        return link[0]  # broken: mkdocs reports it

    return _LINK.sub(replaced, markdown)
