"""How fast the gateway's page is with 1,000 requests of 50 models: `python bench/page.py`.

Chromium reports when it painted first, and when it painted its largest text, which is there once the rows are: both from the
start of the navigation, by the wall clock, so a busy machine makes them longer. `main thread` is the processor time of the page
until the rows are there; a filter's time is that of its script. All are medians.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.gateway.browser import browsing
from tests.gateway.page_data import fill
from tests.gateway.running import config, serving

RUNS = 7
PAINT = "performance.getEntriesByType('paint').find(one => one.name === 'first-contentful-paint').startTime"
LARGEST = """new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
  .observe({type: "largest-contentful-paint", buffered: true}))"""
FILTER = """(word) => {
  const search = document.getElementById("search");
  search.value = word;
  search.dispatchEvent(new Event("input"));
}"""


async def _processor_time(devtools: Any, kind: str) -> float:
    """Milliseconds of the main thread, without the time that other processes take."""
    metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
    return 1000 * float(next(one["value"] for one in metrics if one["name"] == kind))


async def _filters(page: Any, devtools: Any) -> list[float]:
    times = []
    for word in ("model-", "rescued_text", "nothing", ""):
        before = await _processor_time(devtools, "ScriptDuration")
        await page.evaluate(FILTER, word)
        times.append(await _processor_time(devtools, "ScriptDuration") - before)
    return times


async def measure() -> None:
    figures: dict[str, list[float]] = {}
    async with serving(config("http://127.0.0.1:9", "openai-chat", server="max_records = 1000")) as gateway:
        fill(gateway, 1000, 50)
        for view, rows in (("overview", "#models tbody tr"), ("requests", "#rows tr")):
            for _ in range(RUNS):
                async with browsing("about:blank", viewport={"width": 1280, "height": 900}) as opened:
                    page = opened.page
                    devtools = await page.context.new_cdp_session(page)
                    await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
                    await page.goto(f"{gateway.url}/#{view}")
                    await page.wait_for_selector(rows)
                    await page.wait_for_timeout(500)
                    found = {"first paint": await page.evaluate(PAINT), "rows painted": await page.evaluate(LARGEST)}
                    found["main thread"] = await _processor_time(devtools, "TaskDuration")
                    for name, time in found.items():
                        figures.setdefault(f"{view}: {name}", []).append(time)
                    if view == "requests":
                        figures.setdefault("filter", []).extend(await _filters(page, devtools))
    for name, times in figures.items():
        print(f"{name:24} {median(times):6.0f} ms, at most {max(times):6.0f}")


if __name__ == "__main__":
    asyncio.run(measure())
