"""The page at `/` and its JSON endpoints."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import calls, in_turn, question, weather
from tests.gateway.upstream_server import UpstreamResponse, upstream_server, whole
from toolglot.core.tools import Tool
from toolglot.gateway.config import read_config
from toolglot.gateway.page.history import History
from toolglot.gateway.page.parse_view import MAX_TEXT, ParseRequest, parse
from toolglot.gateway.records import Record, RecordedCall
from toolglot.pipeline.response.extract import extract

TOOLS: list[Any] = [
    {
        "name": "get_weather",
        "schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
]
CALL = '<tool_call>{"name":"get_weather","arguments":{"city":"Paris","days":"3"}}</tool_call>'
NOWHERE = "http://127.0.0.1:9"
INVENTED = '<tool_call>{"name":"launch","arguments":{}}</tool_call>'


# -- the document


def test_the_page_is_one_document_with_a_strict_policy() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE)) as gateway:
            status, body, headers = await gateway.ask("GET", "/")
            assert status == 200
            assert headers["content-type"] == "text/html; charset=utf-8"
            page = body.decode()
            policy = headers["content-security-policy"]
            for tag in ("script", "style"):
                (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
                assert f"{tag}-src 'sha256-{b64encode(sha256(inside.encode()).digest()).decode()}'" in policy
            assert policy.startswith("default-src 'none'; ")
            assert "unsafe" not in policy
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == "no-store"
            assert not re.search(r"%[A-Z_]+%", page), "an unfilled placeholder"
            assert not re.search(r"""(src|href)=["']?(https?:)?//""", page), "an external resource"
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", page)
            assert not re.search(r"""<[^>]*\son[a-z]+=|<[^>]*\sstyle=""", page), "blocked by the policy"
            assert 20_000 < len(body) < 100_000

    run(work())


def test_the_page_and_its_endpoints_need_the_key_in_header_or_query() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE, server='keys = ["key-one-0123456789"]')) as gateway:
            for method, path in (
                ("GET", "/"),
                ("GET", "/toolglot/live"),
                ("GET", "/toolglot/upstreams"),
                ("POST", "/toolglot/parse"),
            ):
                body: Any = {"text": "x"} if method == "POST" else b""
                assert (await gateway.ask(method, path, body))[0] == 401, path
                assert (await gateway.ask(method, path + "?key=key-one-0123456789", body))[0] == 200, path
                assert (await gateway.ask(method, path, body, authorization="Bearer key-one-0123456789"))[0] == 200, path

    run(work())


