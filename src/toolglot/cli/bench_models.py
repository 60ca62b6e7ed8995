"""Times a few small questions to a model: one answered with text, and one with a tool."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

from toolglot.client.async_client import AsyncClient
from toolglot.client.keys import find_key
from toolglot.client.mode_stats import ModeStats
from toolglot.client.transports import Transports
from toolglot.core.events import Delta, Fault
from toolglot.core.tools import Tool
from toolglot.speed.exchanges import Exchange, Exchanges

WEATHER = Tool(
    "get_weather",
    "The weather in a city now.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
QUESTIONS: dict[str, tuple[str, list[Tool]]] = {
    "in words": ("Name the months of the year, one on each line.", []),
    "with a tool": ("What is the weather in Oslo?", [WEATHER]),
}
OPTIONS: dict[str, Any] = {"max_tokens": 64, "temperature": 0}  # the same answer in every round

Progress = Callable[[int, int, str], None]


def make_client(model: str, base_url: str | None, api_key: str | None) -> AsyncClient:
    """Raises CallerError at once for a wrong name or a missing key. Neither uses nor changes the mode statistics."""
    stats = ModeStats()
    stats.on = False
    client = AsyncClient(model, base_url=base_url, api_key=api_key, transport=Transports(), mode_stats=stats)
    find_key(client.route(model).provider, api_key)
    return client


async def time_model(client: AsyncClient, times: int, progress: Progress) -> list[Exchanges]:
    """The first request of each question does not count: it connects, detects the server and may load the model."""
    found = []
    async with client:
        for name, (question, tools) in QUESTIONS.items():
            exchanges = []
            for number in range(times + 1):
                progress(number, times, f"asking {client.model} {name}" + ("" if number else ", which does not count"))
                exchanges.append(await _exchange(client, question, tools))
            found.append(Exchanges(name, exchanges[1:]))
    return found


async def _exchange(client: AsyncClient, question: str, tools: list[Tool]) -> Exchange:
    """Measures the CPU time of this thread only: an embedded model runs in other threads."""
    first: float | None = None
    first_delta: float | None = None
    events = 0
    start, start_cpu = perf_counter(), thread_time()
    async for event in client.stream(question, tools=tools, **OPTIONS):
        events += 1
        if isinstance(event, Fault):
            raise event.error
        if first is None:
            first = perf_counter() - start
        if first_delta is None and isinstance(event, Delta):
            first_delta = perf_counter() - start
    end, cpu = perf_counter() - start, thread_time() - start_cpu
    return Exchange(end if first is None else first, first_delta, end, events, cpu)
