"""`Agent`: a model with tools, asked until it answers or a limit is reached.

agent = Agent("ollama/qwen3:8b", tools=[get_weather])
print(agent.run_sync("Weather in Paris?").text)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from difflib import get_close_matches
from functools import partial
from inspect import signature
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, Unpack, cast
from uuid import uuid4

import msgspec

from toolglot.agent.approval import Approve
from toolglot.agent.driver import Driver
from toolglot.agent.limits import Limits
from toolglot.agent.loop import Loop
from toolglot.agent.record import Record
from toolglot.agent.result_cache import ResultCache
from toolglot.agent.run import OutputT, Run, ToolRun
from toolglot.agent.runnable import Runnable, runnable
from toolglot.agent.structured_output import OutputType
from toolglot.agent.tool_runner import PARALLEL, TIMEOUT, ToolRunner
from toolglot.client.async_client import AsyncClient, ConnectOptions
from toolglot.client.loop_thread import LoopThread, next_item
from toolglot.core.events import Event
from toolglot.core.messages import Message, Text
from toolglot.core.request import Request
from toolglot.core.text_deltas import TextDeltas
from toolglot.core.tools import Toolset
from toolglot.errors import CallerError
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.options import RequestOptions, RunOptions, SendOptions
from toolglot.pipeline.request.prepare import PreparedRequest, build_request, to_prepared_request
from toolglot.pipeline.request.route import Route, resolve
from toolglot.schema.checked_fields import check_fields

_CLIENT_OPTIONS = tuple(ConnectOptions.__annotations__)
_FIT_OPTIONS = ("ask", "nonce", "larger_context")  # of `fit_request`; all other options are the request's
_SIMILAR = 0.85
_DEFAULT_CACHE = ResultCache(0)  # a sentinel: each agent creates its own cache


class ChatClient(Protocol):
    """What an agent needs from a client, for example AsyncClient."""

    def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> AsyncIterator[Event]:
        """The events of the reply."""

    def route(self, model: str) -> Route: ...


class Server(Protocol):
    """A source of tools, whose list may change while it is open, for example an MCP server."""

    async def tools(self) -> tuple[Runnable, ...]: ...


class _Connections(msgspec.Struct, frozen=True):
    """What a run needs: an open client, open servers, and the local tools."""

    client: ChatClient
    local_tools: tuple[Runnable, ...]
    servers: tuple[Server, ...]

    async def tools(self) -> dict[str, Runnable]:
        """All current tools, by name."""
        return _by_name([*self.local_tools, *[tool for server in self.servers for tool in await server.tools()]])


class AgentOptions(ConnectOptions, RunOptions, total=False):
    """What an Agent takes besides its own parameters: options of AsyncClient and of `prepare`."""


Item = TypeVar("Item")


class RunStream(Generic[Item, OutputT]):
    """The items of a run as they arrive. Afterwards `.run` is the Run."""

    def __init__(self, items: AsyncGenerator[Item], drivers: list[Driver]) -> None:
        self._items, self._drivers = items, drivers  # the driver is added when the items start

    @property
    def run(self) -> Run[OutputT]:
        if not self._drivers or self._drivers[0].run is None:
            raise CallerError("the run is not over: read its events to the end first", "run")
        return self._drivers[0].run

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await anext(self._items)

    async def aclose(self) -> None:
        """Stop at once: cancel the tools, close the upstream connection."""
        await self._items.aclose()


class SyncRunStream(Generic[Item, OutputT]):
    """The same for programs without an event loop. It runs in a thread, which ends with the last item or with `close`."""

    def __init__(self, stream: RunStream[Item, OutputT]) -> None:
        self._stream = stream
        self._items = self._iterate()

    @property
    def run(self) -> Run[OutputT]:
        return self._stream.run

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        return next(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop at once: cancel the tools, close the upstream connection."""
        self._items.close()

    def _iterate(self) -> Generator[Item]:
        thread = LoopThread("toolglot-agent")
        try:
            while (item := thread.run(next_item(self._stream))) is not None:
                yield item
        finally:
            thread.end(self._stream.aclose)


