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

_CHANGED = "notifications/tools/list_changed"
_SUBSCRIBED = "2026-07-28"  # the version of the protocol from which on changes are told to subscribers only
_ACKNOWLEDGED = 5.0  # seconds for a server to agree that it will tell of changes
_CLOSING = 10.0  # seconds for a server to end, of which the package itself takes six at most before it kills
_SHOWN = 120  # characters of a command
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
            line = " ".join(shlex.join(self.command).split())  # a script may stand in it
            return shown(without_secrets(line), _SHOWN)
        split = urlsplit(self.url)
        return f"{split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}"


class Connection:
    """A session with a server, and whether its list of tools may be another than the one that was read last."""

    def __init__(self) -> None:
        self.session: Any = None
        self.changed = False  # the server said so; who reads the list anew takes it back
        self.deaf = False  # it can't say so any more

    async def hear(self, message: Any) -> None:
        """What the server says of its own accord; version 1 of the package wraps it once more."""
        if getattr(getattr(message, "root", message), "method", None) == _CHANGED:
            self.changed = True


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
async def connect(server: Server, seconds: float) -> AsyncIterator[Connection]:
    """A connection to the server, ready for use, and closed behind: a server that was started is ended, at the worst killed."""
    package()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as heard:
        ready: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        leave = asyncio.Event()
        task = asyncio.create_task(_keep(server, heard, ready, leave))
        try:
            try:
                async with asyncio.timeout(seconds):
                    connection = await asyncio.shield(ready)
            except TimeoutError:
                task.cancel()
                said = f"{server.label} did not answer within {seconds:g} s{_last_words(heard)}"
                raise UpstreamError(said, code=FAILED) from None
            yield connection
        finally:
            leave.set()
            await _ended(task, ready)


async def _keep(server: Server, heard: IO[str], ready: asyncio.Future[Connection], leave: asyncio.Event) -> None:
    try:
        async with AsyncExitStack() as stack:
            connection = Connection()
            connection.session = await _session(server, heard, connection, stack)
            ready.set_result(connection)
            await leave.wait()
    except Exception as error:  # noqa: BLE001  (told to whoever waits; behind it, there is nobody)
        if ready.done():
            log.debug("%s: the connection ended badly: %s", server.label, type(error).__name__)
        else:
            ready.set_exception(_fault(error, server, heard))


async def _ended(task: asyncio.Task[None], ready: asyncio.Future[Connection]) -> None:
    """Until the connection is closed, also where the one who closes it is cancelled meanwhile."""
    if not ready.done():
        ready.cancel()
        task.cancel()
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_CLOSING)
        raise


async def _session(server: Server, heard: IO[str], connection: Connection, stack: AsyncExitStack) -> Any:
    mcp = package()
    transport = await _over_http(server, stack) if server.url else _started(server, heard)
    if hasattr(mcp, "Client"):  # version 2; it knows servers of both the old and the new handshake
        client = await stack.enter_async_context(mcp.Client(transport, message_handler=connection.hear))
        await _subscribe(client, connection, stack)
        return client
    read, write, *_ = await stack.enter_async_context(transport)
    session = await stack.enter_async_context(mcp.ClientSession(read, write, message_handler=connection.hear))
    await session.initialize()
    return session


async def _subscribe(client: Any, connection: Connection, stack: AsyncExitStack) -> None:
    """By the new handshake, a server tells of changes only those who ask for it. One that won't is no worse than before."""
    if client.protocol_version < _SUBSCRIBED or not getattr(client.server_capabilities.tools, "list_changed", False):
        return
    try:
        async with asyncio.timeout(_ACKNOWLEDGED):
            told = await stack.enter_async_context(client.listen(tools_list_changed=True))
    except Exception as error:  # noqa: BLE001  (the package's own, of many kinds)
        log.debug("it tells of no changes: %s", type(error).__name__)
        connection.deaf = True
        return
    task = asyncio.create_task(_follow(told, connection))
    stack.callback(task.cancel)


async def _follow(told: Any, connection: Connection) -> None:
    """Until the server, or the network, ends it: from then on the list has to be read each time."""
    try:
        async for _ in told:
            connection.changed = True
    except Exception as error:  # noqa: BLE001  (the package's own)
        log.debug("changes are no longer told: %s", type(error).__name__)
    connection.deaf = True


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
