"""The master of several worker processes: starts and restarts them, reloads the configuration, and stops them.

It serves no request itself. It has the records of all workers, so metrics and the page count all of them, dead ones included.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from toolglot.client.transports import Transports
from toolglot.gateway.budgets import Spending
from toolglot.gateway.config import Config
from toolglot.gateway.config_reload import FIXED, ConfigReload, reload
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.overview import LiveQuery, Overview
from toolglot.gateway.page.history import History
from toolglot.gateway.records import Records
from toolglot.gateway.request_log import log_request
from toolglot.gateway.retention import delete_old
from toolglot.gateway.server import GRACE, Source
from toolglot.gateway.shared_state import LocalState
from toolglot.gateway.startup_check import warn_unreachable
from toolglot.gateway.state import log
from toolglot.gateway.upstream_network import upstream_transport
from toolglot.gateway.usage import Usage
from toolglot.gateway.worker import DELETE_SECONDS, USAGE_ERROR
from toolglot.gateway.worker_channel import (
    Answer,
    Ask,
    Channel,
    Count,
    Counted,
    Delete,
    Ended,
    Message,
    Ready,
    Reload,
    ReloadRequest,
    Start,
)

_START_SECONDS = 60.0  # for a worker to be ready
_COUNT_SECONDS = 2.0  # for a worker to say how many requests are in progress
_DELETE_SECONDS = 0.8 * DELETE_SECONDS
_MAX_FAILED_STARTS = 5  # in a row, with no worker ready
_SHORT_LIFE = 10.0  # seconds: dying sooner counts as a crash loop
_FIRST_DELAY, _MAX_DELAY = 0.1, 30.0  # seconds before a restart; doubled for each short life
_AFTER_GRACE = 10.0  # seconds until a worker that should end is killed


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process, channel: Channel) -> None:
        self.process, self.channel = process, channel
        self.ready = False

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)


class Master:
    def __init__(self, config: Config, source: Source, listening: socket.socket) -> None:
        fixed = {name: getattr(config.server, name) for name in FIXED}  # also for a worker that starts after a reload
        self._config, self._source = config, msgspec.structs.replace(source, options=fixed)
        self._listening = listening
        self._workers: set[_Worker] = set()
        self._stopping = asyncio.Event()
        self._failed_starts = 0
        self._exit_code = 0
        self._config_reload: ConfigReload | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._records = Records(config.server.max_records)
        metrics, history, self._usage, self.spending = Metrics(), History(), Usage(), Spending()
        self._records.observers += [metrics, history, self._usage, self.spending, log_request]
        self._counts = LocalState()
        self._overview = Overview(self._records, metrics, history, self)

    async def run(self) -> int:
        """The exit code, once it is stopped and all workers ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        if self._source.path is None:
            loop.add_signal_handler(signal.SIGHUP, lambda: None)  # workers look for servers by themselves
        else:
            self._config_reload = ConfigReload(Path(self._source.path))
            loop.add_signal_handler(signal.SIGHUP, self._config_reload.request, True)
            self._do(self._watch(Path(self._source.path), self._config_reload))
        self._do(self._check_upstreams())
        if seconds := self._config.server.retention:
            self._do(delete_old(seconds, self._records, None))
        await asyncio.gather(*(self._keep_running() for _ in range(self._config.server.workers)))
        for task in self._tasks:
            task.cancel()
        return self._exit_code

    async def _check_upstreams(self) -> None:
        transport = Transports()
        try:
            await warn_unreachable(self._config, upstream_transport(self._config.upstreams.values(), transport))
        finally:
            await transport.aclose()

    # -- workers

    async def _keep_running(self) -> None:
        loop, delay = asyncio.get_running_loop(), _FIRST_DELAY
        while not self._stopping.is_set():
            began = loop.time()
            code, was_ready = await self._run_worker()
            if self._stopping.is_set():
                return
            log.error("a worker ended with exit code %s", code)
            if not was_ready and self._is_hopeless(code):
                return
            if was_ready and loop.time() - began >= _SHORT_LIFE:
                delay = _FIRST_DELAY
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)
            delay = min(_MAX_DELAY, 2 * delay)

    async def _run_worker(self) -> tuple[int, bool]:
        """Its exit code, and whether it was ready."""
        here, there = socket.socketpair()
        with there:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "toolglot.gateway.worker", str(self._listening.fileno()), str(there.fileno())),
                pass_fds=[self._listening.fileno(), there.fileno()],
                start_new_session=True,  # Ctrl-C reaches the master only, which stops the workers
            )
        worker = _Worker(process, await Channel.to_worker(here))
        with self._listed(worker):
            worker.channel.send(Start(self._source))
            too_slow = asyncio.get_running_loop().call_later(_START_SECONDS, self._kill_unless_ready, worker)
            async for message in worker.channel.messages():
                await self._handle(worker, message)
            too_slow.cancel()
        return await process.wait(), worker.ready

    @contextmanager
    def _listed(self, worker: _Worker) -> Iterator[None]:
        self._workers.add(worker)
        if self._stopping.is_set():  # while it was starting
            worker.signal(signal.SIGTERM)
        try:
            yield
        finally:
            self._workers.discard(worker)

    def _kill_unless_ready(self, worker: _Worker) -> None:
        if not worker.ready:
            log.error("a worker did not start within %d seconds", _START_SECONDS)
            worker.signal(signal.SIGKILL)

    def _is_hopeless(self, code: int) -> bool:
        """If no worker is ready and starting another is pointless. Then everything stops."""
        self._failed_starts += 1
        if any(worker.ready for worker in self._workers):
            return False
        if code != USAGE_ERROR and self._failed_starts < _MAX_FAILED_STARTS:
            return False
        if not self._stopping.is_set():
            log.critical("workers do not start (exit code %s; their errors are above): the gateway ends", code)
            self._exit_code = code if code == USAGE_ERROR else 1
            self._stop(signal.SIGTERM)
        return True

    async def _handle(self, worker: _Worker, message: Message) -> None:
        match message:
            case Ended(records):
                for record in records:
                    self._records.add(record)
            case Counted(id, number):
                worker.channel.answered(id, number)
            case Ask():
                self._do(self._answer(worker, message))
            case ReloadRequest() if self._config_reload is not None:
                self._config_reload.request(publish=False)
            case Ready():
                worker.ready, self._failed_starts = True, 0

    # -- questions

    async def _answer(self, worker: _Worker, question: Ask) -> None:
        match question.method, question.arguments:
            case "metrics", []:
                value: object = (await self._overview.metrics()).decode()
            case "find", [str(id)]:
                await self.running(None)
                value = await self._overview.find(id)
            case "live", [str(query)]:
                value = await self._overview.live(msgspec.json.decode(query, type=LiveQuery))
            case "usage", [str(days), owner]:
                await self.running(None)
                value = await self._overview.usage(int(days), owner)
            case "delete", [owner]:
                value = await self._overview.delete(owner)
            case "spent", [str(owner)]:
                value = await self._overview.spent(owner)
            case _:
                value = await self._overview.failed()
        worker.channel.send(Answer(question.id, msgspec.Raw(msgspec.json.encode(value))))

    async def running(self, owner: str | None) -> int:
        """Of all workers. A worker sends its records before its answer, so all requests that ended before are counted, too."""
        return await self._sum(lambda number: Count(number, owner), _COUNT_SECONDS)

    async def delete_responses(self, owner: str | None) -> int:
        return await self._sum(lambda number: Delete(number, owner), _DELETE_SECONDS)

    async def _sum(self, question: Callable[[int], Message], seconds: float) -> int:
        answers = (worker.channel.ask(question, seconds) for worker in self._workers if worker.ready)
        numbers = await asyncio.gather(*answers, return_exceptions=True)
        return sum(number for number in numbers if isinstance(number, int))

    async def report_usage(self, days: int, owner: str | None) -> list[dict[str, Any]]:
        return await self._usage.report(self._counts, days, owner)

    # -- configuration and shutdown

    async def _watch(self, path: Path, changes: ConfigReload) -> None:
        async for publish in changes.changes():
            if new := await reload(path, self._config):
                self._config, text = new
                self._source = msgspec.structs.replace(self._source, text=text)
                for worker in self._workers:
                    worker.channel.send(Reload(text, publish))
                    publish = publish and not worker.ready  # one is enough

    def _stop(self, number: int) -> None:
        """The first signal ends workers gracefully. Another SIGINT ends them at once."""
        if self._stopping.is_set():
            for worker in self._workers:
                worker.signal(number)
            return
        self._stopping.set()
        self._listening.close()  # the workers close theirs
        for worker in self._workers:
            worker.signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(GRACE + _AFTER_GRACE, self._kill_all)

    def _kill_all(self) -> None:
        for worker in self._workers:
            worker.signal(signal.SIGKILL)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def run_master(config: Config, source: Source, listening: socket.socket) -> int:
    async def work() -> int:
        return await Master(config, source, listening).run()

    return asyncio.run(work())
