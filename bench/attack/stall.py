"""The gateway with a probe: the longest time that its event loop gets to nothing else, in CPU time of the process.

python bench/attack/stall.py FILE serve ...   # FILE holds that time in seconds; whoever reads it may set it to 0

CPU time, because the machine may be busy with other things. Of the whole process, because a worker thread that holds the
interpreter's lock stops the loop as well.
"""

from __future__ import annotations

import asyncio
import mmap
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

_PAUSE = 0.002  # seconds between two looks
_VALUE = struct.Struct("d")


class Reading:
    """The file of a probe."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _VALUE.size)

    @classmethod
    def create(cls, path: Path) -> Reading:
        path.write_bytes(_VALUE.pack(0.0))
        return cls(path)

    def get(self) -> float:
        seconds: float = _VALUE.unpack(self._map[:])[0]
        return seconds

    def put(self, seconds: float) -> None:
        self._map[:] = _VALUE.pack(seconds)

    def take(self) -> float:
        """Milliseconds since the last call."""
        longest = self.get()
        self.put(0.0)
        return longest * 1000


def watch(loop: asyncio.AbstractEventLoop, reading: Reading) -> None:
    last = time.process_time()
    came = threading.Event()

    def look() -> None:
        nonlocal last
        now = time.process_time()
        if now - last > reading.get():
            reading.put(now - last)
        last = now
        came.set()

    def ask() -> None:
        while not loop.is_closed():
            came.clear()
            loop.call_soon_threadsafe(look)
            came.wait()
            time.sleep(_PAUSE)

    threading.Thread(target=ask, daemon=True).start()


def main(file: str, arguments: list[str]) -> int:
    from toolglot.cli.main import main as run  # noqa: PLC0415  (the attacks' own process needs only `Reading`)
    from toolglot.gateway.app import App  # noqa: PLC0415

    lifespan: Any = App._lifespan

    async def watched(app: App, *arguments: Any) -> None:
        watch(asyncio.get_running_loop(), Reading(Path(file)))
        await lifespan(app, *arguments)

    App._lifespan = watched  # type: ignore[method-assign]
    sys.argv = ["toolglot", *arguments]
    return run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
