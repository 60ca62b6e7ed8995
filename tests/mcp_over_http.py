"""An MCP server of the tests, over HTTP on a free port."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import reserved_port


@contextmanager
def mcp_over_http(script: Path) -> Iterator[str]:
    """Runs the script with `http PORT` until it accepts connections; its address."""
    with reserved_port() as port:
        yield from _served(script, port)


def _served(script: Path, port: int) -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(script), "http", str(port)], stderr=subprocess.DEVNULL)
    try:
        while not _accepts(port):
            assert process.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
