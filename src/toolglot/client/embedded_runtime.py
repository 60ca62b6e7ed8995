"""llama.cpp's server inside this process: loaded once per file, shared by all clients, and stopped cleanly at exit.

Three facts of xllamacpp shape this file; docs/decisions/0007-embedded-model.md has the measurements.
- A server that is deleted before its loop runs never stops: so its metrics are requested first, which the loop answers.
- One that is deleted while a connection waits for a response never stops either: so all its connections are shut down first.
- It always listens on a free loopback port: so it requires a key that only this process knows.
"""

from __future__ import annotations

import atexit
import importlib
import os
import secrets
import socket
import threading
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from toolglot.client import machine
from toolglot.client.gguf import read_window
from toolglot.errors import CallerError, UpstreamError

SMALLEST, LARGEST = 4096, 32768  # tokens of the context window, where TOOLGLOT_LOCAL_CTX does not set it
_FAMILIES = {socket.AF_INET, socket.AF_INET6}


class Running(msgspec.Struct, frozen=True):
    """The address of a loaded model, and its key."""

    address: str
    key: str

    def __repr__(self) -> str:
        return f"Running({self.address!r})"  # without the key


_REGISTRY = threading.Lock()
_LOADING = threading.Lock()  # one at a time: loading sets process-wide state
_MODELS: dict[Path, Future[Running]] = {}
_SERVERS: dict[str, Any] = {}  # by address; the only references, because deleting one stops its server


def running(path: Path, name: str) -> Future[Running]:
    """The model of this file, loaded in a separate thread on first use. A failed load can be retried."""
    with _REGISTRY:
        known = _MODELS.get(path)
        if known is not None and not (known.done() and known.exception()):
            return known
        fresh = _MODELS[path] = Future[Running]()
        fresh.set_running_or_notify_cancel()  # a cancelled waiter must not cancel the load for the others
    threading.Thread(target=_load_into, args=(fresh, path, name), name=f"load {path.name}").start()
    return fresh


def loaded() -> list[Path]:
    with _REGISTRY:
        return [path for path, model in _MODELS.items() if model.done() and not model.exception()]


def stop_all() -> None:
    """At exit, and in tests. Requests that still run fail with a broken connection."""
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
    except BaseException as error:  # noqa: BLE001  (the waiters handle it)
        future.set_exception(error)


def _load(path: Path, name: str) -> Running:
    runtime = import_runtime()
    key = secrets.token_urlsafe(24)
    try:
        server = runtime.Server(_parameters(runtime, path, name, key))
    except RuntimeError as error:
        raise UpstreamError(
            f"llama.cpp can't load {path} ({error}): is it a complete GGUF file that xllamacpp {runtime.__version__} "
            "supports, and is there enough memory?",
            code="model_unloadable",
            should_retry=False,
        ) from error
    server.handle_metrics()
    address = str(server.listening_address)
    _SERVERS[address] = server
    return Running(address, key)


def import_runtime() -> ModuleType:
    try:
        return importlib.import_module("xllamacpp")  # an extra, of 100 MB
    except ImportError as error:
        raise UpstreamError(
            'the embedded model needs llama.cpp: pip install "toolglot[local]"', code="not_installed", should_retry=False
        ) from error


def _parameters(runtime: ModuleType, path: Path, name: str, key: str) -> Any:
    threads = _setting("TOOLGLOT_LOCAL_THREADS", machine.free_cores())
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {name}
    parameters.n_ctx = _setting("TOOLGLOT_LOCAL_CTX", context(path))
    parameters.n_parallel = 1  # requests queue: each has the whole context, and results do not depend on other requests
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
        raise CallerError(f"{value!r} is not a number above 0", variable)
    return int(value)


def context(path: Path) -> int:
    """Context window in tokens: the trained window, at most LARGEST, and what fits into half of the free memory."""
    window, free = read_window(path), machine.free_memory()
    if window is None:
        return SMALLEST
    wanted = min(window.trained, LARGEST)
    if free is not None:
        wanted = min(wanted, (free - path.stat().st_size) // 2 // max(1, window.token_bytes) // 256 * 256)
    return max(wanted, min(SMALLEST, window.trained))


def _hang_up(address: str) -> None:
    """Shut down every connection of this process to the address.

    They are found among the open files of the process, because their objects may belong to loops and threads that have ended.
    """
    host, _, port = address.removeprefix("http://").rpartition(":")
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:  # not on Windows: there the clients must have closed them
        return
    for descriptor in descriptors:
        try:
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                if connection.family in _FAMILIES and connection.getpeername()[:2] == (host, int(port)):
                    connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue  # not a socket, not connected, or already closed


atexit.register(stop_all)
