"""One small virtual environment for each host package, made on first use beside the tests' own. A plug-in of pytest."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[3]
WANTED = "TOOLGLOT_HOSTS"
PATIENCE = 1800  # seconds for pip

# the packages of each environment; the first is the host, and its page names the version
HOSTS: dict[str, tuple[str, ...]] = {
    "engines": (
        *("vllm==0.33.0", "sglang==0.5.23"),  # only the Python files of their wheels
        *("openai", "pydantic", "fastapi", "orjson", "regex", "partial-json-parser", "pybase64", "numpy", "cbor2"),
        *("mistral-common", "openai-harmony", "prometheus-client"),  # for their own parsers, which conformance/ measures
    ),
}
_FILES_ONLY = ("vllm", "sglang")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"hosts: installs the packages that toolglot plugs into, 2 GB; run with {WANTED}=1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(WANTED) != "1":
        for item in items:
            if item.get_closest_marker("hosts"):
                item.add_marker(pytest.mark.skip(reason=f"set {WANTED}=1"))


def environment(name: str) -> Path:
    """The folder of the host's environment, with toolglot installed in it."""
    place = Path(sys.prefix) / "hosts" / name
    place.mkdir(parents=True, exist_ok=True)
    done, wanted = place / "done", json.dumps([*HOSTS[name], (ROOT / "pyproject.toml").read_text()])
    with (place / "guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            venv.create(place, with_pip=True)
            files = [package for package in HOSTS[name] if package.startswith(_FILES_ONLY)]
            _pip(place, "install", *(package for package in HOSTS[name] if package not in files), "-e", str(ROOT))
            for package in files:
                _python_files(place, package)
            done.write_text(wanted)
    return place


def _pip(place: Path, *words: str) -> None:
    command = [str(place / "bin" / "python"), "-m", "pip", *words, "-q", "--disable-pip-version-check"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if ran.returncode:
        raise RuntimeError(f"pip {' '.join(words)} failed: {ran.stderr[-2000:]}")


def _python_files(place: Path, package: str) -> None:
    _pip(place, "download", "--no-deps", "-d", str(place / "wheels"), package)
    [wheel] = (place / "wheels").glob(f"{package.partition('=')[0]}-*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(place / "files", [name for name in archive.namelist() if name.endswith(".py")])
    wheel.unlink()


def run(name: str, script: str, *words: str, env: Mapping[str, str] | None = None) -> str:
    """The output of Python code in the host's environment. AssertionError with its last lines if it fails."""
    command = [str(environment(name) / "bin" / "python"), "-W", "ignore", "-c", script, *words]
    clean = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT, env={**clean, **(env or {})}
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout
