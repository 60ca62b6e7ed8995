"""Real clients as programs of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

PATIENCE = 25.0  # seconds; less than a test's, so that the program is the one that is named


async def finished(*command: str, folder: Path, environ: Mapping[str, str]) -> tuple[str, str]:
    """What a program printed, and what it told on stderr; it must end well, and in time."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    try:
        printed, told = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, f"{printed.decode()}\n{told.decode()}"
    return printed.decode(), told.decode()
