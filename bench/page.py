"""How fast the gateway's page is with 1,000 requests of 50 models: `python bench/page.py`.

First paint is what chromium reports, from the start of the navigation; `drawn` is the time until the rows are there. Both are
wall clock, so a busy machine makes them longer. A filter's time is the processor time of its script. All are medians.
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
DRAWN = """() => document.querySelectorAll('%s').length && performance.now()"""
FILTER = """(word) => {
  const search = document.getElementById("search");
  search.value = word;
  search.dispatchEvent(new Event("input"));
}"""


async def _filters(page: Any) -> list[float]:
    """Milliseconds of script on the main thread, without the time that other processes take."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def script() -> float:
        metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
        return 1000 * float(next(one["value"] for one in metrics if one["name"] == "ScriptDuration"))

    times = []
    for word in ("model-", "rescued_text", "nothing", ""):
        before = await script()
        await page.evaluate(FILTER, word)
        times.append(await script() - before)
    return times


async def measure() -> None:
    figures: dict[str, list[float]] = {}
    async with serving(config("http://127.0.0.1:9", "openai-chat", server="max_records = 1000")) as gateway:
        fill(gateway, 1000, 50)
        for view, rows in (("overview", "#models tbody tr"), ("requests", "#rows tr")):
            for _ in range(RUNS):
                async with browsing(f"{gateway.url}/#{view}", viewport={"width": 1280, "height": 900}) as opened:
                    drawn = await opened.page.wait_for_function(DRAWN % rows, polling=10)
                    figures.setdefault(f"{view}: drawn", []).append(float(await drawn.json_value()))
                    figures.setdefault(f"{view}: first paint", []).append(await opened.page.evaluate(PAINT))
                    if view == "requests":
                        figures.setdefault("filter", []).extend(await _filters(opened.page))
    for name, times in figures.items():
        print(f"{name:24} {median(times):6.0f} ms, at most {max(times):6.0f}")


if __name__ == "__main__":
    asyncio.run(measure())
