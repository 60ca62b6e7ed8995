"""The package: builds with the same bytes, an installation in a fresh environment, and the files around a release."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from scripts import release_notes
from scripts.dist import build

from toolglot import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = re.compile(r"[\w-]+")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("first")
    build(folder)
    return folder


def test_two_builds_have_the_same_bytes(built: Path, tmp_path: Path) -> None:
    files = {file.name: file.read_bytes() for file in built.iterdir()}
    assert files.keys() == {f"toolglot-{__version__}.tar.gz", f"toolglot-{__version__}-py3-none-any.whl"}
    build(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files


def test_the_wheel_works_in_a_fresh_environment_with_what_it_requires_and_no_more(built: Path, tmp_path: Path) -> None:
    wheel = next(built.glob("*.whl"))
    environment = tmp_path / "env"
    venv.create(environment)
    site = next(environment.glob("lib/python*/site-packages"), environment / "Lib" / "site-packages")
    for requirement in PROJECT["dependencies"]:
        _copy(NAME.match(requirement)[0], site)  # type: ignore[index]
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)

    bin = environment / ("Scripts" if os.name == "nt" else "bin")
    variables = {"PATH": str(bin), "HOME": str(tmp_path)}
    text = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
    run = subprocess.run([bin / "toolglot", "parse"], input=text, env=variables, capture_output=True, text=True, check=True)
    assert '"name":"add"' in run.stdout
    run = subprocess.run([bin / "toolglot", "--version"], env=variables, capture_output=True, text=True, check=True)
    assert __version__ in run.stdout
    code = "import toolglot; print(toolglot.__file__, toolglot.profile('qwen3:8b', 'ollama').supports_tools)"
    run = subprocess.run([bin / "python", "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert run.stdout.startswith(str(site))
    assert run.stdout.endswith("True\n")
    run = subprocess.run([bin / "toolglot", "serve"], env=variables, capture_output=True, text=True, check=False)
    assert "toolglot[gateway]" in run.stderr
    assert "Traceback" not in run.stderr


def _copy(name: str, site: Path) -> None:
    """An installed distribution, file by file: the test needs no network."""
    for file in distribution(name).files or ():
        source, target = Path(str(file.locate())), site / file
        if ".." not in file.parts and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def test_the_wheel_has_types_data_and_licence(built: Path) -> None:
    with ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"toolglot-{__version__}.dist-info/METADATA").decode()
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()}
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == {name for name in source if "__pycache__" not in name}
    assert "toolglot/py.typed" in packed
    assert f"toolglot-{__version__}.dist-info/licenses/LICENSE" in names
    assert "Project-URL: Homepage, " in metadata


# -- around a release


def test_the_notes_of_a_release_are_its_section() -> None:
    changelog = "# Changelog\n\n## Unreleased\n\n### Added\n- New.\n\n## 0.2.0 - 2026-11-18\n\n- Two.\n\n## [0.1.0]\n\n- One.\n"
    assert release_notes.notes(changelog, "Unreleased") == "### Added\n- New.\n"
    assert release_notes.notes(changelog, "0.2.0") == "- Two.\n"
    assert release_notes.notes(changelog, "0.1.0") == "- One.\n"
    with pytest.raises(LookupError, match=r"no section 0.3.0; it has Unreleased, 0.2.0, 0.1.0"):
        release_notes.notes(changelog, "0.3.0")
    with pytest.raises(LookupError, match="nothing below 1"):
        release_notes.notes("## 1\n\n## 0\n- x\n", "1")


def test_the_changelog_has_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert release_notes.main(["Unreleased"]) == 0
    assert "### " in capsys.readouterr().out
    assert release_notes.main(["v9.9.9"]) == 1
    assert release_notes.main([]) == 2


def test_the_workflow_tests_each_python_that_the_package_names() -> None:
    yaml = pytest.importorskip("yaml")
    files = {path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / ".github").rglob("*.yml")}
    assert all(isinstance(found, dict) for found in files.values())
    matrix = files[ROOT / ".github" / "workflows" / "test.yml"]["jobs"]["test"]["strategy"]["matrix"]
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert matrix["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert len(matrix["os"]) == 3
