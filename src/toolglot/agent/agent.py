"""`Agent`: a model with tools, asked until the job is done.

agent = Agent("ollama/qwen3:8b", tools=[get_weather])
print(agent.run_sync("Weather in Paris?").text)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from difflib import get_close_matches
from functools import partial
from inspect import signature
from types import TracebackType
from typing import Any, Protocol, Self, cast
from uuid import uuid4

import msgspec

from toolglot.agent.approval import Approve
from toolglot.agent.driver import Driver
from toolglot.agent.limits import Limits
from toolglot.agent.loop import Loop
from toolglot.agent.record import Record
from toolglot.agent.result_cache import ResultCache
from toolglot.agent.run import Run, ToolRun
from toolglot.agent.runnable import Runnable, runnable
from toolglot.agent.workbench import PARALLEL, TIMEOUT, Workbench
from toolglot.client.asking import AsyncClient
from toolglot.client.loop_thread import LoopThread
from toolglot.core.events import Event
from toolglot.core.messages import Message, Text
from toolglot.core.request import Request
from toolglot.core.tools import Toolset
from toolglot.errors import CallerError
from toolglot.pipeline.fit import fit
from toolglot.pipeline.prepare import Call, read_question, to_call
from toolglot.pipeline.route import Route, resolve
from toolglot.schema.checked_fields import check_fields

_OF_THE_CLIENT = ("api_key", "base_url", "fallbacks", "policy", "retries", "headers", "transport", "detect", "remembered")
_OF_A_QUESTION = ("ask", "nonce", "larger_context")  # how it is asked; the rest of the options are the request's
_ALIKE = 0.85
_OWN_CACHE = ResultCache(0)  # a mark: each agent gets one of its own


class Asking(Protocol):
    """What an agent needs of a client; AsyncClient is one."""

    def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any
    ) -> AsyncIterator[Event]:
        """Events as they come."""

    def route(self, model: str) -> Route: ...


class Server(Protocol):
    """What gives tools while it is open, and may come to give others; an MCP server is one."""

    async def tools(self) -> tuple[Runnable, ...]: ...


class _Open(msgspec.Struct, frozen=True):
    """A client and servers that are open, and the agent's own tools: what a run needs."""

    client: Asking
    own: tuple[Runnable, ...]
    servers: tuple[Server, ...]

    async def tools(self) -> dict[str, Runnable]:
        """As they are now."""
        return _by_name([*self.own, *[held for server in self.servers for held in await server.tools()]])


