"""The page at `/` and its JSON endpoints."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
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


def test_the_page_is_small_and_has_a_strict_policy() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE)) as gateway:
            status, body, headers = await gateway.ask("GET", "/")
            assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
            named = re.findall(r'(?:src|href)="(toolglot/page/[a-z.]+)"', body.decode())
            sources = [body.decode()]
            for path in dict.fromkeys(named):
                status, body, each = await gateway.ask("GET", f"/{path}")
                assert status == 200, path
                assert each["content-type"] == ("text/css" if path.endswith("css") else "text/javascript") + "; charset=utf-8"
                assert each["content-security-policy"] == headers["content-security-policy"]
                sources.append(body.decode())
            folder = files("toolglot.gateway.page")
            assert len(sources) - 1 == len([one for one in folder.iterdir() if one.name.endswith((".js", ".css"))])
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; ")
            assert "unsafe" not in policy
            assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
            for source in sources:
                assert not re.search(r"%[A-Z_]+%", source), "an unfilled placeholder"
                assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|\burl\(""", source), "an external resource"
                assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", source)
                assert not re.search(r"""<[^>]*\son[a-z]+=|<[^>]*\sstyle=""", source), "blocked by the policy"
            assert 50_000 < sum(len(source.encode()) for source in sources) < 100_000
            assert (await gateway.ask("GET", "/toolglot/page/other.js"))[0] == 404
            assert (await gateway.ask("GET", "/toolglot/page/page.py"))[0] == 404

    run(work())


def test_the_page_itself_needs_no_key_and_its_endpoints_do() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE, server='keys = ["key-one-0123456789"]')) as gateway:
            for path in ("/", "/toolglot/page/main.js", "/toolglot/page/page.css"):
                assert (await gateway.ask("GET", path))[0] == 200, path
            for method, path in (
                ("GET", "/toolglot/live"),
                ("GET", "/toolglot/config"),
                ("GET", "/toolglot/upstreams"),
                ("POST", "/toolglot/parse"),
            ):
                body: Any = {"text": "x"} if method == "POST" else b""
                assert (await gateway.ask(method, path, body))[0] == 401, path
                assert (await gateway.ask(method, path, body, authorization="Bearer key-one-0123456789"))[0] == 200, path

    run(work())


def test_the_settings_are_shown_to_admins_without_secrets() -> None:
    async def work() -> None:
        server = 'keys = ["key-one-0123456789"]\nadmin_keys = ["key-two-0123456789"]\nrate = 5.0'
        async with serving(config(NOWHERE, server=server)) as gateway:
            _, shown, _ = await gateway.ask("GET", "/toolglot/config", authorization="Bearer key-one-0123456789")
            assert (shown["keys"], shown["admin"], "server" in shown) == (2, False, False)
            _, shown, _ = await gateway.ask("GET", "/toolglot/config", authorization="Bearer key-two-0123456789")
            assert shown["server"]["rate"] == 5.0
            assert shown["changed"] == ["port", "detect", "rate"]
            assert b"key-" not in msgspec.json.encode(shown)

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
            ("soft", "tint"),
            ("panel", "accent"),
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
            columns = since["history"]["columns"]
            [[ago, *counts]] = since["history"]["models"]["m"]
            counted = {name: number for name, number in zip(columns, counts, strict=True) if number}
            assert (ago, counted) == (0, {"fixed": 1, "refused": 1, "requests": 2, "input": 20, "output": 10})
            assert all_of_them["history"]["span"] == "hour"
            _, day, _ = await gateway.ask("GET", "/toolglot/live?span=day&after=*")
            assert (day["history"]["step"], day["rows"]) == (1440, [])
            _, rows, _ = await gateway.ask("GET", "/toolglot/live?span=none")
            assert "history" not in rows

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
    assert counted(history) == {"a": [[2, 2, 1, 1, 2, 0], [0, 0, 0, 1, 1, 0]], "b": [[0, 0, 0, 0, 2, 1]]}
    assert history.failed == {"up": {"code": "overloaded", "status": 503, "at": now[0]}}
    now[0] += 58 * 60
    assert counted(history) == {"a": [[58, 0, 0, 1, 1, 0]], "b": [[58, 0, 0, 0, 2, 1]]}
    now[0] += 2 * 60
    assert counted(history) == {}
    assert sum(sum(row[1:4]) for row in history.to_dict("day")["models"]["a"]) == 5
    for number in range(100):
        seen(f"model {number}", "passed")
    assert len(counted(history)) == 63  # a, b and "other" included
    assert counted(history)["other"] == [[0, 38, 0, 0, 38, 0]]
    assert len(history._rings["*"]["hour"]._rows) == 1, "old steps are dropped"
    for number in range(100):
        history(Record("r", "ollama", now[0], target="a", owner=f"key {number}"))
    assert len(history._rings) == 16


