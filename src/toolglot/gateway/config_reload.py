"""Reloads a changed configuration file. The new configuration applies from the next request on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from toolglot.errors import CallerError
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.state import Gateway, log

_INTERVAL = 1.0  # seconds


def load(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise CallerError(f"can't be read: {error}", str(path)) from None
    return read_config(text, str(path))


class ConfigReload:
    """A background job of the gateway. If the file is invalid or missing, it logs an error and keeps the old configuration."""

    def __init__(self, path: Path, interval: float = _INTERVAL) -> None:
        self._path, self._interval = path, interval
        self._last_stamp = self._stamp()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    async def __call__(self, gateway: Gateway) -> None:
        while True:
            await asyncio.sleep(self._interval)
            stamp = await asyncio.to_thread(self._stamp)
            if stamp == self._last_stamp:
                continue
            self._last_stamp = stamp
            self._reload(gateway)

    def _reload(self, gateway: Gateway) -> None:
        try:
            config = load(self._path)
        except CallerError as error:
            log.error("new configuration rejected; still using the previous one: %s", error)
            return
        old = gateway.live.config.server
        new = config.server
        if (new.host, new.port, new.store, new.max_header) != (old.host, old.port, old.store, old.max_header):
            log.warning("changes of host, port, store and max_header apply after a restart")
        gateway.use(config)
        log.warning("configuration reloaded: %d upstreams, %d routes", len(config.upstreams), len(config.routes))
