"""`toolglot.toml`: values, error messages, reload, and discovery without a file."""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from tests.gateway.running import request_of, run, serving
from tests.gateway.scripts import fixture, question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.catalog.providers import Provider, provider
from toolglot.client import weights
from toolglot.client.http import HttpTransport, Proxies
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway import discover as discovering
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.config_reload import ConfigReload
from toolglot.gateway.discover import discover
from toolglot.gateway.routing import Routing
from toolglot.gateway.server import read_source
from toolglot.gateway.state import Gateway

GOOD = """
[server]
keys = ["env:TOOLGLOT_KEY"]

[[upstream]]
name = "home"
provider = "ollama"
base_url = "http://127.0.0.1:11434"
api_key = "env:OLLAMA_API_KEY"

[[upstream]]
name = "cloud"   # another
provider = "anthropic"

[[route]]
model = "claude-*"
to = "home/qwen2.5-coder:32b"
ask = "dialect:tagged"

[[route]]
model = "*"
to = "cloud/*"
"""
ENVIRONMENT = {"TOOLGLOT_KEY": "k-gate-0123456789", "OLLAMA_API_KEY": "k-ollama", "ANTHROPIC_API_KEY": "k-ant"}


def test_a_valid_configuration() -> None:
    configuration = read_config(GOOD, environ=ENVIRONMENT)
    assert [key.digest for key in configuration.keys] == [sha256(b"k-gate-0123456789").digest()]
    assert (configuration.server.host, configuration.server.port, configuration.server.record) == ("127.0.0.1", 8484, False)
    assert configuration.upstreams["home"].headers() == {"Authorization": "Bearer k-ollama"}
    assert configuration.upstreams["cloud"].headers() == {"x-api-key": "k-ant"}
    assert (configuration.routes[0].retries, configuration.routes[0].calls, configuration.routes[0].policy) == (
        1,
        "hold",
        "balanced",
    )
    first, second = Routing(configuration).candidates("claude-4")
    assert (first.name, first.target.route.url(True)) == (
        "home/qwen2.5-coder:32b",
        "http://127.0.0.1:11434/v1/chat/completions",
    )
    assert second.name == "cloud/claude-4"
    assert not any(secret in repr(configuration) for secret in ENVIRONMENT.values())


