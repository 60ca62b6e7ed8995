"""The tests leave the cache of the user who runs them alone, and a test that does not is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import own_cache
from toolglot.client.mode_stats import ModeStats
from toolglot.client.user_dirs import cache_folder
from toolglot.gateway.request_log import launch_log

CODE = "from toolglot.client.user_dirs import cache_folder; print(cache_folder())"


@pytest.fixture
def leaks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those of this test, which the check after each test does not see."""
    found: list[str] = []
    monkeypatch.setattr(own_cache, "leaks", found)
    return found


def test_the_cache_is_not_the_users() -> None:
    places = [cache_folder(), ModeStats().path, launch_log()]
    assert [place for place in places if place.is_relative_to(own_cache.USERS)] == []


def test_nor_is_that_of_a_process() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == cache_folder()


def test_a_file_in_the_users_cache_is_found(leaks: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own_cache, "USERS", tmp_path)
    (tmp_path / "log.jsonl").write_text("x")
    (tmp_path / "log.jsonl").read_text()
    assert leaks == [f"{tmp_path / 'log.jsonl'} is written"]
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "model.gguf").write_text("x")
    assert len(leaks) == 1


@pytest.mark.parametrize(
    ("variables", "leaking"),
    [
        ({"HOME": own_cache.HOME}, True),
        ({}, True),
        ({"HOME": "/nowhere"}, False),
        ({"HOME": own_cache.HOME, "TOOLGLOT_CACHE": "/nowhere"}, False),
    ],
)
def test_a_process_that_leads_there_is_found(
    leaks: list[str], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], leaking: bool
) -> None:
    monkeypatch.setattr(own_cache, "USERS", Path(own_cache.HOME, ".cache", "toolglot"))
    environ = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ} | variables
    for words in (["-m", "toolglot", "version"], ["-c", "import toolglot"], ["-c", ""]):
        subprocess.run([sys.executable, *words], env=environ, check=True, stdout=subprocess.DEVNULL)
    assert len(leaks) == (2 if leaking else 0)
