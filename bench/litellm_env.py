"""A separate virtual environment for LiteLLM under .bench/, created on first use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGES = ("litellm", "orjson")


def run_side(folder: Path, rounds: int, seconds: float) -> dict[str, Any] | None:
    """The output of litellm_side.py, or None if LiteLLM can't be installed; the reason goes to stderr."""
    try:
        python = _environment(folder)
        command = [str(python), str(HERE / "litellm_side.py"), str(rounds), str(seconds)]
        ours = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}  # of toolglot only what needs nothing else
        print("measuring LiteLLM ...", file=sys.stderr, flush=True)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900, env=ours)
        return dict(json.loads(done.stdout))
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines()[-3:]
        print("going on without LiteLLM:", error, *lines, sep="\n  ", file=sys.stderr)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"going on without LiteLLM: {error}", file=sys.stderr)
    return None


def _environment(folder: Path) -> Path:
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / ".ready"
    if not ready.exists():
        print(f"installing LiteLLM into {folder} (once, about a minute) ...", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
        ready.touch()
    return python