class RunStream:
    """Events of all turns, and a ToolRun for every call that was run. Afterwards `.run` is the Run."""

    def __init__(self, events: AsyncGenerator[Event | ToolRun], held: list[Driver]) -> None:
        self._events, self._held = events, held

    @property
    def run(self) -> Run:
        if not self._held or self._held[0].run is None:
            raise CallerError("the run is not over: read its events to the end first", "run")
        return self._held[0].run

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | ToolRun:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Ends it at once: tools are cancelled, the upstream is closed."""
        await self._events.aclose()


class Agent:
    """`tools` are functions, `@tool`s, Runnables; `mcp` are commands or addresses of MCP servers, or what `mcp_tools` takes.

    `approve(call)` is asked before each call is run. `record` is a file: every run is kept there and can be replayed. `cache`
    keeps results of tools that allow it; None turns that off. `limits` has the budgets beside `max_turns`. `options` are
    those of `prepare` (temperature, tool_choice, response_schema, ask, ...) and of AsyncClient (api_key, base_url, ...).

    Each run opens its connections and MCP servers and closes them; `async with agent:` keeps them open over many. Tools that
    a server comes to offer, or no longer does, are seen from the model's next turn on.
    """

    def __init__(
        self,
        model: str,
        tools: Iterable[Any] = (),
        system: str | None = None,
        *,
        max_turns: int | None = None,
        limits: Limits | None = None,
        approve: Approve | None = None,
        record: str | os.PathLike[str] | Record | None = None,
        cache: ResultCache | None = _OWN_CACHE,
        client: Asking | None = None,
        mcp: str | Iterable[Any] = (),
        parallel: int = PARALLEL,
        timeout: float | None = TIMEOUT,
        make_id: Callable[[], str] | None = None,
        **options: Any,
    ) -> None:
        resolve(model)  # a wrong name is told now, not when it is asked
        self.model, self.system = model, system
        _must(limits is None or isinstance(limits, Limits), "limits", "expected Limits of toolglot.agent.limits")
        _must(record is None or isinstance(record, (str, os.PathLike, Record)), "record", "expected a file, or a Record of one")
        _must(isinstance(mcp, (str, Iterable)), "mcp", "expected commands or addresses of MCP servers")
        _must(timeout is None or (isinstance(timeout, (int, float)) and timeout > 0), "timeout", "expected seconds, or None")
        _must(approve is None or callable(approve), "approve", "expected a function that is asked about each call")
        _must(system is None or isinstance(system, str), "system", "expected a text")
        _must(cache is None or isinstance(cache, ResultCache), "cache", "expected a ResultCache, or None for none")
        _must(make_id is None or callable(make_id), "make_id", "expected a function that gives an id")
        _must(isinstance(parallel, int) and parallel >= 1, "parallel", "at least one tool must run at a time")
        listed = isinstance(tools, Iterable) and not isinstance(tools, (str, Mapping))
        _must(listed, "tools", "expected a list of tools; put a single one in [brackets]")
        self.limits = limits or Limits()
        if max_turns is not None:
            self.limits = msgspec.structs.replace(self.limits, turns=max_turns)
        _must(
            isinstance(self.limits.turns, int) and self.limits.turns >= 1, "max_turns", "the model must be asked at least once"
        )
        _check(self.limits)
        self._own = _by_name(runnable(held) for held in tools)
        self._mcp = _servers((mcp,) if isinstance(mcp, (str, Mapping)) else tuple(mcp))
        self._approve, self._parallel, self._timeout = approve, parallel, timeout
        self._record = record if isinstance(record, Record) or record is None else Record(record)
        self._cache = ResultCache() if cache is _OWN_CACHE else cache
        self._make_id = make_id or _new_id
        self._client = client
        self._client_options = {key: options.pop(key) for key in _OF_THE_CLIENT if key in options}
        if client is not None and self._client_options:
            raise CallerError(f"{', '.join(self._client_options)}: the client that is given has its own", "client")
        _must(client is None or callable(getattr(client, "stream", None)), "client", "expected an AsyncClient")
        self._how = {key: options.pop(key) for key in _OF_A_QUESTION if key in options}
        for key in options:  # a hook that is misspelt would be sent to the model, and never asked
            close = get_close_matches(key, _NAMED, 1, _ALIKE)
            _must(not close, key, f"there is no such option; did you mean {''.join(close)}?")
        self._options = options
        self._opened: _Open | None = None  # by `async with`
        self._stack = AsyncExitStack()

    # -- asking

    async def run(self, question: Any, **options: Any) -> Run:
        """Asks, and runs what is called, until it is done or a limit is reached; `.end` says which.

        `question`: a text, messages as OpenAI Chat has them, or an earlier Run's `history` with more behind it. The model's
        failure before anything was said or done is raised as UpstreamError; after that it is the end of the Run.
        """
        stream = self.stream(question, **options)
        async with aclosing(stream):
            async for _ in stream:
                pass
        return stream.run

    def run_sync(self, question: Any, **options: Any) -> Run:
        """As `run`, for programs without an event loop; also inside of one (a notebook), which it blocks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(question, **options))
        beside = LoopThread("toolglot-agent")
        try:
            return beside.run(self.run(question, **options))
        finally:
            beside.end()

    def stream(self, question: Any, **options: Any) -> RunStream:
        """Events as they come, and a ToolRun for each call that was run."""
        held: list[Driver] = []
        return RunStream(self._events(question, options, held), held)

    async def _events(self, question: Any, options: dict[str, Any], held: list[Driver]) -> AsyncGenerator[Event | ToolRun]:
        async with self._ready() as ready:
            how = self._how | {key: options.pop(key) for key in _OF_A_QUESTION if key in options}
            tools = await ready.tools()
            request = self.request(question, tools, ready.client.route(self.model), **options)

            def ask(asked: Request) -> AsyncGenerator[Event]:
                return cast("AsyncGenerator[Event]", ready.client.stream(asked, self.model, **how))

            bench = Workbench(tools, approve=self._approve, parallel=self._parallel, timeout=self._timeout, cache=self._cache)
            loop = Loop(request, self.limits, id=self._make_id())
            driver = Driver(loop, ask, bench, record=self._record, offered=ready.tools if ready.servers else None)
            held.append(driver)
            async with aclosing(driver.events()) as events:
                async for event in events:
                    yield event

    def request(
        self, question: Any, tools: Mapping[str, Runnable] | None = None, route: Route | None = None, **options: Any
    ) -> Request:
        """What the loop begins with. It is pure, for those who own the loop: `Loop(agent.request("..."))`."""
        given = () if _are_messages(question) else question
        known: Toolset = Toolset(held.tool for held in (self._own if tools is None else tools).values())
        request = read_question(given, route or resolve(self.model), known, **{**self._options, **options})
        messages = tuple(question) if _are_messages(question) else request.messages
        if self.system is not None and not (messages and messages[0].role in ("system", "developer")):
            messages = (Message("system", (Text(self.system),)), *messages)
        if not messages:
            raise CallerError("there is no question", "messages")
        return msgspec.structs.replace(request, model=self.model, messages=messages, tools=known)

    async def prepare(self, question: Any, **options: Any) -> Call:
        """What would be sent first, without sending it; MCP servers are asked for their tools."""
        async with self._ready() as ready:
            how = self._how | {key: options.pop(key) for key in _OF_A_QUESTION if key in options}
            route = ready.client.route(self.model)
            request = self.request(question, await ready.tools(), route, **options)
            request = msgspec.structs.replace(request, model=route.model, stream=True, stream_usage=True)
            return to_call(fit(request, route, **how))

    # -- what is open

    async def __aenter__(self) -> Self:
        _must(self._opened is None, "agent", "it is open already: one `async with` serves any number of runs")
        async with AsyncExitStack() as stack:
            self._opened = await self._open(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened = None
        await self._stack.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def _ready(self) -> AsyncIterator[_Open]:
        if self._opened is not None:
            yield self._opened
            return
        async with AsyncExitStack() as stack:
            yield await self._open(stack)

    async def _open(self, stack: AsyncExitStack) -> _Open:
        client = self._client
        if client is None:
            client = await stack.enter_async_context(AsyncClient(self.model, **self._client_options))
        servers = [await stack.enter_async_context(server()) for server in self._mcp]
        ready = _Open(client, tuple(self._own.values()), tuple(servers))
        await ready.tools()  # two of one name are told now
        return ready


_NAMED = tuple(signature(Agent).parameters)[1:-1] + _OF_THE_CLIENT + _OF_A_QUESTION


def _must(holds: bool, where: str, told: str) -> None:
    if not holds:
        raise CallerError(told, where)


def _servers(given: tuple[Any, ...]) -> list[Callable[[], AbstractAsyncContextManager[Server]]]:
    """Each opens a server. What is wrong with one is told now, not when it is opened."""
    if not given:
        return []
    from toolglot.agent.mcp import mcp_server, options_of  # noqa: PLC0415  (an extra, needed by few)

    return [partial(mcp_server, **options_of(server)) for server in given]


def _check(limits: Limits) -> None:
    check_fields(limits, "limits")
    _must(limits.repeats > 1, "limits.repeats", "a call that is made for the first time repeats none: at least 2")


def _by_name(tools: Iterable[Runnable]) -> dict[str, Runnable]:
    named: dict[str, Runnable] = {}
    for held in tools:
        name = held.tool.full_name
        if name in named:
            raise CallerError(
                f"there are two tools with the name {name!r}: give one another name, or its MCP server a namespace "
                "(toolglot ask --mcp NAME=...)",
                "tools",
            )
        named[name] = held
    return named


def _are_messages(question: Any) -> bool:
    return isinstance(question, (list, tuple)) and bool(question) and all(isinstance(one, Message) for one in question)


def _new_id() -> str:
    return f"run_{uuid4().hex[:20]}"