def test_history_has_percentiles_of_successful_requests() -> None:
    history = History(lambda: 1_000_000.0)
    for number in range(1, 101):
        history(Record("r", "ollama", 0.0, target="a", seconds=number / 10, status=200))
    history(Record("r", "ollama", 0.0, target="b", seconds=0.02, status=200))
    history(Record("r", "ollama", 0.0, target="c", seconds=900.0, status=503))
    found = history.to_dict("hour")
    for number in range(100):
        history(Record("r", "ollama", 0.0, target="d", seconds=1.0 if number < 94 else 30.0, status=200))
    assert history.to_dict("hour")["seconds"]["d"] == [pytest.approx(1.0, rel=0.05), pytest.approx(30.0, rel=0.05)]
    middle, slow = found["seconds"]["a"]
    assert middle == pytest.approx(5.0, rel=0.06)
    assert slow == pytest.approx(9.5, rel=0.06)
    assert found["seconds"]["b"] == [pytest.approx(0.02, rel=0.06)] * 2
    assert found["seconds"]["c"] is None
    assert found["all_seconds"][1] == pytest.approx(9.5, rel=0.06)


def test_history_counts_recovered_calls_and_requests_without_a_route() -> None:
    history = History(lambda: 1_000_000.0)
    seen = [
        RecordedCall("hermes", "passed"),
        RecordedCall("hermes", "fixed"),
        RecordedCall("hermes", "refused"),
        RecordedCall("native", "fixed"),
    ]
    history(Record("r", "ollama", 0.0, target="a", calls=seen, input=7, output=3))
    history(Record("r", "ollama", 0.0, model="typo", status=404, code="model_not_found"))
    found = history.to_dict("hour")
    rows = {model: dict(zip(found["columns"], row[1:], strict=True)) for model, [row] in found["models"].items()}
    assert rows["a"] | {"rescued": 2, "rescued_fixed": 1, "fixed": 2, "refused": 1, "input": 7, "output": 3} == rows["a"]
    assert (rows["no route"]["requests"], rows["no route"]["failed"]) == (1, 1)


def counted(history: History) -> dict[str, list[list[float]]]:
    return {model: [row[:6] for row in rows] for model, rows in history.to_dict("hour")["models"].items()}


# -- what is recorded


def test_the_recorded_content_has_what_the_model_wrote() -> None:
    async def work() -> None:
        play = in_turn(text(f"Hm. {CALL}"))
        async with upstream_server(play) as up, serving(config(up, server="record = true")) as gateway:
            for stream in (False, True):
                await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=stream)
                (record, *_) = gateway.gateway.records.recent()
                _, whole_one, _ = await gateway.ask("GET", f"/toolglot/decisions/{record.id}")
                assert whole_one["content"]["written"] == [{"type": "text", "text": f"Hm. {CALL}"}]
                assert [part["type"] for part in whole_one["content"]["reply"]] == ["text", "call"]

    run(work())


