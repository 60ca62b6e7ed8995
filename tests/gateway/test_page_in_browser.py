"""The page in a real browser: it runs, parses and shows calls, and model output never becomes markup."""

from __future__ import annotations

import time
from pathlib import Path

from tests.gateway.browser import browsing
from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import Play, UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.gateway.records import Outcome, Record, RecordedCall

SCREENSHOT = Path(__file__).parents[2] / "docs" / "assets" / "page.png"
EVIL = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
WIDE = {"width": 1280, "height": 900}
NAMELESS = """[...document.querySelectorAll("button, select, input, textarea")].filter((one) =>
  !one.labels?.length && !one.getAttribute("aria-label") && !(one.tagName === "BUTTON" && one.textContent.length > 1)
).map((one) => one.id)"""
PHONE = {"width": 360, "height": 740}


def listing(play: Play) -> Play:
    """Adds a model list to a script."""

    def with_list(request: UpstreamRequest) -> UpstreamResponse:
        if request.method == "GET":
            return whole({"data": [{"id": "qwen2.5-coder:32b"}, {"id": "llama3.2:3b"}]})
        response = play(request)
        assert isinstance(response, UpstreamResponse)
        return response

    return with_list


async def talk(gateway: Running, times: int) -> None:
    for number in range(times):
        wire = ("anthropic", "openai-chat", "ollama")[number % 3]
        await gateway.reply(wire, question(wire, "openai-chat/m"), stream=number % 2 == 0)


def test_live_calls_appear_on_the_page() -> None:
    async def work() -> None:
        play = in_turn(calls(weather({"city": EVIL, "days": "3"})), calls(weather({}, name="launch_rocket")), text(EVIL))
        async with (
            upstream_server(listing(play)) as up,
            serving(
                config(up, "openai-chat", server='record = true\nkeys = ["key-one-0123456789"]', route="retries = 0")
            ) as gateway,
            browsing(f"{gateway.url}/?key=key-one-0123456789", viewport=WIDE) as opened,
        ):
            page = opened.page
            await page.wait_for_selector("#state.on")
            assert "No requests yet" in await page.inner_text("#list")
            assert "reachable" in await page.inner_text("#upstreams")
            assert "qwen2.5-coder:32b" in await page.inner_text("#upstreams")
            assert "openai-chat/* → openai-chat/*" in await page.inner_text("#route-list")
            for wire in ("anthropic", "ollama", "openai-chat"):
                path_body = question(wire, "openai-chat/m")
                await gateway.reply(wire, path_body, stream=False, authorization="Bearer key-one-0123456789")
            await page.wait_for_selector("#list details:nth-of-type(3)")
            assert await page.locator("#list .chip").all_inner_texts() == [
                "✕ launch_rocket rejected_unknown_tool",
                "✎ get_weather coerced_type",
            ]
            assert "50 %" in await page.inner_text("#charts")
            assert await page.locator("#charts rect").count() == 2
            await page.locator("#list summary").nth(2).focus()
            await page.keyboard.press("Enter")
            await page.wait_for_selector("#list details[open] .more h3")
            shown = await page.inner_text("#list details[open]")
            assert "<script>document.title" in shown
            assert '"days":3' in shown.replace(" ", "")
            assert "coerced_type" in shown
            await page.select_option("#filter", "changed")
            assert await page.locator("#list details:visible").count() == 2
            assert await page.title() == "toolglot"
            assert await page.locator("main img, main script").count() == 0
            assert opened.wrong == []

    run(work())


def test_the_playground_parses_rejects_and_steps() -> None:
    async def work() -> None:
        async with (
            serving(config("http://127.0.0.1:9", "openai-chat")) as gateway,
            browsing(gateway.url, viewport=WIDE) as opened,
        ):
            page = opened.page
            await page.wait_for_selector("#result .card.refused")
            assert await page.inner_text("#result .card:not(.refused) strong") == "get_weather"
            assert "launch_rocket: there is no such tool" in await page.inner_text("#result .card.refused")
            assert "launch_rocket" in await page.inner_text("#characters .became-refused")
            written = await page.inner_text("#characters")

            await page.focus("#step")
            await page.keyboard.press("Home")
            assert await page.locator("#result .card").count() == 0
            assert await page.locator("#characters .to-come").count() == 1
            for _ in range(30):
                await page.click("#forward")
            assert "after 30 of" in await page.inner_text("#position")
            assert await page.inner_text("#characters .pending") == "<tool_call"[:9]
            assert await page.inner_text("#characters") == written
            await page.keyboard.press("End")

            written = f'{EVIL} \U0001f600 <tool_call>{{"name": "get_weather", "arguments": {{"city": "Rome"}}}}</tool_call>'
            await page.fill("#text", written)
            await page.wait_for_selector("#result .card pre:has-text('Rome')")
            assert EVIL in await page.inner_text("#characters")
            assert (await page.inner_text("#characters .became-call")).startswith("<tool_call>")
            assert EVIL in await page.inner_text("#result")
            assert await page.title() == "toolglot"
            assert await page.locator("main img, main script").count() == 0
            assert opened.wrong == []

            await page.fill("#tools", "[")
            await page.wait_for_selector("#error:not(:empty)")
            await page.fill("#tools", '[{"no": "name"}]')
            await page.wait_for_selector("#error:has-text('name')")

    run(work())