def test_text_has_enough_contrast_in_both_themes() -> None:
    css = (files("toolglot.gateway.page") / "page.css").read_text(encoding="utf-8")
    themes = re.findall(r"\{\s*(--ground:.*?)\s*color-scheme", css, re.DOTALL)
    assert len(themes) == 3, "light, dark by the system, dark by choice"
    assert themes[1].split() == themes[2].split()
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme))
        for ink, ground in (
            ("ink", "ground"),
            ("ink", "tint"),
            ("ink", "rose"),
            ("soft", "panel"),
            ("soft", "ground"),
            ("accent", "panel"),
            ("danger", "panel"),
            ("danger", "rose"),
        ):
            assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def _contrast(one: str, other: str) -> float:
    light, dark = sorted(map(_luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# -- live calls


def test_live_returns_new_requests_with_codes_only() -> None:
    async def work() -> None:
        play = in_turn(calls(weather({"city": "Paris", "days": "3"})), calls(weather({}, name="launch")))
        async with upstream_server(play) as up, serving(config(up, route="retries = 0")) as gateway:
            await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=True)
            _, first, headers = await gateway.ask("GET", "/toolglot/live")
            assert headers["cache-control"] == "no-store"
            (row,) = first["rows"]
            assert (row["wire"], row["upstream"], row["target"], row["status"]) == ("anthropic", "openai-chat", "m", 200)
            assert row["calls"] == [{"dialect": "native", "outcome": "fixed", "code": "coerced_type", "tool": "get_weather"}]
            assert first["records"] is False
            await gateway.reply("ollama", question("ollama", "openai-chat/m"), stream=False)
            _, since, _ = await gateway.ask("GET", f"/toolglot/live?after={row['id']}")
            (second,) = since["rows"]
            assert second["calls"] == [{"dialect": "native", "outcome": "refused", "code": "rejected_unknown_tool"}]
            response = msgspec.json.encode([row, second])
            assert b"Paris" not in response
            assert b"launch" not in response
            _, all_of_them, _ = await gateway.ask("GET", "/toolglot/live?after=unknown")
            assert [one["id"] for one in all_of_them["rows"]] == [second["id"], row["id"]]
            assert since["history"]["models"] == {"m": [[0, 0, 1, 1, 2, 0]]}
            assert all_of_them["history"]["span"] == "hour"
            _, day, _ = await gateway.ask("GET", "/toolglot/live?span=day")
            assert day["history"]["step"] == 1440

    run(work())


def test_live_shortens_recorded_calls() -> None:
    async def work() -> None:
        city = "P" * 5000
        play = in_turn(calls(weather({"city": city, "days": "3"})))
        async with upstream_server(play) as up, serving(config(up, server="record = true")) as gateway:
            await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=False)
            _, response, _ = await gateway.ask("GET", "/toolglot/live")
            (row,) = response["rows"]
            (call,) = row["calls"]
            assert call["tool"] == "get_weather"
            assert call["written"].startswith('{"city":"PPP')
            assert len(call["written"]) == 400
            assert "content" not in row
            _, whole_one, _ = await gateway.ask("GET", f"/toolglot/decisions/{row['id']}")
            assert len(whole_one["calls"][0]["written"]) > 5000

    run(work())


def test_history_counts_in_steps_and_drops_old_ones() -> None:
    now = [1_000_000.0]
    history = History(lambda: now[0])

    def seen(model: str, *outcomes: Any, code: str = "", status: int = 200) -> None:
        recorded = [RecordedCall("native", outcome) for outcome in outcomes]
        history(Record("r", "ollama", now[0], target=model, upstream="up", code=code, status=status, calls=recorded))

    seen("a", "passed", "fixed", "refused")
    seen("a", "passed")
    now[0] += 120
    seen("a", "refused")
    seen("b", code="overloaded", status=503)
    seen("b", code="", status=499)
    assert history.to_dict("hour")["models"] == {"a": [[2, 2, 1, 1, 2, 0], [0, 0, 0, 1, 1, 0]], "b": [[0, 0, 0, 0, 2, 1]]}
    assert history.failed == {"up": {"code": "overloaded", "status": 503, "at": now[0]}}
    now[0] += 58 * 60
    assert history.to_dict("hour")["models"] == {"a": [[58, 0, 0, 1, 1, 0]], "b": [[58, 0, 0, 0, 2, 1]]}
    now[0] += 2 * 60
    assert history.to_dict("hour")["models"] == {}
    assert sum(sum(row[1:4]) for row in history.to_dict("day")["models"]["a"]) == 5
    for number in range(100):
        seen(f"model {number}", "passed")
    assert len(history.to_dict("hour")["models"]) == 39  # a, b and "other" included
    assert history.to_dict("hour")["models"]["other"] == [[0, 62, 0, 0, 62, 0]]
    assert len(history._rings["*"]["hour"]._counts) == 1, "old steps are dropped"


# -- routes and upstreams


def test_the_embedded_models_are_shown_as_small_demo_models() -> None:
    async def work() -> None:
        configuration = read_config('[[upstream]]\nname = "box"\nprovider = "local"\n')
        async with serving(configuration) as gateway:
            _, response, _ = await gateway.ask("GET", "/toolglot/upstreams")
            [box] = response["upstreams"]
            assert box["note"] == "small demo models: expect mistakes"
            assert box["models"][0] == "local"

    run(work())


