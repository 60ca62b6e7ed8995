"""A few small questions to a model, timed: one that is answered in words, and one with a tool."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

from toolglot.client.asking import AsyncClient
from toolglot.client.carriers import Carriers
from toolglot.client.keys import find_key
from toolglot.client.remembered import Remembered
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
OPTIONS: dict[str, Any] = {"max_tokens": 64}

Told = Callable[[int, int, str], None]


def asking(model: str, base_url: str | None, api_key: str | None) -> AsyncClient:
    """A wrong name or a missing key is a CallerError now, not at the first question. What has worked before is left alone."""
    memory = Remembered()
    memory.on = False
    client = AsyncClient(model, base_url=base_url, api_key=api_key, transport=Carriers(), remembered=memory)
    find_key(client.route(model).provider, api_key)
    return client


async def asked(client: AsyncClient, times: int, told: Told) -> list[Exchanges]:
    """The first time connects, looks the server over and may load the model: it does not count."""
    found = []
    async with client:
        for name, (question, tools) in QUESTIONS.items():
            held = []
            for number in range(times + 1):
                told(number, times, f"asking {client.model} {name}" + ("" if number else ", which does not count"))
                held.append(await _exchange(client, question, tools))
            found.append(Exchanges(name, held[1:]))
    return found


async def _exchange(client: AsyncClient, question: str, tools: list[Tool]) -> Exchange:
    """The CPU time is that of this thread: an embedded model works in others, and waiting takes none."""
    first: float | None = None
    first_delta: float | None = None
    events = 0
    begun, begun_cpu = perf_counter(), thread_time()
    async for event in client.stream(question, tools=tools, **OPTIONS):
        events += 1
        if isinstance(event, Fault):
            raise event.error
        if first is None:
            first = perf_counter() - begun
        if first_delta is None and isinstance(event, Delta):
            first_delta = perf_counter() - begun
    end, own = perf_counter() - begun, thread_time() - begun_cpu
    return Exchange(end if first is None else first, first_delta, end, events, own)
