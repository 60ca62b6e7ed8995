"""Model lists, Ollama's endpoints, token counts, records and metrics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import WEATHER, calls, fixture, in_turn, question, text, weather
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.gateway.config import read_config

LISTS: dict[str, Any] = {
    "/v1/models": {"object": "list", "data": [{"id": "m-one"}, {"id": "m-two"}, {"no": "id"}, 5]},
    "/v1beta/models": {"models": [{"name": "models/g-one"}]},
    "/api/tags": {"models": [{"name": "o-one:1b"}]},
}


COUNTED = {"model", "messages", "system", "tools", "tool_choice", "thinking"}  # the keys of Anthropic's count_tokens


def _play(request: UpstreamRequest) -> UpstreamResponse:
    return whole(LISTS[request.path]) if request.path in LISTS else fixture("plain_text")(request)


def _config(url: str) -> Any:
    return read_config(
        f'[[upstream]]\nname = "v"\nprovider = "vllm"\nbase_url = "{url}/v1"\n'
        f'[[upstream]]\nname = "o"\nprovider = "ollama"\nbase_url = "{url}"\nwire = "ollama"\n'
        f'[[upstream]]\nname = "g"\nprovider = "gemini"\nbase_url = "{url}"\napi_key = "k"\n'
        '[[upstream]]\nname = "gone"\nprovider = "vllm"\nbase_url = "http://127.0.0.1:9"\n'
        '[[route]]\nmodel = "claude-x"\nto = "v/m-one"\n'
        '[[route]]\nmodel = "m-*"\nto = "v/m-*"\n'
        '[[route]]\nmodel = "o-*"\nto = "o/o-*"\n'
        '[[route]]\nmodel = "g-*"\nto = "g/g-*"\n'
        '[[route]]\nmodel = "*"\nto = "gone/*"\n'
    )


NAMES = ["claude-x", "m-one", "m-two", "o-one:1b", "g-one"]


def test_model_lists_merge_all_upstreams_in_each_format() -> None:
    async def work() -> None:
        async with upstream_server(_play) as up, serving(_config(up.url)) as gateway:
            _, body, _ = await gateway.ask("GET", "/v1/models")
            assert [row["id"] for row in body["data"]] == NAMES
            assert body["data"][1]["owned_by"] == "v"
            _, body, _ = await gateway.ask("GET", "/v1/models", anthropic_version="2023-06-01")
            assert [(row["type"], row["id"]) for row in body["data"]] == [("model", name) for name in NAMES]
            for path, headers in (("/v1/models", {"x_goog_api_key": "x"}), ("/v1beta/models", {}), ("/models", {})):
                _, body, _ = await gateway.ask("GET", path, **headers)
                assert [row["name"] for row in body["models"]] == [f"models/{name}" for name in NAMES], path
            _, body, _ = await gateway.ask("GET", "/api/tags")
            assert [row["name"] for row in body["models"]] == NAMES
            assert len({row["digest"] for row in body["models"]}) == len(NAMES)
            assert len([request for request in up.requests if request.path == "/v1/models"]) == 1  # cached

    run(work())


def test_one_model() -> None:
    async def work() -> None:
        async with upstream_server(_play) as up, serving(_config(up.url)) as gateway:
            assert (await gateway.ask("GET", "/v1/models/m-one"))[1]["id"] == "m-one"
            assert (await gateway.ask("GET", "/v1beta/models/o-one:1b"))[1]["name"] == "models/o-one:1b"
            assert (await gateway.ask("GET", "/v1/models/x/y", anthropic_version="1"))[1]["type"] == "model"

    run(work())


def test_ollama_endpoints() -> None:
    async def work() -> None:
        async with upstream_server(_play) as up, serving(_config(up.url)) as gateway:
            for body in ({"model": "claude-x"}, {"name": "claude-x"}):
                status, shown, _ = await gateway.ask("POST", "/api/show", body)
                assert status == 200
                assert "completion" in shown["capabilities"]
                assert f"{shown['model_info']['general.architecture']}.context_length" in shown["model_info"] or True
            assert (await gateway.ask("POST", "/api/show", {}))[0] == 400
            assert (await gateway.ask("POST", "/api/show", b"nonsense"))[0] == 400
            _, version, _ = await gateway.ask("GET", "/api/version")
            assert tuple(map(int, version["version"].split("."))) >= (0, 13, 4)

    run(work())


def test_tokens_are_counted_by_llamacpp_or_estimated() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            if request.path == "/apply-template":
                return whole({"prompt": f"<|im_start|>{request.body['messages'][-1]['content']}"})
            if request.path == "/tokenize":
                return whole({"tokens": list(range(len(request.body["content"])))})
            return UpstreamResponse(404)

        async with upstream_server(play) as up:
            configuration = read_config(
                f'[[upstream]]\nname = "l"\nprovider = "llamacpp"\nbase_url = "{up.url}/v1"\n'
                f'[[upstream]]\nname = "v"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "l-*"\nto = "l/l-*"\n[[route]]\nmodel = "v-*"\nto = "v/v-*"\n'
            )
            async with serving(configuration) as gateway:
                sent = question("anthropic", "l-m", (), "x" * 27)
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens?beta=true", sent)
                assert (body, headers["x-toolglot-tokens"]) == ({"input_tokens": 12 + 27}, "counted")
                sent = question("anthropic", "v-m", (WEATHER,), "x" * 700)
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens", sent)
                assert 200 < body["input_tokens"] < 400
                assert headers["x-toolglot-tokens"] == "estimated"
                sent = question("gemini", "v-m", (), "x" * 700)
                sent.pop("model")
                _, plain, _ = await gateway.ask("POST", "/v1beta/models/v-m:countTokens", sent)
                _, inner, _ = await gateway.ask("POST", "/models/v-m:countTokens", {"generateContentRequest": sent})
                assert plain["totalTokens"] == inner["totalTokens"] > 200
                up.play = lambda request: UpstreamResponse(500)
                sent = question("anthropic", "l-m", (), "x" * 27)
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens", sent)
                assert headers["x-toolglot-tokens"] == "estimated"

    run(work())


def test_tokens_are_counted_by_upstreams_that_can() -> None:
    async def work() -> None:
        asked_for: list[UpstreamRequest] = []

        def play(request: UpstreamRequest) -> UpstreamResponse:
            asked_for.append(request)
            if request.path == "/v1/messages/count_tokens":
                return whole({"input_tokens": 1234}) if request.body.keys() <= COUNTED else UpstreamResponse(400)
            if request.path == "/v1/responses/input_tokens":
                return (
                    whole({"input_tokens": 77}) if request.body.keys() == {"model", "input", "tools"} else UpstreamResponse(400)
                )
            if request.path == "/v1beta/models/g-m:countTokens":
                return whole({"totalTokens": len(request.body["generateContentRequest"]["tools"]) + 40})
            return UpstreamResponse(404)

        async with upstream_server(play) as up:
            configuration = read_config(
                f'[[upstream]]\nname = "a"\nprovider = "anthropic"\nbase_url = "{up.url}/v1"\napi_key = "k-1"\n'
                f'[[upstream]]\nname = "g"\nprovider = "gemini"\nbase_url = "{up.url}/v1beta"\napi_key = "k-2"\n'
                f'[[upstream]]\nname = "r"\nprovider = "openai-responses"\nbase_url = "{up.url}"\napi_key = "k-3"\n'
                '[[route]]\nmodel = "a-*"\nto = "a/a-*"\n[[route]]\nmodel = "g-*"\nto = "g/g-*"\n'
                '[[route]]\nmodel = "r-*"\nto = "r/r-*"\n'
            )
            async with serving(configuration) as gateway:
                sent = question("anthropic", "a-m", (WEATHER,), "hello")
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens", {**sent, "temperature": 0.5})
                assert (body, headers["x-toolglot-tokens"]) == ({"input_tokens": 1234}, "counted")
                assert [tool["name"] for tool in asked_for[0].body["tools"]] == ["get_weather"]
                assert asked_for[0].headers["x-api-key"] == "k-1"
                sent = question("anthropic", "g-m", (WEATHER,), "hello")
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens", sent)
                assert (body, headers["x-toolglot-tokens"]) == ({"input_tokens": 41}, "counted")
                assert asked_for[1].body["generateContentRequest"]["model"] == "models/g-m"
                sent = question("openai-responses", "r-m", (WEATHER,), "hello")
                _, body, headers = await gateway.ask("POST", "/v1/responses/input_tokens", sent)
                assert body == {"object": "response.input_tokens", "input_tokens": 77}
                assert headers["x-toolglot-tokens"] == "counted"
                up.play = lambda request: whole({"input_tokens": "many"})
                _, body, headers = await gateway.ask("POST", "/v1/messages/count_tokens", question("anthropic", "a-m", (), "x"))
                assert headers["x-toolglot-tokens"] == "estimated"

    run(work())


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_head_and_get_on_the_root(method: str) -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            assert (await gateway.ask(method, "/"))[0] == 200
            assert (await gateway.ask("GET", "/readyz"))[1] == {"status": "ready"}
        async with serving(read_config("")) as gateway:
            assert (await gateway.ask("GET", "/readyz"))[0] == 503

    run(work())


def test_another_upgrade_is_rejected_with_426() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            head = b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n"
            tried = await gateway.raw(head)
            assert tried.startswith(b"HTTP/1.1 426 ")
            assert b"\r\nupgrade: websocket\r\nconnection: upgrade\r\n" in tried

    run(work())


# -- records


def test_a_record_has_codes_only() -> None:
    async def work() -> None:
        written = text(
            'I look. <tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": "3"}}\n</tool_call>'
        )
        async with upstream_server(in_turn(written)) as up, serving(config(up)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "anthropic/secret-name"), stream=False)
            _, _, headers = await gateway.ask("POST", path, sent)
            assert headers["x-toolglot-upstream"] == "anthropic/secret-name"
            assert headers["x-toolglot-decisions"] == "coerced_type, rescued_text"
            _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
            assert [one["code"] for one in record["decisions"]] == ["coerced_type", "rescued_text"]
            assert record["calls"] == [{"dialect": "hermes", "outcome": "fixed", "code": "coerced_type", "tool": "get_weather"}]
            assert "Paris" not in str(record)
            assert (record["input"], record["output"], record["status"]) == (10, 5, 200)
            assert (await gateway.ask("GET", "/toolglot/decisions/req_none"))[0] == 404

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_content_is_recorded_if_configured(stream: bool) -> None:
    async def work() -> None:
        reply = calls(weather({"city": "Paris"}), words="Look:")
        async with upstream_server(in_turn(reply)) as up, serving(config(up, server="record = true")) as gateway:
            path, sent = request_of("anthropic", question("anthropic", "gemini/m"), stream=stream)
            _, _, headers = await gateway.ask("POST", path, sent, x_api_key="k-secret")
            _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
            assert "Weather in Paris?" in str(record["content"]["request"])
            assert "Look:" in str(record["content"]["reply"])
            assert record["calls"][0]["tool"] == "get_weather"
            assert "k-secret" not in str(record)
            assert "k-up" not in str(record)

    run(work())


def test_records_history_and_metrics_are_visible_only_to_their_key_and_to_admins() -> None:
    one, two, three, admin = (f"key-{name}-0123456789" for name in ("one", "two", "three", "admin"))

    async def work() -> None:
        server = f'record = true\nkeys = ["{one}", "{two}"]\nadmin_keys = ["{admin}"]'
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "gemini/m"), stream=False)
            id = (await gateway.ask("POST", path, sent, x_api_key=one))[2]["x-request-id"]
            rejected = (await gateway.ask("POST", path, sent, x_api_key=three))[2]["x-request-id"]
            for key, status, rows, models, metrics in (
                (one, 200, [id], {"m"}, 403),
                (two, 404, [], set(), 403),
                (admin, 200, [rejected, id], {"m", "no route"}, 200),
            ):
                found, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{id}", x_api_key=key)
                assert found == status
                _, live, _ = await gateway.ask("GET", "/toolglot/live", x_api_key=key)
                assert [row["id"] for row in live["rows"]] == rows
                assert not any(secret in str((record, live)) for secret in (one, two, three, admin))
                assert set(live["history"]["models"]) == models
                assert (await gateway.ask("GET", "/metrics", x_api_key=key))[0] == metrics
            assert (await gateway.ask("POST", path, sent, x_api_key=admin))[0] == 200

    run(work())


def test_only_the_latest_records_are_kept() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "nowhere"), stream=False)
            first = (await gateway.ask("POST", path, sent))[2]["x-request-id"]
            for _ in range(200):
                await gateway.ask("POST", path, sent)
            assert len(gateway.gateway.records.recent()) == 200
            assert gateway.gateway.records.find(first) is None

    run(work())


def test_metrics() -> None:
    async def work() -> None:
        bad = calls(weather({"city": "Paris"}), weather({}, "nothing", "call_2"))
        async with upstream_server(in_turn(bad)) as up, serving(config(up, route="retries = 0")) as gateway:
            for client in WIRES:
                await gateway.reply(client, question(client, "anthropic/m"), stream=True)
            _, page, headers = await gateway.ask("GET", "/metrics")
            assert headers["content-type"].startswith("text/plain")
            lines = page.decode().splitlines()
            assert 'toolglot_requests_total{model="m",status="200",upstream="anthropic",wire="gemini"} 1.0' in lines
            assert 'toolglot_calls_total{code="",dialect="native",model="m",outcome="passed"} ' + f"{len(WIRES)}.0" in lines
            assert 'toolglot_call_success_ratio{model="m"} 0.5' in lines
            refused = 'toolglot_calls_total{code="rejected_unknown_tool",dialect="native",model="m",outcome="refused"} '
            assert refused + f"{len(WIRES)}.0" in lines
            assert 'toolglot_tokens_total{key="anyone",kind="input",model="m"} ' + f"{10 * len(WIRES)}.0" in lines
            assert 'toolglot_first_token_seconds_count{model="m",wire="ollama"} 1.0' in lines
            assert "toolglot_running_requests 0.0" in lines

    run(work())


def test_metrics_limit_the_number_of_models() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for number in range(210):
                await gateway.reply("openai-chat", question("openai-chat", f"gemini/m{number}", ()), stream=False)
            page = (await gateway.ask("GET", "/metrics"))[1].decode()
            assert 'toolglot_requests_total{model="other",status="200",upstream="gemini",wire="openai-chat"} 10.0' in page

    run(work())
