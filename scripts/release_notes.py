"""`python -m scripts.release_notes 0.2.0`: the section of that version in CHANGELOG.md, for the release's page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
_HEADING = re.compile(r"^## \[?([^\]\s]+)\]?.*$", re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """The text below the version's heading, up to the next one. A LookupError if there is none, or nothing below it."""
    headings = list(_HEADING.finditer(changelog))
    for at, heading in enumerate(headings):
        if heading[1] == version:
            end = headings[at + 1].start() if at + 1 < len(headings) else len(changelog)
            if text := changelog[heading.end() : end].strip():
                return text + "\n"
            raise LookupError(f"CHANGELOG.md has nothing below {version}")
    raise LookupError(f"CHANGELOG.md has no section {version}; it has {', '.join(found[1] for found in headings) or 'none'}")


def main(words: list[str]) -> int:
    if len(words) != 1:
        sys.stderr.write("usage: python -m scripts.release_notes VERSION\n")
        return 2
    try:
        sys.stdout.write(notes(CHANGELOG.read_text(encoding="utf-8"), words[0].removeprefix("v")))
    except LookupError as error:
        sys.stderr.write(f"error: {error.args[0]}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
