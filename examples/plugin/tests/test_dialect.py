"""`toolglot dialect check` in your own tests."""

import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "acme_toolglot" / "dialect.py"


def test_the_dialect_keeps_all_laws() -> None:
    subprocess.run([sys.executable, "-m", "toolglot", "dialect", "check", str(FILE)], check=True)