@pytest.mark.parametrize(
    ("row", "base", "wire", "url"),
    [
        ("ollama", "http://h:1", None, "http://h:1/v1/chat/completions"),
        ("ollama", "http://h:1/v1", None, "http://h:1/v1/chat/completions"),
        ("ollama", "http://h:1/v1/", None, "http://h:1/v1/chat/completions"),
        ("ollama", None, "ollama", "http://127.0.0.1:11434/api/chat"),
        ("ollama", "http://h:1/api", "ollama", "http://h:1/api/chat"),
        ("ollama", "http://h:1/x", "anthropic", "http://h:1/x/v1/messages"),
        ("gemini", "http://h:1", None, "http://h:1/v1beta/models/m:generateContent"),
        ("gemini", "http://h:1/v1beta", None, "http://h:1/v1beta/models/m:generateContent"),
        ("openrouter", None, "anthropic", "https://openrouter.ai/api/v1/messages"),
        ("openrouter", None, "openai-responses", "https://openrouter.ai/api/v1/responses"),
    ],
)
def test_base_urls_and_paths_are_joined(row: str, base: str | None, wire: str | None, url: str) -> None:
    rows = f'[[upstream]]\nname = "u"\nprovider = "{row}"\napi_key = "k"\n'
    rows += f'base_url = "{base}"\n' if base else ""
    rows += f'wire = "{wire}"\n' if wire else ""
    configuration = read_config(rows + '[[route]]\nmodel = "*"\nto = "u/m"\n')
    assert Routing(configuration).candidates("x")[0].target.route.url(False) == url


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("[server]", "[sever]", "line 2, [sever]", "did you mean server"),
        ("[server]", "[server]\nprot = 1", "line 3, [server] prot", "did you mean port"),
        ("[server]", '[server]\nport = "x"', "line 3, [server] port", "int"),
        ("[server]", "[server]\nport = 70000", "line 3, [server] port", "65535"),
        ("[server]", "[server]\nmax_body = 0", "line 3, [server] max_body", "more than 0"),
        ("[server]", "[server]\nrate = -1", "line 3, [server] rate", "negative"),
        ("env:TOOLGLOT_KEY", "env:NOT_THERE", "line 3, [server] keys", "NOT_THERE"),
        ("env:TOOLGLOT_KEY", "a b", "line 3, [server] keys", "copy it again"),
        ("env:TOOLGLOT_KEY", "fifteen-letters", "line 3, [server] keys", "fewer than 16 characters"),
        ("env:OLLAMA_API_KEY", "env:NOT_THERE", "line 9, [upstream] api_key", "NOT_THERE"),
        ('provider = "ollama"', 'provider = "olama"', "line 7, [upstream] provider", "did you mean ollama"),
        ("http://127.0.0.1:11434", "127.0.0.1:11434", "line 8, [upstream] base_url", "http"),
        ("http://127.0.0.1:11434", "http://u:p@h", "line 8, [upstream] base_url", "http"),
        (
            'provider = "anthropic"',
            'provider = "anthropic"\nwire = "antropic"',
            "line 14, [upstream] wire",
            "did you mean anthropic",
        ),
        ('name = "cloud"', 'name = "home"', "line 12, [upstream] name", "duplicate"),
        ('name = "cloud"', 'name = "a/b"', "line 12, [upstream] name", "slash"),
        ('name = "cloud"', 'nme = "cloud"', "line 12, [upstream] nme", "did you mean name"),
        ('to = "home/', 'to = "hme/', "line 17, [route] to", "did you mean home"),
        ('to = "cloud/*"', 'to = "cloud"', "line 22, [route] to", "<upstream>/<model>"),
        ("dialect:tagged", "dialect:taged", "line 18, [route] ask", "did you mean tagged"),
        ("dialect:tagged", "nativ", "line 18, [route] ask", "did you mean native"),
        ('to = "cloud/*"', 'to = "cloud/*"\npolicy = "lax"', "line 23, [route] policy", "There are: balanced, eager, strict"),
        ('to = "cloud/*"', 'to = "cloud/*"\ncalls = "keep"', "line 23, [route] calls", "There are: hold, off, pass"),
        ("[server]", '[server]\ncors_origins = ["https://a.b/"]', "line 3, [server] cors_origins", "without a path"),
        ("[server]", "[server]\nconnect_timeout = 0", "line 3, [server] connect_timeout", "more than 0"),
        ("[server]", "[server]\nidle_timeout = nan", "line 3, [server] idle_timeout", "more than 0"),
        ("[server]", "[server]\nrate = nan", "line 3, [server] rate", "negative"),
        ("[server]", '[server]\n[[model]]\nname = "m"\nask = "nicely"', "[[model]] 1 (m): ask", "dialect:"),
        ('to = "cloud/*"', 'to = "cloud/*"\nretries = -1', "line 23, [route] retries", "negative"),
        ('model = "*"\n', "", "line 20, [route]", "model"),
        ('[[route]]\nmodel = "*"', '[route2]\nmodel = "*"', "line 20, [route2]", "route"),
        ('name = "cloud"   # another', "name = ", "toolglot.toml", "not valid TOML"),
    ],
)
def test_errors_name_line_and_key(old: str, new: str, place: str, problem: str) -> None:
    assert old in GOOD
    with pytest.raises(CallerError) as caught:
        read_config(GOOD.replace(old, new, 1), environ=ENVIRONMENT)
    assert place in str(caught.value)
    assert problem in str(caught.value)


def test_any_origin_needs_keys() -> None:
    with pytest.raises(CallerError, match=r"line 2, .* needs \[server\] keys"):
        read_config('[server]\ncors_origins = ["*"]\n')
    assert read_config('[server]\ncors_origins = ["*"]\nkeys = ["key-one-0123456789"]\n').server.cors_origins == ("*",)
    assert read_config('[server]\ncors_origins = ["app://my.app", "http://h:1"]\n').server.cors_origins[1] == "http://h:1"


def test_a_key_of_the_wrong_type_is_not_repeated() -> None:
    with pytest.raises(CallerError, match=r"line 2, .*`array`") as caught:
        read_config('[server]\nkeys = "k-secret"\n')
    assert "k-secret" not in str(caught.value)


def test_a_missing_environment_variable_is_named() -> None:
    with pytest.raises(CallerError, match=r"set the environment variable NOT_THERE$"):
        read_config('[server]\nkeys = ["env:NOT_THERE"]\n', environ={})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])  # noqa: S104