def test_upstream_states() -> None:
    def play(request: Any) -> UpstreamResponse:
        if request.path == "/v1/models":
            return whole({"data": [{"id": "m-1"}, {"id": "m-2"}]})
        return UpstreamResponse(503)

    async def work() -> None:
        async with upstream_server(play) as up:
            configuration = config(up, "openai-chat", "ollama", route='policy = "strict"')
            async with serving(configuration) as gateway:
                path, body = "/v1/chat/completions", question("openai-chat", "openai-chat/m-1")
                assert (await gateway.ask("POST", path, body))[0] == 503
                status, response, _ = await gateway.ask("GET", "/toolglot/upstreams")
                assert status == 200
                good, bad = response["upstreams"]
                assert (good["name"], good["provider"], good["wire"]) == ("openai-chat", "vllm", "openai-chat")
                assert (good["reachable"], good["models"], good["count"]) == (True, ["m-1", "m-2"], 2)
                assert good["address"] == up.url
                assert good["failed"]["status"] == 503
                assert (bad["reachable"], bad["problem"], bad["failed"]) == (False, "status 503", None)
                assert response["routes"][0] == {
                    "model": "openai-chat/*",
                    "to": "openai-chat/*",
                    "ask": "auto",
                    "policy": "strict",
                    "calls": "hold",
                    "retries": 1,
                    "weak_forms": None,
                    "loop_limit": 0,
                    "weight": 0,
                    "attempts": 2,
                }
                assert b"k-up" not in msgspec.json.encode(response)
                count = len(up.requests)
                await gateway.ask("GET", "/toolglot/upstreams")
                assert len(up.requests) == count, "the result is cached"

    run(work())


# -- the playground


def test_the_playground_returns_calls_rejections_and_spans() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE)) as gateway:
            text = f"Let me see. {CALL} {INVENTED} Done."
            status, response, _ = await gateway.ask("POST", "/toolglot/parse", {"text": text, "tools": TOOLS})
            assert status == 200
            assert [(call["name"], call["arguments"]) for call in response["calls"]] == [
                ("get_weather", '{"city":"Paris","days":3}')
            ]
            assert response["text"] == "Let me see.   Done."
            assert [one["code"] for one in response["decisions"]] == ["coerced_type", "rescued_text", "rejected_unknown_tool"]
            became = {one["became"]: text[one["start"] : one["end"]] for one in response["spans"] if one["became"] != "text"}
            assert became == {"call": CALL, "refused": INVENTED}
            assert response["dialect"] == "hermes"

    run(work())


@pytest.mark.parametrize(
    ("text", "became"),
    [
        (f"Hm. {CALL} So.", ["text", "call", "text"]),
        (f"<think>a <b> t</think>Ok. {CALL}", ["marker", "reasoning", "marker", "text", "call"]),
        (f"<think>{CALL}</think>", ["marker", "call", "marker"]),
        (f"<think>{CALL}</think>No, wait.", ["marker", "reasoning", "marker", "text"]),
        (f"For example:\n```json\n{CALL[11:-12]}\n```\nwould do. Shall I?", ["text", "text quoted", "text"]),
        ('<tool_call>{"name":</tool_call> x', ["text rejected_malformed", "text"]),
        ("<script>alert(1)</script> \U0001f600 plain", ["text"]),
        ("", []),
        (f"{CALL}{CALL}", ["call", "call"]),
    ],
)
@pytest.mark.parametrize("mode", ["hold", "pass"])
def test_spans_cover_the_text_in_order(text: str, became: list[str], mode: Any) -> None:
    view = parse(ParseRequest(text, TOOLS, calls=mode))
    joined: list[str] = []
    at = 0
    for span in view.spans:
        assert span.start == at < span.end
        at = span.end
        assert span.after <= len(text) + 1
        kind = f"{span.became} {span.label}" if span.became == "text" and span.label else span.became
        if joined[-1:] != [kind] or kind in ("call", "refused"):
            joined.append(kind)
    assert at == len(text)
    if mode == "hold":
        assert joined == became


