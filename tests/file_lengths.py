"""The file-length rule: a source file stays within 400 lines, for one that grows past it holds two concepts."""

import sys
from pathlib import Path

LIMIT = 400
ROOT = Path(__file__).parent.parent


def long_files() -> list[str]:
    found = []
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/**/*.py")]):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LIMIT:
            found.append(f"{path.relative_to(ROOT)}: {lines} lines, {LIMIT} allowed")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(long_files()) or 0)