def test_a_reachable_host_needs_keys(host: str, tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="no keys"):
        read_config(f'[server]\nhost = "{host}"\n')
    assert read_config(f'[server]\nhost = "{host}"\nkeys = ["key-one-0123456789"]\n').server.host == host
    file = tmp_path / "toolglot.toml"
    file.write_text("")
    with pytest.raises(CallerError, match="no keys"):
        read_source(file, host=host).config()


def test_a_client_cannot_choose_a_local_file(tmp_path: Path) -> None:
    secret = tmp_path / "x.gguf"
    secret.write_bytes(b"GGUF")
    configuration = read_config(
        f'[[upstream]]\nname = "box"\nprovider = "local"\n[[route]]\nmodel = "mine"\nto = "box/{secret}"\n'
        '[[route]]\nmodel = "*"\nto = "box/*"\n'
    )
    routing = Routing(configuration)
    for name in (str(secret), f"box/{secret}", f"local/{secret}", "../x.gguf", "~/x.gguf"):
        with pytest.raises(UpstreamError):
            routing.candidates(name)
    assert routing.candidates("smollm2")[0].target.route.model in weights.ROWS
    assert routing.candidates("mine")[0].target.route.model == str(secret)  # the configuration may name a file


# -- reload


def test_a_changed_file_applies_from_the_next_request_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        go = asyncio.Event()

        async def play(request: UpstreamRequest) -> UpstreamResponse:
            if request.body["model"] == "old":
                await go.wait()
            return response_to(request, text(request.body["model"]))

        async with upstream_server(play) as up:
            file = tmp_path / "toolglot.toml"
            rows = f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n[[route]]\nmodel = "*"\nto = "u/'
            file.write_text(rows + 'old"\n')
            async with serving(read_config(file.read_text()), ConfigReload(file, 0.02)) as gateway:
                sent = question("openai-chat", "x", ())
                running = asyncio.ensure_future(gateway.reply("openai-chat", sent, stream=True))
                while not up.requests:
                    await asyncio.sleep(0.01)
                file.write_text(rows + 'brand-new"\n')
                await _changed(gateway.gateway, "u/brand-new")
                assert (await gateway.reply("openai-chat", sent, stream=False)).text == "brand-new"
                go.set()
                assert (await running).text == "old"  # a running request keeps its configuration
                file.write_text(rows + 'newer"\nmnd = 1\n')
                await asyncio.sleep(0.2)
                assert gateway.gateway.live.config.routes[0].to == "u/brand-new"
                assert "mnd" in caplog.text
                file.unlink()
                await asyncio.sleep(0.1)
                assert (await gateway.reply("openai-chat", sent, stream=False)).text == "brand-new"

    with caplog.at_level(logging.WARNING):
        run(work())


