"""Runs real clients as separate processes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

TIMEOUT = 300.0  # seconds; less than a test's timeout, so that the error names the program


async def finished(*command: str, folder: Path, environ: Mapping[str, str]) -> tuple[str, str]:
    """The stdout and stderr of a program, which must succeed before the timeout."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    try:
        printed, errors = await asyncio.wait_for(process.communicate(), TIMEOUT)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, f"{printed.decode()}\n{errors.decode()}"
    return printed.decode(), errors.decode()
