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

_SHORT_LEASES = "from toolglot.gateway.kept_values import Leases; Leases.__init__.__defaults__ = (1.0,)"
_COMMAND = [*COMMAND[:-1], f"{_SHORT_LEASES}; {COMMAND[-1]}"]


@contextlib.asynccontextmanager
async def served(folder: Path, upstream: str, server: str = "", *, ends: signal.Signals = signal.SIGKILL) -> AsyncIterator[str]:
    """Its URL; at the end it gets this signal. All models go to `upstream`. What it works on is free a second after its end."""
    (folder / "toolglot.toml").write_text(
        f'[server]\nport = 0\ndetect = false\n{server}\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{upstream}"\n'
        '[[route]]\nmodel = "*"\nto = "u/m"\n'
    )
    process = await asyncio.create_subprocess_exec(*_COMMAND, "--json", cwd=folder, env=HERE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.send_signal(ends)
        await process.wait()
