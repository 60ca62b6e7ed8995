"""The commands of the page llm.md, with the real llm and a model without native tools. test_hosts.py runs it in its host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.integrations.hosts.pages import block
from tests.integrations.hosts.text_server import serving, two_steps

TOOLS = """
def find_user(name: str) -> str:
    "The id of a user."
    return {"Ada": "u-17"}[name]


def get_balance(user_id: str) -> str:
    "A user's balance in euros."
    return {"u-17": "42 euros"}[user_id]
"""


def main() -> None:
    _, add, ask = block("llm.md", "sh").splitlines()
    with TemporaryDirectory() as folder, serving(two_steps) as (url, requests):
        (Path(folder) / "bank.py").write_text(TOOLS, encoding="utf-8")
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        variables = {**os.environ, "PATH": path, "LLM_USER_PATH": folder, "OPENAI_COMPATIBLE_BASE_URL": url}
        found = []
        remove = add.replace(" add ", " remove ")
        for line in (
            add,
            ask,
            f"{ask} --no-stream",
            f"{ask} --async",
            "llm models -q toolglot",
            remove,
            "llm models -q toolglot",
        ):
            before = len(requests)
            ran = subprocess.run(line, shell=True, cwd=folder, env=variables, capture_output=True, text=True, check=True)
            found.append([ran.stdout, [bool(body.get("stream")) for body in requests[before:]]])
        print(json.dumps(found))
