"""A real browser. Where there is none the tests fail, unless TOOLGLOT_NO_BROWSER=1 says that this is meant."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Page

_NAMES = ("chromium", "chromium-browser", "google-chrome")
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
    """A page, and what was wrong with it: messages of its console, and addresses that are not the gateway's."""

    page: Page
    wrong: list[str] = field(default_factory=list)


def chromium() -> str:
    if os.environ.get("TOOLGLOT_NO_BROWSER") == "1":
        pytest.skip("TOOLGLOT_NO_BROWSER=1: no browser is wanted here")
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        pytest.fail("there is no chromium: apt-get install chromium, or set TOOLGLOT_NO_BROWSER=1 to go without")
    return found


@contextlib.asynccontextmanager
async def browsing(url: str, **context: Any) -> AsyncIterator[Opened]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=_FLAGS)
        try:
            page = await (await browser.new_context(**context)).new_page()
            opened = Opened(page)
            origin = url.partition("?")[0].rstrip("/")
            page.on("console", lambda said: opened.wrong.append(said.text) if said.type in {"error", "warning"} else None)
            page.on("pageerror", lambda error: opened.wrong.append(str(error)))
            page.on(
                "request", lambda asked: None if asked.url.startswith((origin, "data:")) else opened.wrong.append(asked.url)
            )
            await page.goto(url)
            yield opened
        finally:
            await browser.close()
