"""The tools of an MCP server, to be run like any other. Needs the official `mcp` package: `toolglot[mcp]`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from toolglot.agent.mcp_connection import FAILED, Connection, connect, log, read_server
from toolglot.agent.results import Parts, ToolError, media_kind, without_secrets
from toolglot.agent.runnable import Context, Runnable, Work
from toolglot.core.messages import Media, Text
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import dumps

Block = dict[str, Any]

_MOST_PAGES = 100  # of a list of tools: a server that never comes to the end does not hold us up


class McpServer:
    """A server that is connected. Its tools may change while it is: it says so, and they are read anew."""

    def __init__(
        self, label: str, connection: Connection, namespace: str | None, timeout: float | None, patience: float
    ) -> None:
        self._label, self._connection, self._namespace = label, connection, namespace
        self._timeout, self._patience = timeout, patience
        self._tools: tuple[Runnable, ...] | None = None

    async def tools(self) -> tuple[Runnable, ...]:
        """As they are now. Where the server no longer answers, those of before: it is their calls that fail."""
        if self._tools is not None and not (self._connection.changed or self._connection.deaf):
            return self._tools
        self._connection.changed = False
        try:
            found = await self._read()
        except UpstreamError as error:
            if self._tools is None:
                raise
            log.warning("%s; those that it had are kept", error)
            return self._tools
        if self._tools is None or [held.tool for held in self._tools] != [held.tool for held in found]:
            self._tools = found
        return self._tools

    async def _read(self) -> tuple[Runnable, ...]:
        session, timeout = self._connection.session, self._timeout
        try:
            async with asyncio.timeout(self._patience):
                found = await _listed(session)
        except Exception as error:  # noqa: BLE001  (the package's own, of many kinds)
            late = f"no answer within {self._patience:g} s" if isinstance(error, TimeoutError) else ""
            said = late or without_secrets(_in_words(error))
            raise UpstreamError(f"{self._label} does not list its tools: {said}", code=FAILED) from None
        source = f"mcp:{self._label}"
        return tuple(
            Runnable(_tool(held, self._namespace), _work(session, held["name"], timeout), timeout, source=source)
            for held in found
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
    """As `mcp_tools`, for those who stay connected: `await server.tools()` gives the tools as they are by then."""
    there = read_server(server, headers or {}, env or {}, cwd)
    async with connect(there, connect_timeout) as connection:
        held = McpServer(there.label, connection, namespace, timeout, connect_timeout)
        await held.tools()
        yield held


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
    """The tools of one server: `"python server.py"` (or a list of words) is started, `"https://..."` is asked.

    Names and schemas are the server's own; `namespace` tells those of two servers apart. `timeout` is for each call, in
    seconds. `headers` are for HTTP; `env` and `cwd` for a server that is started, which sees no other variables but the
    usual few (PATH, HOME, ...). At the end the connection is closed and the process is gone.
    """
    async with mcp_server(
        server,
        headers=headers,
        env=env,
        cwd=cwd,
        namespace=namespace,
        timeout=timeout,
        connect_timeout=connect_timeout,
    ) as held:
        yield await held.tools()


_OPTIONS = tuple(signature(mcp_tools).parameters)


def options_of(server: Any) -> dict[str, Any]:
    """What `mcp_tools` takes, of what an Agent is given: a command, an address, or one of them and more by name."""
    options = dict(server) if isinstance(server, Mapping) else {"server": server}
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown or "server" not in options:
        problem = f"there is no {unknown[0]}" if unknown else "server is missing: an http(s) URL, or a command"
        raise CallerError(f"{problem}; there are {', '.join(_OPTIONS)}", "mcp")
    read_server(options["server"], {}, {}, None)
    return options


async def _listed(session: Any) -> list[Block]:
    found: list[Block] = []
    cursors: list[str | None] = [None]
    while len(cursors) <= _MOST_PAGES:
        cursor = cursors[-1]
        page = _plain(await (session.list_tools(cursor=cursor) if cursor else session.list_tools()))
        found += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor or cursor in cursors:  # the end, or where it was before
            break
        cursors.append(cursor)
    return found


def _plain(model: Any) -> Block:
    """As the protocol has it: the package's own spelling changed with its versions."""
    held: Block = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return held


def _tool(held: Block, namespace: str | None) -> Tool:
    return Tool(held["name"], held.get("description"), held.get("inputSchema"), namespace=namespace)


def _work(session: Any, name: str, timeout: float | None) -> Work:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        try:
            async with asyncio.timeout(timeout):
                result = _plain(await session.call_tool(name, arguments))
        except TimeoutError:
            raise ToolError(f"{name} took longer than {timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  (the package's own, of many kinds)
            raise ToolError(f"{name}: the server could not run it: {_in_words(error)}") from None
        parts = _parts(result)
        if result.get("isError"):
            raise ToolError(parts or "the tool failed and said nothing")
        return parts

    return run


def _in_words(error: Exception) -> str:
    """One line. What comes is checked by pydantic, whose errors are long: the first thing that is wrong is enough."""
    if callable(listed := getattr(error, "errors", None)) and (wrong := listed()):
        where = ".".join(map(str, wrong[0]["loc"]))
        return f"what it sent is not as the protocol has it: {where}: {wrong[0]['msg']}"
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _parts(result: Block) -> Parts:
    """The content; the structured form only where no text says it, as the protocol wants servers to say both."""
    parts: list[Text | Media] = [_BLOCKS.get(block.get("type", ""), _unknown)(block) for block in result.get("content", [])]
    if "structuredContent" in result and not any(isinstance(part, Text) for part in parts):
        parts.append(Text(dumps(result["structuredContent"])))
    return tuple(parts)


def _resource(block: Block) -> Text | Media:
    held = block["resource"]
    if "text" in held:
        return Text(held["text"])
    mime = held.get("mimeType") or "application/octet-stream"
    return Media(media_kind(mime), mime, held["blob"], name=held.get("uri"))


def _unknown(block: Block) -> Text:
    return Text(dumps(block))


_BLOCKS: dict[str, Callable[[Block], Text | Media]] = {
    "text": lambda block: Text(block["text"]),
    "image": lambda block: Media("image", block.get("mimeType"), block["data"]),
    "audio": lambda block: Media("audio", block.get("mimeType"), block["data"]),
    "resource": _resource,
}
