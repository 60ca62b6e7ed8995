"""A configuration file that changes while the server runs: read again, and used from the next request on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from toolglot.errors import CallerError
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.state import Gateway, log

_LOOK = 1.0  # seconds between two looks


def load(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise CallerError(f"can't be read: {error}", str(path)) from None
    return read_config(text, str(path))


class Watch:
    """Part of `Gateway.around`. A file that is wrong, or gone, is told in the log, and what was good stays in use."""

    def __init__(self, path: Path, every: float = _LOOK) -> None:
        self._path, self._every = path, every
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    async def __call__(self, gateway: Gateway) -> None:
        while True:
            await asyncio.sleep(self._every)
            stamp = await asyncio.to_thread(self._stamp)
            if stamp == self._seen:
                continue
            self._seen = stamp
            self._take(gateway)

    def _take(self, gateway: Gateway) -> None:
        try:
            config = load(self._path)
        except CallerError as error:
            log.error("the configuration is not used, the one before stays: %s", error)
            return
        old = gateway.live.config.server
        new = config.server
        if (new.host, new.port, new.store, new.max_header) != (old.host, old.port, old.store, old.max_header):
            log.warning("host, port, store and max_header are taken up when the server starts anew")
        gateway.use(config)
        log.warning("the configuration has been read again: %d upstreams, %d routes", len(config.upstreams), len(config.routes))