def test_dark_theme_by_system_and_by_choice() -> None:
    async def work() -> None:
        async with (
            serving(config("http://127.0.0.1:9", "openai-chat")) as gateway,
            browsing(gateway.url, color_scheme="dark") as opened,
        ):
            page = opened.page
            ground = "getComputedStyle(document.body).backgroundColor"
            assert await page.evaluate(ground) == "rgb(18, 21, 23)"
            await page.click("#theme")
            assert await page.evaluate(ground) == "rgb(250, 250, 248)"
            await page.reload()
            assert await page.evaluate(ground) == "rgb(250, 250, 248)"
            await page.click("#theme")
            assert await page.evaluate(ground) == "rgb(18, 21, 23)"
            assert opened.wrong == []

    run(work())


def test_phone_layout_and_accessible_names() -> None:
    async def work() -> None:
        long = "m" * 200
        play = in_turn(calls(weather({"city": "x" * 500})), calls(weather({}, name="launch_" + "y" * 80)), text("hi"))
        async with (
            upstream_server(listing(play)) as up,
            serving(config(up, "openai-chat", server="record = true", route="retries = 0")) as gateway,
        ):
            for _ in range(3):
                await gateway.reply("anthropic", question("anthropic", f"openai-chat/{long}"), stream=False)
            async with browsing(gateway.url, viewport=PHONE, has_touch=True, is_mobile=True) as opened:
                page = opened.page
                await page.wait_for_selector("#result .card")
                await page.wait_for_selector("#upstreams li")
                for row in await page.locator("#list summary").all():
                    await row.click()
                await page.wait_for_selector("#list details:nth-of-type(3) .more p")
                assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
                assert await page.evaluate("innerWidth") == PHONE["width"]
                assert await page.evaluate("document.querySelector('#list').scrollWidth") <= PHONE["width"]
                nameless = await page.evaluate(NAMELESS)
                assert nameless == []
                assert opened.wrong == []

    run(work())


def test_the_screenshot_of_the_documentation() -> None:
    """Creates the screenshot if it is missing: delete it when the page changes."""

    async def work() -> None:
        play = in_turn(
            calls(weather({"city": "Paris"})),
            calls(weather({"city": "Oslo", "days": "3"})),
            text('I look it up. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'),
            calls(weather({}, name="launch_rocket")),
            text("It is sunny."),
        )
        async with (
            upstream_server(listing(play)) as up,
            serving(config(up, "openai-chat", "anthropic", server="record = true", route="retries = 0")) as gateway,
        ):
            _past(gateway)
            await talk(gateway, 5)
            async with browsing(gateway.url, viewport=WIDE) as opened:
                page = opened.page
                await page.wait_for_selector("#result .card.refused")
                await page.wait_for_selector("#upstreams li")
                await page.wait_for_selector("#list details:nth-of-type(5)")
                await page.locator("#list summary").nth(2).click()
                await page.wait_for_selector("#list details[open] .more p")
                shot = await page.screenshot(full_page=True)
                assert opened.wrong == []
                assert len(shot) > 50_000
                if not SCREENSHOT.exists():
                    SCREENSHOT.write_bytes(shot)

    run(work())


def _past(gateway: Running) -> None:
    """Fills an hour of history with two different models."""
    history, now = gateway.gateway.history, time.time()
    for model, pattern in (("qwen2.5-coder:32b", "pppfpppfpprp"), ("llama3.2:3b", "pffprfpprffr")):
        for minute in range(59, 1, -1):
            if (minute * 7 + len(model)) % 5 == 0:
                continue
            kinds: dict[str, Outcome] = {"p": "passed", "f": "fixed", "r": "refused"}
            seen = [RecordedCall("native", kinds[pattern[(minute * step) % 12]]) for step in (1, 5, 7)]
            history._clock = lambda minute=minute: now - 60 * minute  # type: ignore[misc]
            history(Record("r", "anthropic", now, target=model, upstream="openai-chat", status=200, calls=seen))
    history._clock = time.time
