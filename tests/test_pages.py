"""The generated pages of the documentation are current."""

from __future__ import annotations

import msgspec
import pytest
from scripts import pages


@pytest.mark.parametrize("name", pages.PAGES)
def test_generated_pages_are_current(name: str) -> None:
    text = (pages.REFERENCE / name).read_text(encoding="utf-8")
    assert text == pages._NOTE + pages.PAGES[name](), "run `python -m scripts.pages`"


class Row(msgspec.Struct):
    name: str  # what it is called
    size: int = 3


def test_every_configuration_key_has_a_default_and_an_explanation() -> None:
    assert "| `name` | required | string | what it is called |" in pages._keys(Row)
    assert "| `size` | `3` | whole number |  |" in pages._keys(Row)
    for line in pages.configuration().splitlines():
        if line.startswith("| `"):
            assert all(cell.strip() for cell in line.strip("|").split("|")), line
