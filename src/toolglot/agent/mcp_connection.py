"""A connection to an MCP server, started or over HTTP. Versions 1 and 2 of the `mcp` package differ here alone.

The connection lives in a task of its own: the package wants to be left by the task that entered it, and whoever uses
the tools may come and go in any.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import shlex
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from toolglot.agent.results import without_secrets
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.text.json_text import shown

log = logging.getLogger("toolglot")

FAILED = "mcp_failed"  # the code of errors that are no model's

_CLOSING = 10.0  # seconds for a server to end, of which the package itself takes six at most before it kills
_LAST_WORDS = 400  # characters of what a server wrote to its error output


class Server(msgspec.Struct, frozen=True):
    """Where the server is: a URL, or a command to start it."""

    url: str | None = None
    command: tuple[str, ...] = ()
    headers: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    cwd: str | None = None

    @property
    def label(self) -> str:
        """For people: no query, no password, no key."""
        if self.url is None:
            return without_secrets(shlex.join(self.command))
        split = urlsplit(self.url)
        return f"{split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}"


def read_server(server: str | Sequence[str], headers: Mapping[str, str], env: Mapping[str, str], cwd: str | None) -> Server:
    if not isinstance(server, str):
        command = tuple(server) if isinstance(server, Sequence) and all(isinstance(word, str) for word in server) else ()
    elif server.startswith(("http://", "https://")):
        return Server(url=server, headers=headers)
    else:
        try:
            command = tuple(shlex.split(server))
        except ValueError as error:
            raise CallerError(f"{server!r} is no command line: {error}", "mcp") from None
    if not command:
        raise CallerError("expected an http(s) URL, or the command that starts a server", "mcp")
    return Server(command=command, env=env, cwd=cwd)


def package(part: str = "") -> Any:
    """The `mcp` package or a module of it."""
    try:
        return importlib.import_module(f"mcp{part}")
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise CallerError("MCP servers need the mcp package: pip install 'toolglot[mcp]'", "mcp") from None


@asynccontextmanager
async def connect(server: Server, seconds: float) -> AsyncIterator[Any]:
    """A session with the server, ready for use, and closed behind: a server that was started is ended, at the worst killed."""
    package()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as heard:
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        leave = asyncio.Event()
        task = asyncio.create_task(_keep(server, heard, ready, leave))
        try:
            try:
                async with asyncio.timeout(seconds):
                    session = await asyncio.shield(ready)
            except TimeoutError:
                task.cancel()
                said = f"{server.label} did not answer within {seconds:g} s{_last_words(heard)}"
                raise UpstreamError(said, code=FAILED) from None
            yield session
        finally:
            leave.set()
            await _ended(task, ready)


async def _keep(server: Server, heard: IO[str], ready: asyncio.Future[Any], leave: asyncio.Event) -> None:
    try:
        async with AsyncExitStack() as stack:
            session = await _session(server, heard, stack)
            ready.set_result(session)
            await leave.wait()
    except Exception as error:  # noqa: BLE001  (told to whoever waits; behind it, there is nobody)
        if ready.done():
            log.debug("%s: the connection ended badly: %s", server.label, type(error).__name__)
        else:
            ready.set_exception(_fault(error, server, heard))


async def _ended(task: asyncio.Task[None], ready: asyncio.Future[Any]) -> None:
    """Until the connection is closed, also where the one who closes it is cancelled meanwhile."""
    if not ready.done():
        ready.cancel()
        task.cancel()
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_CLOSING)
        raise


async def _session(server: Server, heard: IO[str], stack: AsyncExitStack) -> Any:
    mcp = package()
    transport = await _over_http(server, stack) if server.url else _started(server, heard)
    if hasattr(mcp, "Client"):  # version 2; it knows servers of both the old and the new handshake
        return await stack.enter_async_context(mcp.Client(transport))
    read, write, *_ = await stack.enter_async_context(transport)
    session = await stack.enter_async_context(mcp.ClientSession(read, write))
    await session.initialize()
    return session


def _started(server: Server, heard: IO[str]) -> Any:
    command, *arguments = server.command
    stdio = package(".client.stdio")
    given = stdio.StdioServerParameters(command=command, args=arguments, env=dict(server.env), cwd=server.cwd)
    return stdio.stdio_client(given, errlog=heard)


async def _over_http(server: Server, stack: AsyncExitStack) -> Any:
    over_http = package(".client.streamable_http")
    if not hasattr(over_http, "streamable_http_client"):  # before 1.24
        return over_http.streamablehttp_client(server.url, headers=dict(server.headers))
    make = package(".shared._httpx_utils").create_mcp_http_client
    client = await stack.enter_async_context(make(headers=dict(server.headers)))
    return over_http.streamable_http_client(server.url, http_client=client)


def _fault(error: Exception, server: Server, heard: IO[str]) -> ToolglotError:
    """Who must act: the caller where there is nothing to start, else the server's side."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolglotError):
        return error
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return CallerError(f"{server.command[0] if server.command else server.label} can't be started: {error.strerror}", "mcp")
    said = without_secrets(str(error).strip().partition("\n")[0])
    problem = f"{server.label} could not be reached: {said or type(error).__name__}{_last_words(heard)}"
    return UpstreamError(problem, code=FAILED)


def _last_words(heard: IO[str]) -> str:
    """The last line that the server wrote to its error output."""
    heard.seek(0)
    line = next((line.strip() for line in reversed(heard.read().splitlines()) if line.strip()), "")
    return f"; its last words: {shown(without_secrets(line), _LAST_WORDS)}" if line else ""
