"""`make dist`: builds the sdist and the wheel twice, and fails unless both builds have the same bytes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(folder: Path) -> dict[str, str]:
    """The sha256 of each file, by its name. No network: the build backend is installed already."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def main() -> int:
    target = ROOT / "dist"
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        hashes = build(Path(first))
        if build(Path(second)) != hashes:
            sys.stderr.write("error: two builds of the same files differ\n")
            return 1
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(first, target)
    sys.stdout.writelines(f"{digest}  dist/{name}\n" for name, digest in hashes.items())
    return 0


if __name__ == "__main__":
    sys.exit(main())
