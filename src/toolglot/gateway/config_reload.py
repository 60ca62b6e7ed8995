"""Reloads a changed configuration file. The new configuration applies from the next request on."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import msgspec

from toolglot.errors import CallerError
from toolglot.gateway.config import Config, check_exposure, read_config
from toolglot.gateway.shared_state import RELOAD
from toolglot.gateway.state import Gateway, log

_INTERVAL = 1.0  # seconds
_FIXED = ("host", "port", "store", "max_store", "max_header", "state")


def load(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise CallerError(f"can't be read: {error}", str(path)) from None
    return read_config(text, str(path))


class ConfigReload:
    """A background job of the gateway. If the new file can't be used, it logs an error and keeps the old configuration.

    A file is read once it is unchanged for an interval: an editor or a copy may still be writing it. It is read at once on
    SIGHUP, or if another gateway with the same shared state has read its own.
    """

    def __init__(self, path: Path, interval: float = _INTERVAL) -> None:
        self._path, self._interval = path, interval
        self._used = self._seen = self._stamp()
        self._wanted: asyncio.Event | None = None  # a reload, at once
        self._tells = False  # the other gateways about it

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    async def __call__(self, gateway: Gateway) -> None:
        self._wanted = wanted = asyncio.Event()
        gateway.shared.on_message = self._on_message
        with suppress(NotImplementedError, RuntimeError, AttributeError, ValueError):  # Windows, or not the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._on_signal)
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(wanted.wait(), self._interval)
            before, self._seen = self._seen, await asyncio.to_thread(self._stamp)
            has_changed = self._seen == before != self._used
            if not has_changed and not wanted.is_set():
                continue
            tells = has_changed or self._tells
            wanted.clear()
            self._tells, self._used = False, self._seen
            if await self._reload(gateway) and tells:
                await gateway.shared.publish(RELOAD)

    def _on_signal(self) -> None:
        self._tells = True
        self._want()

    def _on_message(self, message: bytes) -> None:
        if message == RELOAD:
            self._want()

    def _want(self) -> None:
        if self._wanted is not None:
            self._wanted.set()

    async def _reload(self, gateway: Gateway) -> bool:
        try:
            config = _as_running(await asyncio.to_thread(load, self._path), gateway.live.config)
        except CallerError as error:
            log.error("new configuration rejected; still using the previous one: %s", error)
            return False
        gateway.use(config)
        log.warning("configuration reloaded: %d upstreams, %d routes", len(config.upstreams), len(config.routes))
        return True


def _as_running(new: Config, old: Config) -> Config:
    """The new configuration with what a running server can't change. A reload never turns authentication off."""
    if old.routes and not new.routes:  # an empty file, or one that is cut off
        raise CallerError("has no routes", "[[route]]")
    fixed = {name: getattr(old.server, name) for name in _FIXED}
    if any(getattr(new.server, name) != value for name, value in fixed.items()):
        log.warning("changes of %s apply after a restart", ", ".join(_FIXED))
    check_exposure(old.server.host, new.keys)
    if old.keys and not new.keys:
        raise CallerError("has no keys any more; to run without keys, restart the gateway", "[server] keys")
    return msgspec.structs.replace(new, server=msgspec.structs.replace(new.server, **fixed))
