"""An implementation under test: a process that answers JSON lines. README.md describes the operations."""

from __future__ import annotations

import json
import subprocess
from types import TracebackType
from typing import Any

Body = dict[str, Any]
_PATIENCE = 20  # seconds


class UnsupportedError(Exception):
    """The implementation has no such operation, dialect or API: the vector does not count."""


class Adapter:
    """Starts the command; `ask` sends an operation and waits for its answer."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment
        )

    def ask(self, op: str, **given: Any) -> Body:
        """Raises UnsupportedError; an answer with `error` is returned as it is."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, **given}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"the adapter ended with code {self._process.wait()}")
        answer: Body = json.loads(line)
        if answer.get("unsupported"):
            raise UnsupportedError
        return answer

    def __enter__(self) -> Adapter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # it ends by itself, and what it started with it
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
