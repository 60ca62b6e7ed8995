"""Runs the `python host` blocks of an integration's page, with a model behind them that has no native tools."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

from tests.integrations.hosts.text_server import Script, serving

PAGES = Path(__file__).parents[3] / "docs" / "how-to" / "integrations"
URL = "http://127.0.0.1:8080/v1"  # as the pages write it
_BLOCK = re.compile(r"^```python host\n(.*?)^```", re.DOTALL | re.MULTILINE)


def page(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def block(name: str, kind: str) -> str:
    """The first block of another kind, such as `yaml`."""
    found = re.search(rf"^```{kind}\n(.*?)^```", page(name), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def main(name: str, script: Script) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    with serving(script) as (url, _):
        for number, code in enumerate(_BLOCK.findall(page(name))):
            _run(code.replace(URL, url), f"{name} block {number}", names)


def _run(code: str, label: str, names: dict[str, Any]) -> None:
    """As a file, because some frameworks read the source of tools."""
    linecache.cache[label] = (len(code), None, code.splitlines(keepends=True), label)
    exec(compile(code, label, "exec"), names)  # noqa: S102