def test_steps_end_in_the_result() -> None:
    text = f"Let me see. {CALL} Done."
    view = parse(ParseRequest(text, TOOLS, dialect="hermes"))  # a form that nobody asked for waits for what follows it
    whole_one = extract(text, TOOLS, dialect="hermes")
    assert [one for one in view.steps if one[1] == "call"] == [[text.index(" Done"), "call", 1, "get_weather", "hermes"]]
    assert "".join(one[2] for one in view.steps if one[1] == "text") == view.text == whole_one.text
    assert [one[0] for one in view.steps] == sorted(one[0] for one in view.steps)
    assert view.steps[-1] == [len(text) + 1, "end", [one.code for one in whole_one.decisions]]
    call = next(span for span in view.spans if span.became == "call")
    assert call.after == call.end, "a call is decided at its last character"
    weak = parse(ParseRequest('get_weather(city="Rome") ', TOOLS))
    assert weak.spans[0].became == "call"
    assert weak.spans[0].after == 26, "a weak dialect is decided at the end"
    passed = parse(ParseRequest(text, TOOLS, calls="pass"))
    opened = next(one for one in passed.steps if one[1] == "call")
    assert opened[0] < text.index("Paris")


def test_nothing_is_decided_before_what_precedes_it() -> None:
    fence = '```json\n{"name": "get_weather", "arguments": {"days": 1}}\n```'
    (refused,) = [span for span in parse(ParseRequest(f"{fence}\n", TOOLS)).spans if span.became == "refused"]
    assert refused.after == len(fence) + 2
    good = fence.replace('"days": 1', '"city": "Oslo"')
    text = f"{good}\n{INVENTED}\n"
    (refused,) = [span for span in parse(ParseRequest(text, TOOLS)).spans if span.became == "refused"]
    assert refused.end < refused.after == len(text) + 1


def test_several_calls_of_one_region_get_separate_spans() -> None:
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}\n{"name": "launch", "arguments": {}}</tool_call>'
    spans = parse(ParseRequest(text, TOOLS)).spans
    assert [(span.became, span.label) for span in spans] == [
        ("call", "get_weather, hermes"),
        ("refused", "launch, hermes: rejected_unknown_tool"),
    ]
    assert text[: spans[0].end].endswith('"Oslo"}')


def test_without_tools_the_whole_message_may_be_a_call() -> None:
    view = parse(ParseRequest("get_weather(city='Rome')"))
    assert [(span.start, span.end, span.became) for span in view.spans] == [(0, 24, "call")]


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"text": "x" * (MAX_TEXT + 1)}, 400, "limit is 10000"),
        ({"text": "x", "tools": TOOLS * 65}, 400, "limit is 64"),
        ({"text": "x", "tools": [1]}, 400, "tools"),
        ({"text": "x", "tools": "y"}, 400, "tools"),
        ({"text": "x", "dialect": "klingon"}, 400, "dialect"),
        ({"text": "x", "policy": "loose"}, 400, "policy"),
        ({"text": "x", "typo": 1}, 400, "typo"),
        ({"tools": []}, 400, "text"),
        ([], 400, "object"),
        (b"{", 400, ""),
        (b'{"text": "\\ud800"}', 400, ""),
        (b"[" * 1000, 400, "nested"),
        ({"text": "x", "tools": [{"name": "a", "description": "y" * 300_000}]}, 413, "larger"),
    ],
)
def test_the_playground_rejects_invalid_and_large_requests(body: Any, status: int, word: str) -> None:
    async def work() -> None:
        async with serving(config(NOWHERE)) as gateway:
            got, response, _ = await gateway.ask("POST", "/toolglot/parse", body)
            assert got == status, response
            assert word in response["error"]["message"]

    run(work())


def test_a_failed_request_records_its_model() -> None:
    async def work() -> None:
        async with upstream_server(lambda _: UpstreamResponse(500)) as up, serving(config(up)) as gateway:
            assert (await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "ollama/m")))[0] == 500
            (record,) = gateway.gateway.records.recent()
            assert (record.upstream, record.target, record.status) == ("ollama", "m", 500)

    run(work())


def test_tools_in_any_format() -> None:
    tool = Tool("get_weather", "w", TOOLS[0]["schema"])
    openai = {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}
    assert [call["name"] for call in parse(ParseRequest(CALL, [openai])).calls] == ["get_weather"]