class Agent(Generic[OutputT]):
    """`tools` are functions, `@tool`s or Runnables; `mcp` are commands or addresses of MCP servers, or `mcp_tools` arguments.

    `approve(call)` is called before each tool call. `record` is a file: every run is recorded there and can be replayed.
    `cache` stores results of tools that allow it; None turns it off. `limits` has the budgets besides `max_turns`. `output` is
    the type of the answer (a pydantic model, a dataclass, a TypedDict, ...), which `run.output` then has; an answer that does
    not fit goes back once, with the reason. `options` are those of `prepare` (temperature, tool_choice, response_schema, ask,
    ...) and of AsyncClient (api_key, base_url, ...).

    Each run opens and closes its connections and MCP servers; `async with agent:` keeps them open for many runs. If a server
    adds or removes tools, the model sees it from its next turn on.

    Examples:
        >>> def get_weather(city: str) -> str:
        ...     return f"18 degrees in {city}"
        >>> agent = toolglot.Agent("ollama/qwen3:8b", [get_weather], max_turns=4, temperature=0)
        >>> agent.tool_names
        ('get_weather',)

        `agent.run_sync("Weather in Paris?").text` asks the model, runs the tool, and is the answer.
    """

    def __init__(
        self,
        model: str,
        tools: Iterable[Any] = (),
        system: str | None = None,
        *,
        output: type[OutputT] = str,  # type: ignore[assignment]
        max_turns: int | None = None,
        limits: Limits | None = None,
        approve: Approve | None = None,
        record: str | os.PathLike[str] | Record | None = None,
        cache: ResultCache | None = _DEFAULT_CACHE,
        client: ChatClient | None = None,
        mcp: str | Iterable[Any] = (),
        parallel: int = PARALLEL,
        timeout: float | None = TIMEOUT,
        make_id: Callable[[], str] | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        resolve(model)  # raises now if the name is wrong
        self.model, self.system = model, system
        _must(limits is None or isinstance(limits, Limits), "limits", "expected toolglot.Limits")
        _must(record is None or isinstance(record, (str, os.PathLike, Record)), "record", "expected a file name or a Record")
        _must(isinstance(mcp, (str, Iterable)), "mcp", "expected commands or addresses of MCP servers")
        _must(timeout is None or (isinstance(timeout, (int, float)) and timeout > 0), "timeout", "expected seconds, or None")
        _must(approve is None or callable(approve), "approve", "expected a function that takes a call")
        _must(system is None or isinstance(system, str), "system", "expected a string")
        _must(cache is None or isinstance(cache, ResultCache), "cache", "expected a ResultCache, or None")
        _must(make_id is None or callable(make_id), "make_id", "expected a function that returns an id")
        _must(isinstance(parallel, int) and parallel >= 1, "parallel", "expected at least 1")
        is_list = isinstance(tools, Iterable) and not isinstance(tools, (str, Mapping))
        _must(is_list, "tools", "expected a list of tools; put a single one in [brackets]")
        self.limits = limits or Limits()
        if max_turns is not None:
            self.limits = msgspec.structs.replace(self.limits, turns=max_turns)
        _must(
            isinstance(self.limits.turns, int) and self.limits.turns >= 1, "max_turns", "the model must be asked at least once"
        )
        _check(self.limits)
        self._local_tools = _by_name(runnable(tool) for tool in tools)
        self._mcp = _servers((mcp,) if isinstance(mcp, (str, Mapping)) else tuple(mcp))
        self._approve, self._parallel, self._timeout = approve, parallel, timeout
        self._record = record if isinstance(record, Record) or record is None else Record(record)
        self._cache = ResultCache() if cache is _DEFAULT_CACHE else cache
        self._make_id = make_id or _new_id
        self._client = client
        rest: dict[str, Any] = {**options}
        self._output = None if cast("Any", output) is str else OutputType(output)
        if self._output is not None:
            _must("response_schema" not in rest, "output", "not allowed together with response_schema")
            rest["response_schema"] = self._output.schema
        self._client_options = {key: rest.pop(key) for key in _CLIENT_OPTIONS if key in rest}
        if client is not None and self._client_options:
            raise CallerError(f"{', '.join(self._client_options)}: not allowed together with a client", "client")
        _must(client is None or callable(getattr(client, "stream", None)), "client", "expected an AsyncClient")
        self._fit_options = {key: rest.pop(key) for key in _FIT_OPTIONS if key in rest}
        for key in rest:  # a misspelt parameter would become a request option, without effect
            close = get_close_matches(key, _NAMED, 1, _SIMILAR)
            _must(not close, key, f"there is no such option; did you mean {''.join(close)}?")
        self._options = rest
        self._connections: _Connections | None = None  # set by `async with`
        self._stack = AsyncExitStack()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Of the local tools. Those of MCP servers are known once they are connected."""
        return tuple(self._local_tools)

    # -- running

    async def run(self, question: Any, **options: Unpack[RunOptions]) -> Run[OutputT]:
        """Ask the model and run its calls until it answers or a limit is reached; `.end` has the outcome.

        `question`: a string, messages in OpenAI Chat format, or an earlier Run's `history` with new messages appended. If the
        first request fails, UpstreamError is raised; a later failure ends the Run.
        """
        stream = self.stream(question, **options)
        async with aclosing(stream):
            async for _ in stream:
                pass
        return stream.run

    def run_sync(self, question: Any, **options: Unpack[RunOptions]) -> Run[OutputT]:
        """Like `run`, for programs without an event loop. In a running event loop (a notebook) it blocks the loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(question, **options))
        thread = LoopThread("toolglot-agent")
        try:
            return thread.run(self.run(question, **options))
        finally:
            thread.end()

    def stream(self, question: Any, **options: Unpack[RunOptions]) -> RunStream[Event | ToolRun, OutputT]:
        """The events as they arrive, and a ToolRun for each call that was run."""
        drivers: list[Driver] = []
        return RunStream(self._events(question, {**options}, drivers), drivers)

    def stream_text(self, question: Any, **options: Unpack[RunOptions]) -> RunStream[str, OutputT]:
        """The text of all turns as it arrives. An UpstreamError is raised if it breaks off."""
        drivers: list[Driver] = []
        return RunStream(_text(self._events(question, {**options}, drivers)), drivers)

    def stream_sync(self, question: Any, **options: Unpack[RunOptions]) -> SyncRunStream[Event | ToolRun, OutputT]:
        """Like `stream`, for programs without an event loop."""
        return SyncRunStream(self.stream(question, **options))

    def stream_text_sync(self, question: Any, **options: Unpack[RunOptions]) -> SyncRunStream[str, OutputT]:
        """Like `stream_text`, for programs without an event loop."""
        return SyncRunStream(self.stream_text(question, **options))

    async def _events(self, question: Any, options: dict[str, Any], drivers: list[Driver]) -> AsyncGenerator[Event | ToolRun]:
        async with self._connected() as connections:
            fit = self._fit_options | {key: options.pop(key) for key in _FIT_OPTIONS if key in options}
            tools = await connections.tools()
            request = self.request(question, tools, connections.client.route(self.model), **options)

            def ask(turn: Request) -> AsyncGenerator[Event]:
                return cast("AsyncGenerator[Event]", connections.client.stream(turn, self.model, call_retries=0, **fit))

            runner = ToolRunner(tools, approve=self._approve, parallel=self._parallel, timeout=self._timeout, cache=self._cache)
            loop = Loop(request, self.limits, id=self._make_id(), typed_output=self._output is not None)
            current_tools = connections.tools if connections.servers else None
            driver = Driver(loop, ask, runner, record=self._record, current_tools=current_tools, output=self._output)
            drivers.append(driver)
            async with aclosing(driver.events()) as events:
                async for event in events:
                    yield event

    def request(
        self,
        question: Any,
        tools: Mapping[str, Runnable] | None = None,
        route: Route | None = None,
        **options: Unpack[RequestOptions],
    ) -> Request:
        """The first request. Sends nothing; use it to drive the loop yourself: `Loop(agent.request("..."))`."""
        if self._output is not None:
            _must("response_schema" not in options, "response_schema", "not allowed together with the agent's output")
        prompt = () if _are_messages(question) else question
        toolset: Toolset = Toolset(one.tool for one in (self._local_tools if tools is None else tools).values())
        request = build_request(prompt, route or resolve(self.model), toolset, **{**self._options, **options})
        messages = tuple(question) if _are_messages(question) else request.messages
        if self.system is not None and not (messages and messages[0].role in ("system", "developer")):
            messages = (Message("system", (Text(self.system),)), *messages)
        if not messages:
            raise CallerError("there is no question", "messages")
        return msgspec.structs.replace(request, model=self.model, messages=messages, tools=toolset)

    async def prepare(self, question: Any, **options: Unpack[RunOptions]) -> PreparedRequest:
        """The first HTTP request, without sending it. MCP servers are asked for their tools."""
        rest: dict[str, Any] = {**options}
        async with self._connected() as connections:
            fit = self._fit_options | {key: rest.pop(key) for key in _FIT_OPTIONS if key in rest}
            route = connections.client.route(self.model)
            request = self.request(question, await connections.tools(), route, **rest)
            request = msgspec.structs.replace(request, model=route.model, stream=True, stream_usage=True)
            return to_prepared_request(fit_request(request, route, **fit))

    # -- connections

    async def __aenter__(self) -> Self:
        _must(self._connections is None, "agent", "it is open already: use one `async with` for any number of runs")
        async with AsyncExitStack() as stack:
            self._connections = await self._open(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connections = None
        await self._stack.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[_Connections]:
        if self._connections is not None:
            yield self._connections
            return
        async with AsyncExitStack() as stack:
            yield await self._open(stack)

    async def _open(self, stack: AsyncExitStack) -> _Connections:
        client = self._client
        if client is None:
            client = await stack.enter_async_context(AsyncClient(self.model, **self._client_options))
        servers = [await stack.enter_async_context(server()) for server in self._mcp]
        connections = _Connections(client, tuple(self._local_tools.values()), tuple(servers))
        await connections.tools()  # raises now if two tools have the same name
        return connections


_NAMED = tuple(signature(Agent).parameters)[1:-1] + _CLIENT_OPTIONS + _FIT_OPTIONS


async def _text(events: AsyncGenerator[Event | ToolRun]) -> AsyncGenerator[str]:
    deltas = TextDeltas()
    async with aclosing(events):
        async for event in events:
            if text := deltas.feed(event):
                yield text
    if deltas.error is not None:
        raise deltas.error


def _must(condition: bool, where: str, message: str) -> None:
    if not condition:
        raise CallerError(message, where)


def _servers(mcp: tuple[Any, ...]) -> list[Callable[[], AbstractAsyncContextManager[Server]]]:
    """Functions that open the servers. Raises now if an argument is wrong."""
    if not mcp:
        return []
    from toolglot.agent.mcp import mcp_server, server_options  # noqa: PLC0415  (the mcp package is optional)

    return [partial(mcp_server, **server_options(server)) for server in mcp]


def _check(limits: Limits) -> None:
    check_fields(limits, "limits")
    _must(limits.repeats > 1, "limits.repeats", "expected at least 2")


def _by_name(tools: Iterable[Runnable]) -> dict[str, Runnable]:
    named: dict[str, Runnable] = {}
    for one in tools:
        name = one.tool.full_name
        if name in named:
            raise CallerError(
                f"two tools with the name {name!r}: rename one, or give its MCP server a namespace "
                "(toolglot ask --mcp NAME=...)",
                "tools",
            )
        named[name] = one
    return named


def _are_messages(question: Any) -> bool:
    return isinstance(question, (list, tuple)) and bool(question) and all(isinstance(one, Message) for one in question)


def _new_id() -> str:
    return f"run_{uuid4().hex[:20]}"