def test_decisions_have_sentences_without_recorded_content() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(CALL))) as up, serving(config(up)) as gateway:
            await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=False)
            (record,) = gateway.gateway.records.recent()
            _, whole_one, _ = await gateway.ask("GET", f"/toolglot/decisions/{record.id}")
            assert {one["code"]: one["message"] for one in whole_one["decisions"]} == {
                "coerced_type": "A value had another type than the schema requires.",
                "rescued_text": "The model wrote the call into its text, and toolglot parsed it from there.",
            }
            assert b"Paris" not in msgspec.json.encode(whole_one)

    run(work())


def test_a_failed_request_keeps_the_message_of_its_error() -> None:
    async def work() -> None:
        play = in_turn(whole({"error": {"message": "the model is on fire"}}, 500))
        async with upstream_server(play) as up, serving(config(up)) as gateway:
            await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "openai-chat/m"))
            _, live, _ = await gateway.ask("GET", "/toolglot/live")
            assert "on fire" in live["rows"][0]["error"]

    run(work())


def test_cost_is_in_the_request_the_history_the_metrics_and_the_usage() -> None:
    async def work() -> None:
        play = in_turn(text("hi"))  # 10 tokens in, 5 out
        prices = '[[price]]\nmodel = "m"\ninput = 1000.0\noutput = 4000.0\n'
        async with upstream_server(play) as up, serving(config(up, "openai-chat", route=prices)) as gateway:
            for _ in range(2):
                await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=False)
            _, live, _ = await gateway.ask("GET", "/toolglot/live")
            assert [row["cost"] for row in live["rows"]] == [pytest.approx(0.03)] * 2
            [row] = live["history"]["models"]["m"]
            assert row[1 + live["history"]["columns"].index("cost")] == pytest.approx(0.06)
            assert b'toolglot_cost_dollars_total{key="anyone",model="m"} 0.06' in (await gateway.ask("GET", "/metrics"))[1]
            _, report, _ = await gateway.ask("GET", "/toolglot/usage")
            assert report["usage"][0]["cost"] == pytest.approx(0.06)

    run(work())


def test_a_model_without_a_price_has_no_cost() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("hi"))) as up, serving(config(up, "openai-chat")) as gateway:
            await gateway.reply("anthropic", question("anthropic", "openai-chat/m"), stream=False)
            _, live, _ = await gateway.ask("GET", "/toolglot/live")
            assert "cost" not in live["rows"][0]

    run(work())


def test_as_many_requests_are_kept_as_configured() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE, server="max_records = 3")) as gateway:
            for number in range(5):
                gateway.gateway.records.add(Record(f"req_{number}", "ollama", 0.0))
            _, live, _ = await gateway.ask("GET", "/toolglot/live")
            assert [row["id"] for row in live["rows"]] == ["req_4", "req_3", "req_2"]
            assert live["max_records"] == 3

    run(work())


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
                differs = {"model": "openai-chat/*", "to": "openai-chat/*", "policy": "strict"}
                assert response["routes"][0] == differs
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


def test_live_in_parts() -> None:
    async def work() -> None:
        async with serving(config(NOWHERE)) as gateway:
            for number in range(5):
                gateway.gateway.records.add(Record(f"req_{number}", "anthropic", 1.0, owner="anyone"))

            async def live(query: str) -> tuple[list[str], bool]:
                _, found, _ = await gateway.ask("GET", f"/toolglot/live?span=none&{query}")
                return [row["id"] for row in found["rows"]], found["more"]

            assert await live("limit=2") == (["req_4", "req_3"], True)
            assert await live("before=req_3") == (["req_2", "req_1", "req_0"], False)
            assert await live("before=req_3&after=req_0&limit=1") == (["req_2"], True)
            assert await live("limit=5") == (["req_4", "req_3", "req_2", "req_1", "req_0"], False)
            assert await live("before=unknown") == ([], False)

    run(work())
