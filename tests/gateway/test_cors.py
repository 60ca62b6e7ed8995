"""CORS: allowed origins may send requests and read responses."""

from __future__ import annotations

import pytest

from tests.gateway.browser import browsing
from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import fixture, question
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server

PAGE = "https://app.example"
NAMED = f'cors_origins = ["{PAGE}", "app://notes"]'
KEYS = 'keys = ["key-one-0123456789"]'


def preflight(origin: str = PAGE, method: str = "POST", headers: str = "authorization,content-type") -> dict[str, str]:
    """As Chromium sends it: no key, no cookie."""
    return {
        "origin": origin,
        "access_control_request_method": method,
        "access_control_request_headers": headers,
        "sec_fetch_mode": "cors",
        "sec_fetch_site": "cross-site",
    }


@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_an_allowed_origin_gets_preflight_and_response_headers(client: str, stream: bool) -> None:
    async def work() -> None:
        server = f"{NAMED}\n{KEYS}"
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            path, sent = request_of(client, question(client, "gemini/m", ()), stream=stream)
            status, body, headers = await gateway.ask("OPTIONS", path, **preflight())
            assert (status, body) == (204, b"")
            assert "content-length" not in headers
            assert headers["access-control-allow-origin"] == PAGE
            assert headers["access-control-allow-headers"] == "authorization,content-type"
            assert "POST" in headers["access-control-allow-methods"]
            assert "access-control-allow-credentials" not in headers
            assert up.requests == []
            for key, wanted in (("key-one-0123456789", 200), ("wrong", 401)):
                status, _, headers = await gateway.ask("POST", path, sent, origin=PAGE, authorization=f"Bearer {key}")
                assert status == wanted
                assert headers["access-control-allow-origin"] == PAGE
                assert headers["vary"] == "origin"
                assert "x-request-id" in headers["access-control-expose-headers"]

    run(work())


@pytest.mark.parametrize(("server", "origin"), [(NAMED, "https://evil.example"), (NAMED, "null"), (KEYS, PAGE), ("", PAGE)])
def test_other_origins_are_rejected(server: str, origin: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            status, _, headers = await gateway.ask("OPTIONS", "/v1/chat/completions", **preflight(origin))
            assert status == 405
            assert not any(name.startswith("access-control") for name in headers)
            path, sent = request_of("openai-chat", question("openai-chat", "gemini/m", ()), stream=False)
            status, _, headers = await gateway.ask("POST", path, sent, origin=origin, x_api_key="key-one-0123456789")
            assert status == (200 if server == KEYS else 403)
            assert not any(name.startswith("access-control") for name in headers)

    run(work())


def test_an_allowed_origin_needs_no_key_where_there_are_none() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=NAMED)) as gateway:
            for origin in (PAGE, "app://notes"):
                status, _, headers = await gateway.ask("GET", "/v1/models", origin=origin)
                assert (status, headers["access-control-allow-origin"]) == (200, origin)
            assert (await gateway.ask("GET", "/v1/models", origin=PAGE, host="evil.example"))[0] == 403

    run(work())


def test_any_origin_with_keys() -> None:
    async def work() -> None:
        server = f'{KEYS}\ncors_origins = ["*"]'
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            assert (await gateway.ask("OPTIONS", "/api/chat", **preflight("http://any.where")))[0] == 204
            assert (await gateway.ask("GET", "/v1/models", origin="http://any.where"))[0] == 401
            assert (await gateway.ask("GET", "/v1/models", origin="http://any.where", x_api_key="key-one-0123456789"))[0] == 200

    run(work())


ASKING = """async ([url, body]) => {
  const headers = {"content-type": "application/json", "authorization": "Bearer key-one-0123456789", "x-stainless-lang": "js"};
  try {
    const answer = await fetch(url, {method: "POST", headers, body: JSON.stringify(body)});
    return [answer.status, answer.headers.get("x-request-id"), await answer.text()];
  } catch (error) { return [0, null, String(error)]; }
}"""


@pytest.mark.parametrize("named", [True, False])
def test_in_a_real_browser(named: bool) -> None:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        html = UpstreamResponse(200, {"content-type": "text/html"}, [b"<title>another site</title>"])
        return html if request.method == "GET" else fixture("plain_text")(request)

    async def work() -> None:
        async with upstream_server(play) as up:
            server = f'{KEYS}\ncors_origins = ["{up.url if named else PAGE}"]'
            async with serving(config(up, server=server)) as gateway, browsing(f"{up.url}/page") as opened:
                path, sent = request_of("openai-chat", question("openai-chat", "gemini/m", ()), stream=True)
                status, id, text = await opened.page.evaluate(ASKING, [gateway.url + path, sent])
                assert (status, bool(id), "[DONE]" in text) == ((200, True, True) if named else (0, False, False))
                assert any(request.method == "POST" for request in up.requests) is named

    run(work())
