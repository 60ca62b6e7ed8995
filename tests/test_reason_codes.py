"""The page of reason codes lists each code that toolglot uses, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import toolglot
from toolglot.core.reason_codes import REASONS
from toolglot.schema.fixes import FIXES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "reason-codes.md"
CODES = re.compile(r'Decision\(\s*"(\w+)"|_decision\("(\w+)"|"(rejected_\w+|quoted_\w+)"')


def test_the_page_lists_each_code_and_no_other() -> None:
    source = (path.read_text(encoding="utf-8") for path in Path(toolglot.__file__).parent.rglob("*.py"))
    used = {code for text in source for found in CODES.findall(text) for code in found if code}
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == used | FIXES.keys()
    assert listed == REASONS.keys() | FIXES.keys(), "each has a sentence"


def test_the_page_shows_each_fix_with_its_price_and_sentence() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [f"| `{fix.code}` | {fix.price} | {fix.sentence} |" in page for fix in FIXES.values()] == [True] * len(FIXES)
