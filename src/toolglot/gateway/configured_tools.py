"""`[[server_tool]]`: a tool of an MCP server or of a Python file that runs a vendor's server tool for other models.

A server is started or connected to by the first request that needs it, and again after it failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Literal

import msgspec

from toolglot.agent.mcp import McpServer, mcp_server
from toolglot.agent.mcp_connection import package, read_server
from toolglot.agent.runnable import Runnable, runnable
from toolglot.agent.tool_file import load_tools
from toolglot.agent.tool_runner import ToolRunner
from toolglot.client.keys import Secret
from toolglot.core.log import log
from toolglot.core.messages import Media, Part, Text, ToolCall
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, ToolglotError, UpstreamError

_PAUSE = 10.0  # seconds after a failed connection, in which requests do without the tool at once
_FROM_ENVIRONMENT = "env:"


class ServerToolRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[server_tool]]`: runs a server tool that clients declare in their vendor's form, for models of other vendors."""

    name: Literal["web_search", "web_fetch", "code_execution"]  # the server tool; clients of all APIs may declare it
    mcp: str = ""  # an MCP server: an http(s) URL, or the command that starts it; needs `toolglot[mcp]`
    file: str = ""  # or a Python file with the tool, which is executed
    tool: str = ""  # the tool's name there; "": that of the server tool, or the only tool
    headers: dict[str, str] = {}  # for an MCP server over HTTP; "env:NAME" reads a variable
    env: dict[str, str] = {}  # environment variables of a started MCP server; "env:NAME" reads a variable
    timeout: float = 60.0  # of one call


class ToolSource(msgspec.Struct, frozen=True):
    """A row that was read: values from the environment are secrets, and the tool of a file is loaded."""

    row: ServerToolRow
    headers: dict[str, Secret | str] = {}
    env: dict[str, Secret | str] = {}
    loaded: Runnable | None = None


def read_source(row: ServerToolRow, environ: Mapping[str, str]) -> ToolSource:
    """Raises a CallerError whose `where` is the key that can't be used."""
    if bool(row.mcp) == bool(row.file):
        raise CallerError("needs mcp (a server's URL or command) or file (a Python file), and not both", "mcp")
    if not 0 < row.timeout < float("inf"):
        raise CallerError("must be more than 0", "timeout")
    if row.file:
        return ToolSource(row, loaded=_chosen(row, tuple(map(runnable, load_tools(row.file))), row.file))
    package()
    read_server(row.mcp, {}, {}, None)
    headers = {name: _value(value, environ, "headers") for name, value in row.headers.items()}
    return ToolSource(row, headers, {name: _value(value, environ, "env") for name, value in row.env.items()})


def _value(text: str, environ: Mapping[str, str], where: str) -> Secret | str:
    if not text.startswith(_FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(_FROM_ENVIRONMENT)
    if name not in environ:
        raise CallerError(f"the environment variable {name} is not set", where)
    return Secret(environ[name], name)


def _chosen(row: ServerToolRow, found: tuple[Runnable, ...], where: str) -> Runnable:
    """The tool that the row means."""
    wanted = row.tool or row.name
    named = [one for one in found if one.tool.name == wanted]
    if named or (not row.tool and len(found) == 1):
        return (named or found)[0]
    names = ", ".join(one.tool.name for one in found[:20]) or "none"
    raise CallerError(f"{where} has no tool {wanted}; there are: {names}", "tool")


class ConfiguredTool:
    """One server tool. Closed for good only when no call of it runs any more."""

    def __init__(self, source: ToolSource) -> None:
        self.source = source
        self._lock = asyncio.Lock()
        self._stack: AsyncExitStack | None = None
        self._server: McpServer | None = None
        self._in_doubt = False  # a call failed: the server may be gone
        self._failed: tuple[float, UpstreamError] | None = None  # the last connection
        self._running = 0
        self._retired = False

    async def definition(self) -> Tool:
        return (await self._runnable()).tool

    async def run(self, call: ToolCall) -> tuple[str, bool]:
        self._running += 1
        try:
            tool = await self._runnable()
            done = await ToolRunner({call.full_name: tool}, timeout=self.source.row.timeout).run(call)
            self._in_doubt = done.result.is_error
            return _text(done.result.parts), done.result.is_error
        except ToolglotError as error:
            return f"Error: {error}", True
        finally:
            self._running -= 1
            if self._retired and not self._running:
                await self._close()

    async def retire(self) -> None:
        self._retired = True
        if not self._running:
            await self._close()

    async def _runnable(self) -> Runnable:
        source = self.source
        if source.loaded is not None:
            return source.loaded
        async with self._lock:
            server = await self._connected()
            return _chosen(source.row, await server.tools(), source.row.name)

    async def _connected(self) -> McpServer:
        if self._server is not None and self._in_doubt and not await self._server.is_alive():
            await self._close()
        self._in_doubt = False
        if self._server is None:
            self._server = await self._connect()
        return self._server

    async def _connect(self) -> McpServer:
        if self._failed is not None and time.monotonic() - self._failed[0] < _PAUSE:
            raise self._failed[1].with_traceback(None)
        row, stack = self.source.row, AsyncExitStack()
        headers, env = _revealed(self.source.headers), _revealed(self.source.env)
        try:
            server = await stack.enter_async_context(mcp_server(row.mcp, headers=headers, env=env, timeout=row.timeout))
        except UpstreamError as error:
            log.warning("server tool %s: %s", row.name, error)
            self._failed = time.monotonic(), error
            raise
        self._stack, self._failed = stack, None
        return server

    async def _close(self) -> None:
        stack, self._stack, self._server = self._stack, None, None
        if stack is not None:
            await stack.aclose()


def _revealed(values: Mapping[str, Secret | str]) -> dict[str, str]:
    return {name: value.reveal() if isinstance(value, Secret) else value for name, value in values.items()}


def _text(parts: tuple[Part, ...]) -> str:
    """Images and files have no place in the items of a server tool."""
    return "\n".join(_one_text(part) for part in parts)


def _one_text(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return f"({part.mime or part.kind} left out)" if isinstance(part, Media) else ""


class ConfiguredTools:
    """The tools of the active configuration. A reload keeps the connections of rows that did not change."""

    def __init__(self) -> None:
        self._tools: dict[str, ConfiguredTool] = {}
        self._retiring: set[asyncio.Task[None]] = set()

    def use(self, sources: tuple[ToolSource, ...]) -> Mapping[str, ConfiguredTool]:
        before, self._tools = self._tools, {}
        for source in sources:
            kept = before.get(source.row.name)
            same = kept is not None and kept.source == source
            self._tools[source.row.name] = before.pop(source.row.name) if same else ConfiguredTool(source)
        for tool in before.values():
            task = asyncio.get_running_loop().create_task(tool.retire())
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
        return dict(self._tools)

    async def aclose(self) -> None:
        await asyncio.gather(*self._retiring, *(tool.retire() for tool in self._tools.values()), return_exceptions=True)
