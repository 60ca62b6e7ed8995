"""llama.cpp's server inside this process: loaded once for each file, shared by all, and gone cleanly when the process ends.

Three facts of xllamacpp shape this file; docs/decisions/0007-embedded-model.md has the measurements.
- A server that is dropped before its loop runs never ends: so each is asked for its metrics first, which the loop answers.
- One that is dropped while a connection waits for an answer waits for it for ever: so all connections to it are shut first.
- It listens on a free loopback port whether that is wanted or not: so it has a key that only this process knows.
"""

from __future__ import annotations

import atexit
import importlib
import os
import secrets
import socket
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from toolglot.errors import CallerError, UpstreamError

CONTEXT = 4096  # tokens; llama.cpp itself takes less where the model was trained on less
_FAMILIES = {socket.AF_INET, socket.AF_INET6}


class Running(msgspec.Struct, frozen=True):
    """Where a loaded model listens, and what it must be shown."""

    address: str
    key: str

    def __repr__(self) -> str:
        return f"Running({self.address!r})"  # without the key


_REGISTRY = threading.Lock()
_LOADING = threading.Lock()  # one at a time: loading sets process-wide state
_MODELS: dict[Path, Future[Running]] = {}
_SERVERS: dict[str, Any] = {}  # by address; nobody else may hold one, for dropping it is what ends it


def running(path: Path, name: str) -> Future[Running]:
    """The model of this file; loaded by a thread of its own when it is first asked for. A failed load may be tried again."""
    with _REGISTRY:
        known = _MODELS.get(path)
        if known is not None and not (known.done() and known.exception()):
            return known
        fresh = _MODELS[path] = Future[Running]()
        fresh.set_running_or_notify_cancel()  # no waiter's cancellation ends the load that others wait for
    threading.Thread(target=_load_into, args=(fresh, path, name), name=f"load {path.name}").start()
    return fresh


def loaded() -> list[Path]:
    with _REGISTRY:
        return [path for path, model in _MODELS.items() if model.done() and not model.exception()]


def stop_all() -> None:
    """At the end of the process, and in tests. Whoever still waits for an answer sees the connection break."""
    with _REGISTRY:
        _MODELS.clear()
        addresses = list(_SERVERS)
    for address in addresses:
        _hang_up(address)
        del _SERVERS[address]  # waits for the server's threads


def _load_into(future: Future[Running], path: Path, name: str) -> None:
    try:
        with _LOADING:
            future.set_result(_load(path, name))
    except BaseException as error:  # noqa: BLE001  (it is the waiters' to handle)
        future.set_exception(error)


def _load(path: Path, name: str) -> Running:
    runtime = _import_runtime()
    key = secrets.token_urlsafe(24)
    try:
        server = runtime.Server(_parameters(runtime, path, name, key))
    except RuntimeError as error:
        raise UpstreamError(
            f"llama.cpp can't load {path} ({error}): is it a whole GGUF file, of a kind that xllamacpp {runtime.__version__} "
            "knows, and is there memory for it?",
            code="model_unloadable",
            should_retry=False,
        ) from error
    server.handle_metrics()
    address = str(server.listening_address)
    _SERVERS[address] = server
    return Running(address, key)


def _import_runtime() -> ModuleType:
    try:
        return importlib.import_module("xllamacpp")  # an extra, of 100 MB
    except ImportError as error:
        raise UpstreamError(
            'the embedded model needs llama.cpp: pip install "toolglot[local]"', code="not_installed", should_retry=False
        ) from error


def _parameters(runtime: ModuleType, path: Path, name: str, key: str) -> Any:
    threads = _setting("TOOLGLOT_LOCAL_THREADS", _cores())
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {name}
    parameters.n_ctx = _setting("TOOLGLOT_LOCAL_CTX", CONTEXT)
    parameters.n_parallel = 1  # requests queue, each has the whole context, and none changes another's numbers
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.endpoint_metrics = True
    parameters.ui = False
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    return parameters


def _setting(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or int(value) == 0:
        raise CallerError(f"{value!r} is no number above 0", variable)
    return int(value)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _hang_up(address: str) -> None:
    """Shut every connection of this process that leads there, whoever opened it and with whatever event loop.

    Found among the process's open files, for the objects that own them may belong to loops and threads that are no more.
    """
    host, _, port = address.removeprefix("http://").rpartition(":")
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:  # no such place on Windows: there the owners must have closed them
        return
    for descriptor in descriptors:
        try:
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                if connection.family in _FAMILIES and connection.getpeername()[:2] == (host, int(port)):
                    connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue  # no socket, not connected, or closed meanwhile


atexit.register(stop_all)
