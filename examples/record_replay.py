"""A run is recorded, and replayed without the model and without the tools. `toolglot explain FILE` shows what was done."""

import os
import tempfile

import toolglot

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local"), os.environ.get("TOOLGLOT_BASE_URL")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "runs.jsonl")
    run = toolglot.Agent(MODEL, [add], record=path, base_url=URL).run_sync("What is 2 + 3?")
    print(run)
    print("the replay is equal:", toolglot.replay(path) == run)
