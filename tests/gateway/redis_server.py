"""A real Redis, real gateway processes, and a real nginx in front of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.gateway.running import LIMITS
from tests.ports import reserved_port
from tests.system_packages import find_program
from toolglot.client.http import HttpTransport, Proxies
from toolglot.io.json_codec import encode

KEY = "key-one-0123456789"
_REDIS, _NGINX = find_program("redis-server"), find_program("nginx")
needs_redis = pytest.mark.skipif(_REDIS is None, reason="no redis-server: as root on Debian, make test installs it")
needs_nginx = pytest.mark.skipif(_NGINX is None, reason="no nginx: as root on Debian, make test installs it")
_SERVE = [sys.executable, "-c", "from toolglot.cli.serve import command; command()", "--json"]


async def until(condition: Callable[[], Any]) -> None:
    """Polls; the guard of the test limits the time."""
    while True:
        found = condition()
        if await found if asyncio.iscoroutine(found) else found:
            return
        await asyncio.sleep(0.05)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


class RedisServer:
    def __init__(self, folder: Path, port: int, *options: str) -> None:
        self.port = port
        self._command = [_REDIS or "", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self._command += options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        await until(self._responds)

    def _responds(self) -> bool:
        """Then it listens on all of its ports."""
        assert self._process is not None
        assert self._process.poll() is None
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as asking:
            asking.sendall(b"PING\r\n")
            return bool(asking.recv(1))
        return False

    def pause(self) -> None:
        """It still accepts connections, but does not respond."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextlib.asynccontextmanager
async def redis_server(folder: Path, *options: str) -> AsyncIterator[RedisServer]:
    with reserved_port() as port:
        server = RedisServer(folder, port, *options)
        try:
            await server.start()
            yield server
        finally:
            server.kill()


@dataclass
class Process:
    process: asyncio.subprocess.Process
    url: str
    client: HttpTransport

    async def ask(self, method: str, path: str, body: Any = None, key: str = KEY) -> tuple[int, Any, dict[str, str]]:
        data = b"" if body is None else encode(body)
        answer = await self.client.send(method, self.url + path, {"x-api-key": key}, data, limits=LIMITS)
        content = await answer.read()
        await answer.aclose()
        return answer.status, json.loads(content) if content else None, dict(answer.headers)

    async def status(self) -> str:
        return str((await self.ask("GET", "/readyz"))[1]["status"])


@contextlib.asynccontextmanager
async def gateways(folder: Path, upstream: str, state: str, server: str = "", number: int = 2) -> AsyncIterator[list[Process]]:
    """`toolglot serve` as processes with one configuration each, in their own folders."""
    started: list[Process] = []
    client = HttpTransport(proxies=Proxies())
    try:
        for at in range(number):
            place = folder / f"gateway{at}"
            place.mkdir()
            (place / "toolglot.toml").write_text(
                f'[server]\nport = 0\ndetect = false\nkeys = ["{KEY}"]\nstate = "env:STATE"\n{server}\n'
                f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{upstream}"\n[[route]]\nmodel = "*"\nto = "u/m"\n'
            )
            paths = os.pathsep.join([str(Path(toolglot.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
            environ = {**os.environ, "PYTHONPATH": paths, "STATE": state, "TOOLGLOT_CACHE": str(place)}
            environ.pop("TOOLGLOT_REMEMBER", None)
            process = await asyncio.create_subprocess_exec(*_SERVE, cwd=place, env=environ, stdout=subprocess.PIPE)
            assert process.stdout is not None
            started.append(Process(process, json.loads(await process.stdout.readline())["url"], client))
        yield started
    finally:
        await client.aclose()
        for one in started:
            if one.process.returncode is None:
                one.process.kill()
            await one.process.wait()


@contextlib.asynccontextmanager
async def nginx(folder: Path, urls: list[str]) -> AsyncIterator[str]:
    with reserved_port() as port:
        servers = "".join(f"server {url.removeprefix('http://')} max_fails=1 fail_timeout=60s;" for url in urls)
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}\n"
            f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
            f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
            f"upstream gateways {{ {servers} }}\n"
            f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://gateways; proxy_http_version 1.1;\n"
            'proxy_set_header Connection ""; proxy_buffering off; } } }\n'
        )
        process = subprocess.Popen([_NGINX or "", "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")])
        try:
            await until(lambda: _accepts(port) or process.poll() is not None)
            assert process.poll() is None
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()
