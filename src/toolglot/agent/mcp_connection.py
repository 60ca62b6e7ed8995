"""A connection to an MCP server, started as a process or over HTTP. Supports versions 1 and 2 of the `mcp` package.

The connection runs in a separate task: the package must be entered and exited by the same task, but tools may be used from
any task.
"""

from __future__ import annotations

import asyncio
import importlib
import shlex
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from toolglot.agent.results import without_secrets
from toolglot.core.log import log
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.io.json_codec import preview

MCP_FAILED = "mcp_failed"  # the error code; other upstream errors come from the model

_CHANGED = "notifications/tools/list_changed"
_SUBSCRIPTIONS_SINCE = "2026-07-28"  # from this protocol version on, only subscribers are notified of changes
_SUBSCRIBE_TIMEOUT = 5.0  # seconds
_CLOSE_TIMEOUT = 10.0  # seconds; the package itself waits at most six before it kills the process
_MAX_COMMAND = 120  # characters of a command in a label
_MAX_STDERR = 400  # characters of stderr in an error message


class Server(msgspec.Struct, frozen=True):
    """A server's URL, or the command that starts it."""

    url: str | None = None
    command: tuple[str, ...] = ()
    headers: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    cwd: str | None = None

    @property
    def label(self) -> str:
        """For messages: without query, password and keys."""
        if self.url is None:
            line = " ".join(shlex.join(self.command).split())  # it may contain a script of many lines
            return preview(without_secrets(line), _MAX_COMMAND)
        split = urlsplit(self.url)
        return f"{split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}"


class Connection:
    """A session with a server, and whether its tool list may have changed since it was last read."""

    def __init__(self) -> None:
        self.session: Any = None
        self.changed = False  # set by a notification, reset by the reader of the list
        self.unsubscribed = False  # changes are no longer notified

    async def handle_message(self, message: Any) -> None:
        """A notification from the server. Version 1 of the package wraps it in `root`."""
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
            raise CallerError(f"{server!r} is not a valid command line: {error}", "mcp") from None
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
    """Connect, and close on exit. A started server is stopped, and killed if it does not stop."""
    package()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        ready: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        leave = asyncio.Event()
        task = asyncio.create_task(_keep(server, stderr, ready, leave))
        try:
            try:
                async with asyncio.timeout(seconds):
                    connection = await asyncio.shield(ready)
            except TimeoutError:
                task.cancel()
                message = f"{server.label} did not answer within {seconds:g} s{_last_line(stderr)}"
                raise UpstreamError(message, code=MCP_FAILED) from None
            yield connection
        finally:
            leave.set()
            await _wait_closed(task, ready)


async def _keep(server: Server, stderr: IO[str], ready: asyncio.Future[Connection], leave: asyncio.Event) -> None:
    try:
        async with AsyncExitStack() as stack:
            connection = Connection()
            connection.session = await _session(server, stderr, connection, stack)
            ready.set_result(connection)
            await leave.wait()
    except Exception as error:  # noqa: BLE001  (before `ready` it is raised in `connect`; later there is no receiver)
        if ready.done():
            log.debug("%s: the connection ended with an error: %s", server.label, type(error).__name__)
        else:
            ready.set_exception(_fault(error, server, stderr))


async def _wait_closed(task: asyncio.Task[None], ready: asyncio.Future[Connection]) -> None:
    """Wait until the connection is closed, even if the caller is cancelled meanwhile."""
    if not ready.done():
        ready.cancel()
        task.cancel()
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=_CLOSE_TIMEOUT)
        raise


async def _session(server: Server, stderr: IO[str], connection: Connection, stack: AsyncExitStack) -> Any:
    mcp = package()
    transport = await _over_http(server, stack) if server.url else _started(server, stderr)
    if hasattr(mcp, "Client"):  # version 2; supports both the old and the new handshake
        client = await stack.enter_async_context(mcp.Client(transport, message_handler=connection.handle_message))
        await _subscribe(client, connection, stack)
        return client
    read, write, *_ = await stack.enter_async_context(transport)
    session = await stack.enter_async_context(mcp.ClientSession(read, write, message_handler=connection.handle_message))
    await session.initialize()
    return session


async def _subscribe(client: Any, connection: Connection, stack: AsyncExitStack) -> None:
    """With the new handshake, a server notifies only subscribers of changes. If it fails, the list is read each time."""
    if client.protocol_version < _SUBSCRIPTIONS_SINCE or not getattr(client.server_capabilities.tools, "list_changed", False):
        return
    try:
        async with asyncio.timeout(_SUBSCRIBE_TIMEOUT):
            changes = await stack.enter_async_context(client.listen(tools_list_changed=True))
    except Exception as error:  # noqa: BLE001  (the mcp package raises many kinds)
        log.debug("no subscription to tool changes: %s", type(error).__name__)
        connection.unsubscribed = True
        return
    task = asyncio.create_task(_follow(changes, connection))
    stack.callback(task.cancel)


async def _follow(changes: Any, connection: Connection) -> None:
    """Runs until the subscription ends; from then on the list has to be read each time."""
    try:
        async for _ in changes:
            connection.changed = True
    except Exception as error:  # noqa: BLE001  (the mcp package raises many kinds)
        log.debug("the subscription to tool changes ended: %s", type(error).__name__)
    connection.unsubscribed = True


def _started(server: Server, stderr: IO[str]) -> Any:
    command, *arguments = server.command
    stdio = package(".client.stdio")
    parameters = stdio.StdioServerParameters(command=command, args=arguments, env=dict(server.env), cwd=server.cwd)
    return stdio.stdio_client(parameters, errlog=stderr)


async def _over_http(server: Server, stack: AsyncExitStack) -> Any:
    over_http = package(".client.streamable_http")
    if not hasattr(over_http, "streamable_http_client"):  # before 1.24
        return over_http.streamablehttp_client(server.url, headers=dict(server.headers))
    make = package(".shared._httpx_utils").create_mcp_http_client
    client = await stack.enter_async_context(make(headers=dict(server.headers)))
    return over_http.streamable_http_client(server.url, http_client=client)


def _fault(error: Exception, server: Server, stderr: IO[str]) -> ToolglotError:
    """CallerError if the command can't be started, else UpstreamError."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolglotError):
        return error
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return CallerError(f"{server.command[0] if server.command else server.label} can't be started: {error.strerror}", "mcp")
    why = without_secrets(str(error).strip().partition("\n")[0])
    problem = f"{server.label} could not be reached: {why or type(error).__name__}{_last_line(stderr)}"
    return UpstreamError(problem, code=MCP_FAILED)


def _last_line(stderr: IO[str]) -> str:
    """The last line that the server wrote to stderr."""
    stderr.seek(0)
    line = next((line.strip() for line in reversed(stderr.read().splitlines()) if line.strip()), "")
    return f"; its last stderr line: {preview(without_secrets(line), _MAX_STDERR)}" if line else ""
