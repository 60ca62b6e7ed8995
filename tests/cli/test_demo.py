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


def test_a_client_with_two_tools_and_the_embedded_model(smollm2_path: object) -> None:
    code, found, stderr = demo("-m", "local/smollm2")
    assert code == 0, stderr
    assert found["right"] == len(found["questions"]) == 2
    for question in found["questions"]:  # structure only: such a small model may pick the wrong tool, or repeat a call
        assert {call["name"] for call in question["calls"]} <= {"get_weather", "convert_distance"}
        assert len(question["results"]) >= len(question["calls"]) > 0
        assert question["answer"].strip()
    assert "a small demo model, expect mistakes" in stderr
    assert "The gateway is stopped." in stderr
    assert "offers two tools, get_weather and convert_distance" in stderr
    assert " INFO " not in stderr  # its requests are not logged beside the answers


def test_every_pair_of_apis() -> None:
    code, found, _ = demo("--pairs")
    assert (code, found["right"]) == (0, len(NAMES) ** 2)
