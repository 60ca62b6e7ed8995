"""The tools of an MCP server as Runnables. Needs the official `mcp` package: `toolglot[mcp]`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from toolglot.agent.mcp_connection import MCP_FAILED, Connection, connect, read_server
from toolglot.agent.results import Parts, ToolError, media_kind, without_secrets
from toolglot.agent.runnable import Context, Runnable, Work
from toolglot.core.log import log
from toolglot.core.messages import Media, Text
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import dumps

Block = dict[str, Any]

_MAX_PAGES = 100  # of a tool list; a faulty server may send pages without end


class McpServer:
    """A connected server. Its tools may change: it sends a notification, and the list is read again."""

    def __init__(
        self, label: str, connection: Connection, namespace: str | None, timeout: float | None, list_timeout: float
    ) -> None:
        self._label, self._connection, self._namespace = label, connection, namespace
        self._timeout, self._list_timeout = timeout, list_timeout
        self._tools: tuple[Runnable, ...] | None = None

    async def tools(self) -> tuple[Runnable, ...]:
        """The current tools. If the server no longer answers, the previous ones: then their calls fail."""
        if self._tools is not None and not (self._connection.changed or self._connection.unsubscribed):
            return self._tools
        self._connection.changed = False
        try:
            found = await self._read()
        except UpstreamError as error:
            if self._tools is None:
                raise
            log.warning("%s; keeping the previous tools", error)
            return self._tools
        if self._tools is None or [one.tool for one in self._tools] != [one.tool for one in found]:
            self._tools = found
        return self._tools

    async def is_alive(self) -> bool:
        """Whether it still answers."""
        try:
            async with asyncio.timeout(self._list_timeout):
                await self._connection.session.list_tools()
        except Exception:  # noqa: BLE001  (the mcp package raises many kinds)
            return False
        return True

    async def _read(self) -> tuple[Runnable, ...]:
        session, timeout = self._connection.session, self._timeout
        try:
            async with asyncio.timeout(self._list_timeout):
                found = await _list_tools(session)
        except Exception as error:  # noqa: BLE001  (the mcp package raises many kinds)
            timed_out = f"no answer within {self._list_timeout:g} s" if isinstance(error, TimeoutError) else ""
            why = timed_out or without_secrets(_describe(error))
            raise UpstreamError(f"{self._label} does not list its tools: {why}", code=MCP_FAILED) from None
        source = f"mcp:{self._label}"
        return tuple(
            Runnable(_tool(one, self._namespace), _work(session, one["name"], timeout), timeout, source=source) for one in found
        )


@asynccontextmanager
async def mcp_server(
    server: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    namespace: str | None = None,
    timeout: float | None = 60.0,
    connect_timeout: float = 30.0,
) -> AsyncIterator[McpServer]:
    """Like `mcp_tools`, but yields the server: `await server.tools()` returns its current tools.

    Example, where server.py has a function `add`:
        >>> import asyncio
        >>> async def names() -> list[str]:
        ...     async with toolglot.mcp_server("python server.py") as server:
        ...         return [runnable.tool.name for runnable in await server.tools()]
        >>> asyncio.run(names())
        ['add']
    """
    address = read_server(server, headers or {}, env or {}, cwd)
    async with connect(address, connect_timeout) as connection:
        connected = McpServer(address.label, connection, namespace, timeout, connect_timeout)
        await connected.tools()
        yield connected


@asynccontextmanager
async def mcp_tools(
    server: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    namespace: str | None = None,
    timeout: float | None = 60.0,
    connect_timeout: float = 30.0,
) -> AsyncIterator[tuple[Runnable, ...]]:
    """The tools of one server. `"python server.py"` (or a list of words) starts a server, `"https://..."` connects to one.

    Names and schemas come from the server unchanged; `namespace` is a prefix that keeps the tools of two servers apart.
    `timeout` is for each call, in seconds. `headers` are for HTTP; `env` and `cwd` for a started server, which otherwise only
    sees a few variables (PATH, HOME, ...). On exit the connection is closed and a started server is stopped.

    Example, where server.py has a function `add`:
        >>> import asyncio
        >>> async def names() -> list[str]:
        ...     async with toolglot.mcp_tools("python server.py", namespace="sums") as tools:
        ...         return [runnable.tool.full_name for runnable in tools]
        >>> asyncio.run(names())
        ['sums__add']
    """
    async with mcp_server(
        server,
        headers=headers,
        env=env,
        cwd=cwd,
        namespace=namespace,
        timeout=timeout,
        connect_timeout=connect_timeout,
    ) as connected:
        yield await connected.tools()


_OPTIONS = tuple(signature(mcp_tools).parameters)


def server_options(server: Any) -> dict[str, Any]:
    """The arguments for `mcp_tools` from an item of Agent's `mcp`: a command, an address, or a mapping of arguments."""
    options = dict(server) if isinstance(server, Mapping) else {"server": server}
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown or "server" not in options:
        problem = f"unknown option {unknown[0]}" if unknown else "server is missing: an http(s) URL, or a command"
        raise CallerError(f"{problem}; the options are {', '.join(_OPTIONS)}", "mcp")
    read_server(options["server"], {}, {}, None)
    return options


