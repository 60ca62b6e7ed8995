"""Reloads a changed configuration file. The new configuration applies from the next request on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from toolglot.errors import CallerError
from toolglot.gateway.config import Config, check_exposure, read_config
from toolglot.gateway.state import Gateway, log

_INTERVAL = 1.0  # seconds
FIXED = ("host", "port", "workers", "store", "max_store", "max_header")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise CallerError(f"can't be read: {error}", str(path)) from None


async def reload(path: Path, running: Config) -> tuple[Config, str] | None:
    """The new configuration and its text; None if it can't be used: the log says why."""
    try:
        text = await asyncio.to_thread(read_text, path)
        config = as_running(read_config(text, str(path)), running)
    except CallerError as error:
        log.error("new configuration rejected; still using the previous one: %s", error)
        return None
    log.warning("configuration reloaded: %d upstreams, %d routes", len(config.upstreams), len(config.routes))
    return config, text


class ConfigReload:
    """A background job of the gateway. If the new file can't be used, the old configuration stays.

    A file is read once it is unchanged for an interval: an editor or a copy may still be writing it.
    """

    def __init__(self, path: Path, interval: float = _INTERVAL) -> None:
        self._path, self._interval = path, interval
        self._used = self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await asyncio.sleep(self._interval)
            before, self._seen = self._seen, await asyncio.to_thread(self._stamp)
            if self._seen == before != self._used:
                self._used = self._seen
                yield

    async def __call__(self, gateway: Gateway) -> None:
        async for _ in self.changes():
            if new := await reload(self._path, gateway.live.config):
                gateway.use(new[0])


def as_running(new: Config, old: Config) -> Config:
    """The new configuration with what a running server can't change. A reload never turns authentication off."""
    if old.routes and not new.routes:  # an empty file, or one that is cut off
        raise CallerError("has no routes", "[[route]]")
    fixed = {name: getattr(old.server, name) for name in FIXED}
    if any(getattr(new.server, name) != value for name, value in fixed.items()):
        log.warning("changes of %s apply after a restart", ", ".join(FIXED))
    check_exposure(old.server.host, new.keys)
    if old.keys and not new.keys:
        raise CallerError("has no keys any more; to run without keys, restart the gateway", "[server] keys")
    return msgspec.structs.replace(new, server=msgspec.structs.replace(new.server, **fixed))
