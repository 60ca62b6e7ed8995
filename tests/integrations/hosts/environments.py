"""One small virtual environment for each host package, made on first use beside the tests' own. A plug-in of pytest."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
WANTED = "TOOLGLOT_HOSTS"
PATIENCE = 1800  # seconds for pip

# the packages of each environment; the first is the host, and its page names the version
HOSTS: dict[str, tuple[str, ...]] = {
    "engines": (
        *("vllm==0.33.0", "sglang==0.5.23"),  # only the Python files of their wheels
        *("openai", "pydantic", "fastapi", "orjson", "regex", "partial-json-parser", "pybase64", "numpy", "cbor2", "pytest"),
        *("mistral-common", "openai-harmony", "prometheus-client"),  # for their own parsers, which conformance/ measures
    ),
    "langchain": ("langchain==1.5.0", "langchain-core==1.8.1", "langchain-openai==1.7.4"),
    "litellm": ("litellm[proxy]==1.109.1",),
    "llama_index": ("llama-index-core==0.14.25", "llama-index-llms-openai-like"),
    "llm": ("llm==0.36", "./packages/llm-toolglot"),
    "openai_agents": ("openai-agents==0.24.0",),
    "pydantic_ai": ("pydantic-ai-slim[openai]==2.68.0",),
    "smolagents": ("smolagents[openai]==1.26.0",),
}
# A registry's mirror may not have the versions of these that langchain and litellm require. Any will do here, or none.
_ANY_VERSION = {"certifi": "certifi", "litellm-enterprise": "", "litellm-proxy-extras": ""}
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
    done, wanted = place / "done", json.dumps([*HOSTS[name], tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]])
    with (place / "guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            venv.create(place, with_pip=True)
            files = [package for package in HOSTS[name] if package.startswith(_FILES_ONLY)]
            _install(place, [package for package in HOSTS[name] if package not in files])
            for package in files:
                _python_files(place, package)
            done.write_text(wanted)
    return place


def _install(place: Path, packages: list[str]) -> None:
    """The packages as they are, what they require, and toolglot."""
    _pip(place, "install", "--no-deps", *packages)
    packages = [package for package in packages if not package.startswith(".")]
    script = "import json, sys, importlib.metadata as m; print(json.dumps([m.requires(name) or [] for name in sys.argv[1:]]))"
    hosts = [Requirement(package) for package in packages]
    listed = _run([str(place / "bin" / "python"), "-c", script, *(host.name for host in hosts)])
    required = [one for host, lines in zip(hosts, json.loads(listed), strict=True) for one in _applying(host, lines)]
    others = {_ANY_VERSION.get(one.name, str(one)) for one in required if one.name not in {host.name for host in hosts}}
    _pip(place, "install", *sorted(others - {""}), "-e", str(ROOT))
    _pip(place, "install", "--no-deps", *packages)  # others may have replaced one


def _applying(host: Requirement, lines: list[str]) -> Iterator[Requirement]:
    for one in map(Requirement, lines):
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (host.extras or {""})):
            one.marker = None
            yield one


def _pip(place: Path, *words: str) -> None:
    command = [str(place / "bin" / "python"), "-m", "pip", *words, "-q", "--disable-pip-version-check"]
    _run(command)


def _run(command: list[str], env: Mapping[str, str] | None = None) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT, env=env)
    assert ran.returncode == 0, f"{' '.join(command)[:300]}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout


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
    return _run(command, {**clean, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))), **(env or {})})
