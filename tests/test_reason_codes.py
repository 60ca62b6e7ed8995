"""The page of reason codes has each code that toolglot gives, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import toolglot
from toolglot.schema.fixes import FIXES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "reason-codes.md"
GIVEN = re.compile(r'Decision\(\s*"(\w+)"|_decision\("(\w+)"|"((?:rejected|abstained|lacking)_\w+)"')


def test_the_page_has_each_code_and_no_other() -> None:
    source = (path.read_text(encoding="utf-8") for path in Path(toolglot.__file__).parent.rglob("*.py"))
    given = {code for text in source for found in GIVEN.findall(text) for code in found if code}
    told = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == given | FIXES.keys()


def test_a_fix_costs_what_the_page_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [f"| `{fix.code}` | {fix.price} | {fix.sentence} |" in page for fix in FIXES.values()] == [True] * len(FIXES)
