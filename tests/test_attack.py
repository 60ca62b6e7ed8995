"""bench/attack still attacks: some of its attacks, on a real gateway. Stalls are not judged here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "bench" / "attack" / "run.py"


@pytest.mark.parametrize("word", ["access: no key", "schemas: nested unions", "stalls: 5,000 tool results"])
def test_an_attack_has_its_right_outcome(word: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(RUN.parent.parent.parent / "src")}
    words = [sys.executable, str(RUN), "--only", word, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)
    assert row["outcome"] == "right"
    assert row["stall_ms"] > 0
