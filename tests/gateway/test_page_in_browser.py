"""The page in a real browser: each view, without findings of axe-core, on a phone and in the dark, with a large history.

Its screenshots are those of the documentation. Delete one when the page changes: `test_screenshots` takes what is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.gateway.browser import Opened, browsing, one_browser, run
from tests.gateway.page_data import SHOWN, fill, show_one
from tests.gateway.running import Running, config, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import Play, UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.cli.agents import agents as known_agents
from toolglot.core.messages import ToolCall

ASSETS = Path(__file__).parents[2] / "docs" / "assets"
VIEWS = ("overview", "requests", "usage", "chat", "playground", "setup", "config")
EVIL = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
TOO_WIDE = """[...document.querySelectorAll("main *, dialog *")].filter((one) =>
  one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("svg")).map((one) => one.outerHTML.slice(0, 120))"""
MODEL = "openai-chat/llama3.2:3b"
WITH_BRACES = {"Codex", "opencode", "pi", "Cline", "Python", "JavaScript", "curl"}
KEY = "key-one-0123456789"
RECORD = "record = true\nmax_records = 1000"
BUDGET = '[[budget]]\nkey = "*"\ndollars = 2.5\ntokens = 900_000\nperiod = "day"'


@pytest.fixture(scope="module", autouse=True)
def _one_browser() -> Iterator[None]:
    with one_browser():
        yield


def listing(play: Play) -> Play:
    """Adds a model list to a script."""

    def with_list(request: UpstreamRequest) -> UpstreamResponse:
        if request.method == "GET":
            return whole({"data": [{"id": "qwen2.5-coder:32b"}, {"id": "llama3.2:3b"}]})
        response = play(request)
        assert isinstance(response, UpstreamResponse)
        return response

    return with_list


@asynccontextmanager
async def page_of(
    play: Play | None = None, server: str = RECORD, requests: int = 0, models: int = 8, view: str = "", **context: Any
) -> AsyncIterator[tuple[Running, Opened]]:
    """A gateway with a past, and its page, at a view."""
    script = listing(play or in_turn(text("hi")))
    async with (
        upstream_server(script) as up,
        serving(config(up, "openai-chat", server=server, route="retries = 0")) as gateway,
    ):
        if requests:
            fill(gateway, requests, models)
            show_one(gateway)
        async with browsing(gateway.url, **{"viewport": WIDE, **context}) as opened:
            await opened.page.wait_for_selector("#state.on")
            if view:
                await go(opened, view)
            yield gateway, opened
            assert opened.wrong == []


async def go(opened: Opened, view: str) -> None:
    await opened.page.evaluate("view => { location.hash = view }", view)
    await opened.page.wait_for_selector(f"#view-{view.partition('?')[0]}:not([hidden])")
    if view.startswith("config"):
        await opened.page.wait_for_selector("#upstreams li")
    elif view.startswith("playground"):
        await opened.page.wait_for_selector("#result .card")
    elif view.startswith("usage"):
        await opened.page.wait_for_selector("#usage tbody tr, #no-usage:not([hidden])")
    elif "id=" in view:
        await opened.page.wait_for_selector("dialog[open] h2")


async def cells(opened: Opened, selector: str) -> list[str]:
    return await opened.page.locator(selector).all_inner_texts()


# -- overview


def test_the_overview_has_totals_a_chart_and_a_sortable_table() -> None:
    async def work() -> None:
        async with page_of(requests=300) as (gateway, opened):
            page = opened.page
            await page.wait_for_selector("#models tbody tr:nth-child(8)")
            history = gateway.gateway.history.to_dict("hour")
            total = {
                name: sum(row[at] for rows in history["models"].values() for row in rows)
                for at, name in enumerate(history["columns"], 1)
            }
            tiles = dict(zip(await cells(opened, "#tiles dt"), await cells(opened, "#tiles dt + dd"), strict=True))
            assert int(tiles["Requests"]) == total["requests"] == 301
            assert (int(tiles["Failures"]), int(tiles["Repaired"])) == (total["failed"], total["fixed"])
            assert (int(tiles["Recovered from text"]), int(tiles["Rejected"])) == (total["rescued"], total["refused"])
            assert tiles["p50"].endswith(" s")
            assert tiles["In flight"] == "0"

            # the bars of the chart add up to all calls
            ticks = [float(one) for one in await page.locator("#plot text.end").all_text_contents()]
            assert ticks[0] == 0
            assert ticks == sorted(ticks)
            heights = await page.evaluate(
                "[...document.querySelectorAll('#plot rect:not(.cursor)')].map(one => +one.getAttribute('height'))"
            )
            inside = 220 - 8 - 22
            drawn = sum(heights) / inside * ticks[-1]
            assert drawn == pytest.approx(total["passed"] + total["fixed"] + total["refused"], rel=0.02)
            await page.focus("#plot .keys")
            await page.keyboard.press("End")
            await page.wait_for_selector("#plot .tip:not([hidden])")
            spoken = await page.get_attribute("#plot .keys", "aria-valuetext")
            assert spoken is not None
            assert "recovered from text" in spoken
            await page.keyboard.press("ArrowLeft")
            assert await page.get_attribute("#plot .keys", "aria-valuenow") == "58"
            await page.click("#measure button:has-text('Requests')")
            assert await cells(opened, "#legend span") == ["successful", "failed"]

            # the table
            names = await cells(opened, "#models tbody th")
            numbers = [int(one) for one in await cells(opened, "#models tbody td:nth-child(2)")]
            assert numbers == sorted(numbers, reverse=True)
            await page.click("#models thead button:has-text('Model')")
            assert await cells(opened, "#models tbody th") == sorted(names)
            assert await page.get_attribute("#models th:first-child", "aria-sort") == "ascending"
            await page.click("#models thead button:has-text('Model')")
            assert await cells(opened, "#models tbody th") == sorted(names, reverse=True)
            assert await page.locator("#models .spark polyline").count() == 8

            await page.click("#models tbody a:has-text('phi3')")
            await page.wait_for_selector("#view-requests:not([hidden])")
            assert await page.input_value("#search") == "phi3"

    run(work())


# -- requests


def test_live_requests_appear_and_model_output_never_becomes_markup() -> None:
    async def work() -> None:
        play = in_turn(calls(weather({"city": EVIL, "days": "3"})), calls(weather({}, name="launch_rocket")), text(EVIL))
        async with page_of(play, view="requests") as (gateway, opened):
            page = opened.page
            assert "No requests yet" in await page.inner_text("#nothing")
            for wire in ("anthropic", "ollama", "openai-chat"):
                await gateway.reply(wire, question(wire, "openai-chat/m"), stream=False)
            await page.wait_for_selector("#rows tr:nth-child(3)")
            assert await cells(opened, "#rows .chip") == ["✕ launch_rocket rejected_unknown_tool", "✎ get_weather coerced_type"]
            await page.locator("#rows .open").nth(2).focus()
            await page.keyboard.press("Enter")
            await page.wait_for_selector("dialog[open] .card")
            shown = await page.inner_text("dialog")
            assert "<script>document.title" in shown
            assert '"days":3' in shown.replace(" ", "")
            assert "coerced_type" in shown
            await page.click("dialog button[aria-label='Newer request']")
            await page.wait_for_selector("dialog .card.refused")
            await page.keyboard.press("Escape")
            await page.wait_for_selector("dialog[open]", state="detached")
            await page.select_option("#outcome", "refused")
            assert len(await cells(opened, "#rows tr")) == 1
            assert await page.title() == "Requests · toolglot"
            assert await page.locator("img, body script").count() == 0

    run(work())


def test_requests_are_searched_by_model_tool_id_status_code_and_time() -> None:
    async def work() -> None:
        async with page_of(requests=300, view="requests") as (gateway, opened):
            page = opened.page
            await page.wait_for_selector("#rows tr:nth-child(40)")
            records = gateway.gateway.records.recent()

            async def count(search: str) -> int:
                await page.fill("#search", search)
                return int((await page.inner_text("#count")).split()[0].replace(",", ""))

            assert await count("phi3") == sum(one.model == "phi3" for one in records)
            assert await count("search_files") == sum(any(call.tool == "search_files" for call in one.calls) for one in records)
            assert await count(SHOWN.id) == 1
            assert await count("rescued_text phi3") == sum(
                one.model == "phi3" and any(each.code == "rescued_text" for each in one.decisions) for one in records
            )
            assert await count("codex/") == sum(one.client.startswith("codex/") for one in records)
            assert await count("nothing like it") == 0
            assert "No request matches" in await page.inner_text("#nothing")
            await page.fill("#search", "")
            await page.select_option("#status", "failed")
            failed = sum(one.status >= 400 for one in records)
            await opened.text("#count", has=f"{failed} of 301 requests")
            await page.select_option("#status", "")
            await page.select_option("#since", "900")
            assert 60 < int((await page.inner_text("#count")).split()[0]) < 90
            await page.select_option("#since", "")
            while await page.locator("#rows tr").count() < 301:
                await opened.scroll("#rows tr")

    run(work())


def test_a_request_shows_a_diff_its_decisions_curl_and_opens_in_the_playground() -> None:
    async def work() -> None:
        access: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
        async with page_of(requests=20, view=f"requests?id={SHOWN.id}", **access) as (gateway, opened):
            page = opened.page
            await page.wait_for_selector("dialog .diff")
            assert await cells(opened, "dialog del") == [
                "- <tool_call>\n",
                '- {"name": "get_weather", "arguments": {"city": "Paris", "days": "3",}}\n',
                "- </tool_call>\n",
            ]
            assert await cells(opened, "dialog ins") == ['+ → get_weather {"city":"Paris","days":3}\n']
            assert "days was a string and is an integer now. coerced_type" in await page.inner_text("dialog .decisions")
            pair = "diffLines('a\\nb\\nc\\nd\\ne', 'a\\nx\\nc\\ny\\ne')"
            lines = f"import('./toolglot/page/diff.js').then(({{ diffLines }}) => {pair}.map((one) => one.join('')))"
            assert await page.evaluate(lines) == [" a", "-b", "+x", " c", "-d", "+y", " e"]
            await page.click("dialog button:has-text('Copy as curl')")
            copied = await opened.copied(f"curl '{gateway.url}/v1/messages' \\\n")
            body = copied.partition("-d '")[2].removesuffix("'").replace("'\\''", "'")
            assert SHOWN.content is not None
            assert msgspec.json.decode(body) == msgspec.json.decode(SHOWN.content)["request"]
            await page.click("dialog button:has-text('Open in playground')")
            await page.wait_for_selector("#view-playground:not([hidden]) #result .card")
            assert "<tool_call>" in await page.input_value("#text")
            assert await page.inner_text("#result .card strong") == "get_weather"

            opened.expected = "404"
            await go(opened, "requests?id=req_none")
            await opened.text("dialog .error", has="not in memory")

    run(work())


def test_a_failed_request_shows_its_error() -> None:
    async def work() -> None:
        play = in_turn(whole({"error": {"message": "the model is on fire"}}, 500))
        async with page_of(play, server="", view="requests") as (gateway, opened):
            await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", MODEL))
            await opened.page.click("#rows tr .status")
            await opened.page.wait_for_selector("dialog .problem")
            assert "on fire" in await opened.page.inner_text("dialog .problem")
            assert "Message contents were not stored" in await opened.page.inner_text("dialog")

    run(work())


# -- chat, playground, setup, config


def test_a_chat_runs_tools_in_the_page_and_asks_for_the_result_of_others() -> None:
    async def work() -> None:
        roll = ToolCall("c1", "roll_dice", '{"count": 2}')
        play = in_turn(calls(roll, words="Rolling."), calls(weather({"city": "Oslo"})), text(f"Done. {EVIL}"))
        async with page_of(play, view="chat") as (gateway, opened):
            page = opened.page
            tools = msgspec.json.decode(await page.input_value("#chat-tools"))
            tools.append({"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}})
            await page.fill("#chat-tools", msgspec.json.encode(tools).decode())
            await page.fill("#chat-model", MODEL)
            await page.fill("#chat-text", "Roll 2 dice, then the weather in Oslo")
            await page.keyboard.press("Enter")
            await page.fill("#turns input", "snow")
            await page.keyboard.press("Enter")
            await opened.text("#turns", has=f"Done. {EVIL}")
            while len(gateway.gateway.records.recent()) < 3:
                await asyncio.sleep(0.02)
            assert await cells(opened, "#turns .card strong") == ["roll_dice", "get_weather"]
            (last, *_) = gateway.gateway.records.recent()
            assert last.content is not None
            messages = msgspec.json.decode(last.content)["request"]["messages"]
            assert [one["role"] for one in messages] == ["user", "assistant", "tool", "assistant", "tool"]
            assert messages[2]["content"].count(", ") == 1
            assert messages[4]["content"] == "snow"
            await page.locator("#turns button:has-text('details')").first.click()
            await page.wait_for_selector("dialog[open] .facts")

    run(work())


def test_the_playground_parses_rejects_and_steps() -> None:
    async def work() -> None:
        async with page_of(view="playground") as (_, opened):
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
            assert await page.title() == "Playground · toolglot"
            assert await page.locator("img, body script").count() == 0
            assert opened.wrong == []

            opened.expected = "400"
            await page.fill("#tools", "[")
            await page.wait_for_selector("#error:not(:empty)")
            await page.fill("#tools", '[{"no": "name"}]')
            await page.wait_for_selector("#error:has-text('name')")

    run(work())


def test_setup_has_commands_for_each_client_and_a_test_request() -> None:
    async def work() -> None:
        access: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
        play = in_turn(text('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'))
        async with page_of(play, view="setup", **access) as (gateway, opened):
            page = opened.page
            await page.fill("#setup-model", MODEL)
            agents = {agent.title: agent for agent in known_agents().values()}
            assert agents.keys() <= {*await cells(opened, "#agents button")}
            for client in await cells(opened, "#agents button"):
                await page.click(f"#agents button:text-is('{client}')")
                shown = dict(zip(await cells(opened, "#commands h2"), await cells(opened, "#commands pre"), strict=True))
                assert ("Write its settings" in shown) == (client in agents and bool(agents[client].settings)), client
                by_hand = shown.get("By hand") or shown[client]
                assert gateway.url in by_hand, client
                assert MODEL in by_hand, client
                assert "{" not in by_hand or client in WITH_BRACES, client
            await page.click("#agents button:text-is('Codex')")
            await page.locator("#commands button").first.click()
            expected = f"toolglot launch codex -m {MODEL} --gateway {gateway.url}"
            assert await opened.copied(expected) == expected
            written = await page.inner_text("#commands .command:nth-child(2) pre")
            assert written == f"toolglot connect codex -m {MODEL} --gateway {gateway.url} --write"
            await page.click("#test")
            await page.wait_for_selector("#tested pre")
            await opened.text("#tested", has="a valid call")
            assert "rescued_text" in await page.inner_text("#tested")

    run(work())


def test_config_shows_upstreams_routes_and_settings() -> None:
    async def work() -> None:
        async with page_of(view="config") as (_, opened):
            page = opened.page
            await opened.text("#upstreams", has="reachable")
            await page.click("#upstreams summary")
            assert "qwen2.5-coder:32b" in await page.inner_text("#upstreams")
            assert "openai-chat/* → openai-chat/*" in await page.inner_text("#route-list")
            assert "toolglot 0." in await page.inner_text("#version")
            assert set(await cells(opened, "#setting-list .changed dt")) == {"port", "detect", "record", "max_records"}

    run(work())


# -- usage


def test_usage_adds_up_by_model_key_and_day_and_shows_the_budgets() -> None:
    async def work() -> None:
        async with page_of(requests=300, view="usage", server=f"{RECORD}\n{BUDGET}") as (gateway, opened):
            page = opened.page
            _, report, _ = await gateway.ask("GET", "/toolglot/usage")
            total = [f"{sum(row[kind] for row in report['usage']):,}" for kind in ("requests", "input_tokens", "output_tokens")]
            models = sorted({row["model"] for row in report["usage"]})
            for group, names in (("model", models), ("owner", ["anyone"]), ("day", [report["usage"][0]["day"]]), ("all", None)):
                await page.click(f"#grouping button[data-value={group}]")
                if names is not None:
                    assert sorted(await cells(opened, "#usage tbody th")) == names
                assert (await cells(opened, "#usage tfoot .number"))[:3] == total
            assert await page.locator("#usage tbody tr").count() == len(report["usage"])
            (budget,) = await cells(opened, "#budget-list li")
            assert "of $2.50" in budget
            assert "of 900,000 tokens, spent" in budget
            values = await page.evaluate("[...document.querySelectorAll('progress')].map(one => one.value)")
            assert values == [pytest.approx(report["budgets"][0]["spent_dollars"]), 900_000]
            await page.reload()
            await page.wait_for_selector("#usage tbody tr")
            assert await page.get_attribute("#grouping button[data-value=all]", "aria-pressed") == "true"

    run(work())


# -- signing in


def test_signing_in_keeps_the_key_in_the_tab_and_out_of_the_address() -> None:
    async def work() -> None:
        async with (
            upstream_server(listing(in_turn(text("hi")))) as up,
            serving(config(up, "openai-chat", server=f'keys = ["{KEY}"]')) as gateway,
            browsing(gateway.url, viewport=WIDE) as opened,
        ):
            page = opened.page
            opened.expected = "401"
            await page.wait_for_selector("#login:not([hidden])")
            assert await page.locator("section:visible").count() == 0
            await page.fill("#login-key", "wrong-key-0123456789")
            await page.keyboard.press("Enter")
            await page.wait_for_selector("#login-error:has-text('not valid')")
            await page.fill("#login-key", KEY)
            await page.keyboard.press("Enter")
            await page.wait_for_selector("#view-overview:not([hidden])")
            await page.wait_for_selector("#state.on")
            assert await page.evaluate("sessionStorage.length") == 1
            assert KEY not in await page.evaluate(
                "JSON.stringify(localStorage) + location.href + document.documentElement.outerHTML"
            )
            await page.reload()
            await page.wait_for_selector("#state.on")
            assert opened.wrong == []
            await page.click("#signout")
            await page.wait_for_selector("#login:not([hidden])")
            assert await page.evaluate("sessionStorage.length") == 0
            await page.goto(f"{gateway.url}/?key={KEY}#requests")
            await page.wait_for_selector("#view-requests:not([hidden])")
            assert page.url == f"{gateway.url}/#requests"

    run(work())


# -- everyone can use it


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing(axe: Path, colours: str) -> None:
    async def work() -> None:
        async with page_of(requests=12, server=f"{RECORD}\n{BUDGET}", color_scheme=colours) as (_, opened):
            await opened.page.evaluate(f"() => {{ {axe.read_text(encoding='utf-8')} }}")
            for view in (*VIEWS, f"requests?id={SHOWN.id}"):
                await go(opened, view)
                found = await opened.page.evaluate("axe.run({resultTypes: ['violations']}).then(all => all.violations)")
                assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == [], view

    run(work())


def test_every_view_fits_a_phone() -> None:
    async def work() -> None:
        long = "m" * 200
        play = in_turn(calls(weather({"city": "x" * 500})), calls(weather({}, name="launch_" + "y" * 80)), text("hi"))
        async with page_of(play, requests=30, viewport=PHONE, has_touch=True, is_mobile=True) as (gateway, opened):
            page = opened.page
            for _ in range(3):
                await gateway.reply("anthropic", question("anthropic", f"openai-chat/{long}"), stream=False)
            (newest, *_) = gateway.gateway.records.recent()
            for view in (*VIEWS, f"requests?id={newest.id}"):
                await go(opened, view)
                await page.wait_for_timeout(200)
                assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], view
                assert await page.evaluate("innerWidth") == PHONE["width"], view
                assert await page.evaluate(TOO_WIDE) == [], view

    run(work())


def test_dark_theme_by_system_and_by_choice() -> None:
    async def work() -> None:
        async with page_of(color_scheme="dark") as (_, opened):
            page = opened.page
            ground = "getComputedStyle(document.body).backgroundColor"
            assert await page.evaluate(ground) == "rgb(17, 20, 22)"
            await page.click("#theme")
            assert await page.evaluate(ground) == "rgb(247, 248, 248)"
            await page.reload()
            await page.wait_for_selector("#state.on")
            assert await page.evaluate(ground) == "rgb(247, 248, 248)"
            await page.click("#theme")
            assert await page.evaluate(ground) == "rgb(17, 20, 22)"

    run(work())


def test_a_large_history_is_drawn_in_parts() -> None:
    """The times are in bench/page.py: here, the work."""

    async def work() -> None:
        async with page_of(requests=1000, models=50, view="requests") as (gateway, opened):
            page = opened.page
            await page.wait_for_selector("#rows tr:nth-child(40)")
            assert await page.locator("#rows tr").count() <= 80
            await page.wait_for_function("() => document.getElementById('count').textContent.startsWith('1,000')")
            await page.fill("#search", "model-")
            assert await page.locator("#rows tr").count() <= 40
            await page.fill("#search", "")
            for _ in range(3):
                await opened.scroll("#rows tr")
            await gateway.reply("ollama", question("ollama", MODEL), stream=False)
            await page.wait_for_selector("#rows tr:first-child:has-text('llama3.2')")
            assert await page.locator("#rows tr").count() <= 200
            await opened.text("#count", has="1,000 requests, the latest")
            await go(opened, "overview")
            await page.wait_for_selector("#models tbody tr:nth-child(50)")

    run(work())


SHOTS: dict[str, dict[str, Any]] = {
    "page-overview": {"view": "overview"},
    "page-request": {"view": f"requests?id={SHOWN.id}", "color_scheme": "dark"},
    "page-playground": {"view": "playground"},
    "page-phone": {"view": "overview", "viewport": PHONE, "has_touch": True, "is_mobile": True},
}


@pytest.mark.parametrize("name", SHOTS)
def test_screenshots(name: str) -> None:
    async def work() -> None:
        async with page_of(requests=1000, **SHOTS[name]) as (_, opened):
            await opened.page.wait_for_timeout(300)
            shot = await opened.page.screenshot()
            assert len(shot) > 20_000
            target = ASSETS / f"{name}.png"
            if not target.exists():
                target.write_bytes(shot)

    run(work())
