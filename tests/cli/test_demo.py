"""`toolglot demo`, as `make demo` runs it: a real gateway, a real model, real tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from toolglot.wires import NAMES


def demo(*words: str) -> tuple[int, Any, str]:
    command = [sys.executable, "-m", "toolglot.cli.main", "demo", *words, "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "NO_COLOR": "1"}
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def test_two_tools_through_the_gateway_on_the_embedded_model(smollm2_path: object) -> None:
    code, found, told = demo()
    assert code == 0, told
    first, second = found["questions"]
    assert first["calls"] == [{"name": "get_weather", "arguments": {"city": "Paris"}}]
    assert first["results"] == ["18 degrees, clear sky"]
    assert second["calls"] == [{"name": "convert_distance", "arguments": {"kilometers": 12}}]
    assert second["results"] == ["7.46 miles"]
    assert first["answer"].strip()
    assert "The gateway is stopped." in told


def test_every_pair_of_apis() -> None:
    code, found, _ = demo("--pairs")
    assert (code, found["right"]) == (0, len(NAMES) ** 2)