def test_a_reload_never_turns_authentication_off(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """`serve --host 10.1.2.3` with keys; then the keys are deleted from the file."""
    route = '[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "http://127.0.0.1:9"\n[[route]]\nmodel = "*"\nto = "u/'
    for host in ("10.1.2.3", "127.0.0.1"):
        file = tmp_path / f"{host}.toml"
        file.write_text("")
        keys = '[server]\nkeys = ["key-one-0123456789"]\n'

        async def work(host: str = host, file: Path = file, keys: str = keys) -> None:
            started = read_config(f'{keys}host = "{host}"\n{route}old"\n')
            async with serving(started, ConfigReload(file, 0.02)) as gateway:
                file.write_text(route + 'new"\n')
                await asyncio.sleep(0.2)
                assert (await gateway.ask("GET", "/v1/models", host="127.0.0.1"))[0] == 401
                assert gateway.gateway.live.config.server.host == host
                file.write_text(keys + route + 'newer"\n')
                await _changed(gateway.gateway, "u/newer")
                assert gateway.gateway.live.config.server.host == host
                assert (await gateway.ask("GET", "/v1/models"))[0] == 401

        with caplog.at_level(logging.WARNING):
            run(work())
    assert "reachable from other machines" in caplog.text
    assert "no keys any more" in caplog.text


@pytest.mark.parametrize(
    "damage", ["", "   \n", "[server]\nport = 1\n", "[[rou", "a = " + "[" * 5000, "\ufffd", "[[upstream]]\n"]
)
def test_an_empty_or_half_written_file_is_ignored(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "toolglot.toml"
    text = '[[upstream]]\nname = "u"\nprovider = "vllm"\n[[route]]\nmodel = "*"\nto = "u/m"\n'
    file.write_text(text)

    async def work() -> None:
        async with serving(read_config(text), ConfigReload(file, 0.02)) as gateway:
            file.write_text(damage)
            await asyncio.sleep(0.2)
            assert gateway.gateway.live.config.routes[0].to == "u/m"
            file.write_text(text.replace("u/m", "u/n"))
            await _changed(gateway.gateway, "u/n")

    run(work())


def test_a_file_is_read_once_it_is_stable(tmp_path: Path) -> None:
    file = tmp_path / "toolglot.toml"
    text = '[[upstream]]\nname = "u"\nprovider = "vllm"\n[[route]]\nmodel = "*"\nto = "u/m"\n'
    file.write_text(text)

    async def work() -> None:
        async with serving(read_config(text), ConfigReload(file, 0.1)) as gateway:
            for number in range(20):  # valid at each step, but still growing
                file.write_text(text.replace("u/m", "u/half") + "#" * number)
                await asyncio.sleep(0.02)
                assert gateway.gateway.live.config.routes[0].to == "u/m"
            file.write_text(text.replace("u/m", "u/whole"))
            await _changed(gateway.gateway, "u/whole")

    run(work())


async def _changed(gateway: Gateway, to: str) -> None:
    while gateway.live.config.routes[0].to != to:
        await asyncio.sleep(0.01)


# -- discovery without a file


async def _discovered() -> Config:
    transport = HttpTransport(proxies=Proxies())
    try:
        return await discover(transport)
    finally:
        await transport.aclose()


def test_local_servers_are_discovered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            if request.path == "/v1/models":
                return whole({"data": [{"id": "qwen3:8b"}, {"id": "gemma3:4b"}]})
            return fixture("plain_text")(request)

        async with upstream_server(play) as up:
            urls = {"ollama": f"{up.url}/v1", "local": "local:/v1"}

            def moved(name: str) -> Provider:
                return msgspec.structs.replace(provider(name), base_url=urls.get(name, "http://127.0.0.1:9/v1"))

            monkeypatch.setattr(discovering, "provider", moved)
            configuration = await _discovered()
            assert list(configuration.upstreams) == ["ollama", "local"]
            async with serving(configuration) as gateway:
                _, listed, _ = await gateway.ask("GET", "/v1/models")
                assert [row["id"] for row in listed["data"]][:2] == ["qwen3:8b", "gemma3:4b"]
                assert "smollm2" in [row["id"] for row in listed["data"]]
                for name, model in (("gemma3:4b", "gemma3:4b"), ("ollama/any", "any")):
                    await gateway.reply("anthropic", question("anthropic", name, ()), stream=False)
                    assert up.requests[-1].body["model"] == model

    run(work())


def test_without_local_servers_the_embedded_models_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(discovering, "SERVERS", ())
        routing = Routing(await _discovered())
        assert routing.candidates("local/smollm2")[0].name == "local/smollm2"
        assert routing.candidates("local")[0].name == "local/local"
        assert routing.candidates("local")[0].target.route.profile.family == "qwen2.5-coder"
        with pytest.raises(UpstreamError, match="no route matches model 'gpt-anything'"):
            routing.candidates("gpt-anything")

    run(work())


MODELS = "local, smollm2, qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, local/*"
WHERE_THE_MESSAGE_IS = {
    "openai-chat": ("error", "message"),
    "openai-responses": ("error", "message"),
    "anthropic": ("error", "message"),
    "gemini": ("error", "message"),
    "ollama": ("error",),
}


@pytest.mark.parametrize("wire", WHERE_THE_MESSAGE_IS)
@pytest.mark.parametrize("stream", [True, False])
def test_an_unknown_model_is_a_404_that_lists_the_models(wire: str, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(discovering, "SERVERS", ())
        async with serving(await _discovered()) as gateway:
            path, body = request_of(wire, question(wire, "gpt-anything"), stream=stream)
            status, error, _ = await gateway.ask("POST", path, body)
            for key in WHERE_THE_MESSAGE_IS[wire]:
                error = error[key]
            assert status == 404
            assert f"no route matches model 'gpt-anything'. Available: {MODELS}." in str(error)

    run(work())


def test_a_star_route_matches_every_name() -> None:
    configuration = read_config(
        '[[upstream]]\nname = "box"\nprovider = "local"\n[[route]]\nmodel = "mine"\nto = "box/qwen2.5-coder-1.5b"\n'
        '[[route]]\nmodel = "*"\nto = "box/smollm2"\n'
    )
    assert Routing(configuration).candidates("mine")[0].name == "box/qwen2.5-coder-1.5b"
    assert Routing(configuration).candidates("claude-sonnet-5")[0].name == "box/smollm2"
