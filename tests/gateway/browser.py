"""A real browser. If there is none, tests fail where `make test` could have installed it; elsewhere they are skipped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.system_packages import can_install, find_browser, missing

if TYPE_CHECKING:
    from playwright.async_api import Page

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


@dataclass
class Opened:
    """A page and its problems: console messages, and requests to other hosts."""

    page: Page
    wrong: list[str] = field(default_factory=list)


def chromium() -> str:
    wanted = missing(_PACKAGES)
    if wanted and can_install():
        pytest.fail(f"missing: {', '.join(wanted)}; run `python3 tests/system_packages.py {' '.join(wanted)}`")
    found = find_browser()
    if wanted or found is None:
        pytest.skip(f"missing: {', '.join(wanted)} (installed by itself only as root on Debian)")
    return found


@contextlib.asynccontextmanager
async def browsing(url: str, **context: Any) -> AsyncIterator[Opened]:
    from playwright.async_api import async_playwright

    program = chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_FLAGS)
        try:
            page = await (await browser.new_context(**context)).new_page()
            opened = Opened(page)
            origin = url.partition("?")[0].rstrip("/")
            page.on(
                "console", lambda message: opened.wrong.append(message.text) if message.type in {"error", "warning"} else None
            )
            page.on("pageerror", lambda error: opened.wrong.append(str(error)))
            page.on(
                "request",
                lambda request: None if request.url.startswith((origin, "data:")) else opened.wrong.append(request.url),
            )
            await page.goto(url)
            yield opened
        finally:
            await browser.close()
