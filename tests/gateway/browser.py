"""A real browser. If there is none, tests fail where `make test` could have installed it; elsewhere they are skipped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.gateway.running import GUARD
from tests.steady_loop import SteadyLoop
from tests.system_packages import can_install, find_browser, missing

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

_PACKAGES = ("chromium", "libatomic1")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
]


_PATIENCE = 300_000  # milliseconds for one step, against hanging only


@dataclass
class Opened:
    """A page and its problems: console messages, and requests to other hosts. `expected`: part of those that are none."""

    page: Page
    expected: str = ""
    messages: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        return [one for one in self.messages if not self.expected or self.expected not in one]

    async def text(self, selector: str, *, has: str) -> str:
        """The text of an element, once this is in it."""
        while has not in (found := await self.page.inner_text(selector)):
            await asyncio.sleep(0.02)
        return found

    async def copied(self, begins: str) -> str:
        """What is in the clipboard, once it begins so."""
        while not (found := str(await self.page.evaluate("navigator.clipboard.readText()"))).startswith(begins):
            await asyncio.sleep(0.02)
        return found

    async def scroll(self, rows: str) -> None:
        """Down, until there are more rows."""
        drawn = await self.page.locator(rows).count()
        while await self.page.locator(rows).count() == drawn:
            await self.page.mouse.wheel(0, 20_000)
            await asyncio.sleep(0.02)


def chromium() -> str:
    wanted = missing(_PACKAGES)
    if wanted and can_install():
        pytest.fail(f"missing: {', '.join(wanted)}; run `python3 tests/system_packages.py {' '.join(wanted)}`")
    found = find_browser()
    if wanted or found is None:
        pytest.skip(f"missing: {', '.join(wanted)} (installed by itself only as root on Debian)")
    return found


@contextlib.asynccontextmanager
async def _started() -> AsyncIterator[Browser]:
    from playwright.async_api import async_playwright

    program = chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_FLAGS, timeout=_PATIENCE)
        try:
            yield browser
        finally:
            await browser.close()


_shared: list[tuple[asyncio.Runner, Browser]] = []


@contextlib.contextmanager
def one_browser() -> Iterator[None]:
    """For all that is `run` inside: it takes a second to start."""
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:
        starting = _started()
        _shared.append((runner, runner.run(starting.__aenter__())))
        try:
            yield
        finally:
            _shared.clear()
            runner.run(starting.__aexit__(None, None, None))


def run(work: Coroutine[Any, Any, None]) -> None:
    """In the event loop of the browser."""

    async def guarded() -> None:
        await asyncio.wait_for(work, GUARD)

    [(runner, _)] = _shared
    runner.run(guarded())


@contextlib.asynccontextmanager
async def browsing(url: str, **options: Any) -> AsyncIterator[Opened]:
    """This address in a context of its own, with these options."""
    async with contextlib.AsyncExitStack() as stack:
        browser = _shared[0][1] if _shared else await stack.enter_async_context(_started())
        context = await browser.new_context(**options)
        stack.push_async_callback(context.close)
        context.set_default_timeout(_PATIENCE)
        page = await context.new_page()
        opened = Opened(page)
        origin = url.partition("?")[0].rstrip("/")
        page.on(
            "console", lambda message: opened.messages.append(message.text) if message.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith((origin, "data:")) else opened.messages.append(request.url),
        )
        await page.goto(url)
        yield opened
