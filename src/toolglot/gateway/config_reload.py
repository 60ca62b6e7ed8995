"""Reloads a changed configuration file. The new configuration applies from the next request on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import msgspec

from toolglot.errors import CallerError
from toolglot.gateway.config import Config, check_exposure, read_config, read_text
from toolglot.gateway.shared_state import RELOAD
from toolglot.gateway.state import Gateway, log

_INTERVAL = 1.0  # seconds
FIXED = (
    "host",
    "port",
    "workers",
    "store",
    "max_store",
    "max_header",
    "batch_rows",
    "max_records",
    "retention",
    "state",
    "log",
    "log_level",
    "log_file",
    "log_file_size",
)


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

    A file is read once it is unchanged for an interval: an editor or a copy may still be writing it. It is read at once on
    SIGHUP, or if another gateway with the same shared state has read its own.
    """

    def __init__(self, path: Path, interval: float = _INTERVAL) -> None:
        self._path, self._interval = path, interval
        self._used = self._seen = self._stamp()
        self._requested = asyncio.Event()
        self._publish = False

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    def request(self, publish: bool) -> None:
        """The file is read at once. `publish`: the other gateways with the same shared state should read theirs, too."""
        self._publish |= publish
        self._requested.set()

    async def changes(self) -> AsyncIterator[bool]:
        """Each time the file should be read: whether the other gateways should read theirs."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._requested.wait(), self._interval)
            before, self._seen = self._seen, await asyncio.to_thread(self._stamp)
            has_changed = self._seen == before != self._used
            if has_changed or self._requested.is_set():
                publish, self._publish, self._used = has_changed or self._publish, False, self._seen
                self._requested.clear()
                yield publish

    async def __call__(self, gateway: Gateway) -> None:
        gateway.shared.on_message = self._on_message
        with suppress(NotImplementedError, RuntimeError, AttributeError, ValueError):  # Windows, or not the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.request, True)
        async for publish in self.changes():
            if new := await reload(self._path, gateway.live.config):
                gateway.use(new[0])
                if publish:
                    await gateway.shared.publish(RELOAD)

    def _on_message(self, message: bytes) -> None:
        if message == RELOAD:
            self.request(publish=False)


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