async def _list_tools(session: Any) -> list[Block]:
    found: list[Block] = []
    cursors: list[str | None] = [None]
    while len(cursors) <= _MAX_PAGES:
        cursor = cursors[-1]
        page = _to_dict(await (session.list_tools(cursor=cursor) if cursor else session.list_tools()))
        found += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor or cursor in cursors:  # a repeated cursor would be an endless loop
            break
        cursors.append(cursor)
    return found


def _to_dict(model: Any) -> Block:
    """With the protocol's field names: the attribute names differ between versions of the package."""
    fields: Block = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return fields


def _tool(tool: Block, namespace: str | None) -> Tool:
    return Tool(tool["name"], tool.get("description"), tool.get("inputSchema"), namespace=namespace)


def _work(session: Any, name: str, timeout: float | None) -> Work:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        try:
            async with asyncio.timeout(timeout):
                result = _to_dict(await session.call_tool(name, arguments))
        except TimeoutError:
            raise ToolError(f"{name} took longer than {timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  (the mcp package raises many kinds)
            raise ToolError(f"{name}: the server could not run it: {_describe(error)}") from None
        parts = _parts(result)
        if result.get("isError"):
            raise ToolError(parts or "the tool failed without a message")
        return parts

    return run


def _describe(error: Exception) -> str:
    """One line. pydantic's errors are long, so only the first problem is included."""
    if callable(errors := getattr(error, "errors", None)) and (problems := errors()):
        where = ".".join(map(str, problems[0]["loc"]))
        return f"its response violates the protocol: {where}: {problems[0]['msg']}"
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _parts(result: Block) -> Parts:
    """The content. The structured content is only used if there is no text: the protocol wants servers to send both."""
    parts: list[Text | Media] = [_BLOCKS.get(block.get("type", ""), _unknown)(block) for block in result.get("content", [])]
    if "structuredContent" in result and not any(isinstance(part, Text) for part in parts):
        parts.append(Text(dumps(result["structuredContent"])))
    return tuple(parts)


def _resource(block: Block) -> Text | Media:
    resource = block["resource"]
    if "text" in resource:
        return Text(resource["text"])
    mime = resource.get("mimeType") or "application/octet-stream"
    return Media(media_kind(mime), mime, resource["blob"], name=resource.get("uri"))


def _unknown(block: Block) -> Text:
    return Text(dumps(block))


_BLOCKS: dict[str, Callable[[Block], Text | Media]] = {
    "text": lambda block: Text(block["text"]),
    "image": lambda block: Media("image", block.get("mimeType"), block["data"]),
    "audio": lambda block: Media("audio", block.get("mimeType"), block["data"]),
    "resource": _resource,
}
