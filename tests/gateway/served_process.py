"""`toolglot serve` as a process that can be killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

from tests.gateway.test_serve import COMMAND, HERE


@contextlib.asynccontextmanager
async def served(folder: Path, upstream: str, server: str = "", *, ends: signal.Signals = signal.SIGKILL) -> AsyncIterator[str]:
    """Its URL; at the end it gets this signal. All models go to `upstream`."""
    (folder / "toolglot.toml").write_text(
        f'[server]\nport = 0\ndetect = false\n{server}\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{upstream}"\n'
        '[[route]]\nmodel = "*"\nto = "u/m"\n'
    )
    process = await asyncio.create_subprocess_exec(*COMMAND, "--json", cwd=folder, env=HERE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.send_signal(ends)
        await process.wait()
