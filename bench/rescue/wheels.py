"""Wheels that the generator reads from: fetched once into .bench/wheels, without their dependencies, and never installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(__file__).parents[2] / ".bench" / "wheels"
# The pure-Python wheel, whatever interpreter runs the generator: the same bytes on every machine.
_ANY = ("--only-binary=:all:", "--platform", "any", "--python-version", "3.11", "--implementation", "py", "--abi", "none")


def wheel(package: str, version: str) -> ZipFile:
    found = _held(package, version)
    if found is None:
        print(f"fetching {package} {version} ...", file=sys.stderr, flush=True)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", *_ANY]
        subprocess.run([*pip, "-d", str(FOLDER), f"{package}=={version}"], check=True, timeout=600)
        found = _held(package, version)
    if found is None:
        raise SystemExit(f"no wheel of {package} {version} in {FOLDER}")
    return ZipFile(found)


def metadata(wheel_file: ZipFile) -> str:
    """The METADATA file: headers (the licence among them), then the package's README."""
    name = next(name for name in sorted(wheel_file.namelist()) if name.endswith(".dist-info/METADATA"))
    return wheel_file.read(name).decode("utf-8")


def _held(package: str, version: str) -> Path | None:
    return next(iter(sorted(FOLDER.glob(f"{package.replace('-', '_')}-{version}-*.whl"))), None)
