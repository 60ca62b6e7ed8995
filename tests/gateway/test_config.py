"""`toolglot.toml`: what it means, and how what is wrong in it is told."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import msgspec
import pytest

from tests.gateway.running import run, serving
from tests.gateway.scripts import fixture, question, said, text
from tests.gateway.upstream_server import Asked, Said, upstream_server, whole
from toolglot.catalog.providers import Provider, provider
from toolglot.client import weights
from toolglot.client.http import HttpTransport, Proxies
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway import discover as discovering
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.discover import discover
from toolglot.gateway.routing import Routing
from toolglot.gateway.serving import make_gateway
from toolglot.gateway.state import Gateway
from toolglot.gateway.watch import Watch

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
ENVIRONMENT = {"TOOLGLOT_KEY": "k-gate", "OLLAMA_API_KEY": "k-ollama", "ANTHROPIC_API_KEY": "k-ant"}


def test_what_it_means() -> None:
    made = read_config(GOOD, environ=ENVIRONMENT)
    assert [key.reveal() for key in made.keys] == ["k-gate"]
    assert (made.server.host, made.server.port, made.server.record) == ("127.0.0.1", 8484, False)
    assert made.upstreams["home"].headers() == {"Authorization": "Bearer k-ollama"}
    assert made.upstreams["cloud"].headers() == {"x-api-key": "k-ant"}
    assert (made.routes[0].mend, made.routes[0].calls, made.routes[0].policy) == (1, "hold", "balanced")
    first, second = Routing(made).targets("claude-4")
    assert (first.name, first.route.url(True)) == ("home/qwen2.5-coder:32b", "http://127.0.0.1:11434/v1/chat/completions")
    assert second.name == "cloud/claude-4"
    assert not any(secret in repr(made) for secret in ENVIRONMENT.values())


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
def test_addresses_are_joined_with_nothing_missing_and_nothing_doubled(
    row: str, base: str | None, wire: str | None, url: str
) -> None:
    rows = f'[[upstream]]\nname = "u"\nprovider = "{row}"\napi_key = "k"\n'
    rows += f'base_url = "{base}"\n' if base else ""
    rows += f'wire = "{wire}"\n' if wire else ""
    made = read_config(rows + '[[route]]\nmodel = "*"\nto = "u/m"\n')
    assert Routing(made).targets("x")[0].route.url(False) == url


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("[server]", "[sever]", "line 2, [sever]", "did you mean server"),
        ("[server]", "[server]\nprot = 1", "line 3, [server] prot", "did you mean port"),
        ("[server]", '[server]\nport = "x"', "line 3, [server] port", "int"),
        ("[server]", "[server]\nport = 70000", "line 3, [server] port", "65535"),
        ("[server]", "[server]\nmax_body = 0", "line 3, [server] max_body", "more than 0"),
        ("[server]", "[server]\nrate = -1", "line 3, [server] rate", "less than 0"),
        ("env:TOOLGLOT_KEY", "env:NOT_THERE", "line 3, [server] keys", "NOT_THERE"),
        ("env:TOOLGLOT_KEY", "a b", "line 3, [server] keys", "copy it again"),
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
        ('name = "cloud"', 'name = "home"', "line 12, [upstream] name", "another"),
        ('name = "cloud"', 'name = "a/b"', "line 12, [upstream] name", "slash"),
        ('name = "cloud"', 'nme = "cloud"', "line 12, [upstream] nme", "did you mean name"),
        ('to = "home/', 'to = "hme/', "line 17, [route] to", "did you mean home"),
        ('to = "cloud/*"', 'to = "cloud"', "line 22, [route] to", "<upstream>/<model>"),
        ("dialect:tagged", "dialect:taged", "line 18, [route] ask", "did you mean tagged"),
        ("dialect:tagged", "nativ", "line 18, [route] ask", "did you mean native"),
        ('to = "cloud/*"', 'to = "cloud/*"\npolicy = "lax"', "line 23, [route] policy", "There are: balanced, eager, strict"),
        ('to = "cloud/*"', 'to = "cloud/*"\ncalls = "keep"', "line 23, [route] calls", "There are: hold, pass"),
        ("[server]", '[server]\ncors_origins = ["https://a.b/"]', "line 3, [server] cors_origins", "without a path"),
        ("[server]", "[server]\nconnect_timeout = 0", "line 3, [server] connect_timeout", "more than 0"),
        ("[server]", "[server]\nidle_timeout = nan", "line 3, [server] idle_timeout", "more than 0"),
        ("[server]", "[server]\nrate = nan", "line 3, [server] rate", "less than 0"),
        ("[server]", '[server]\n[[model]]\nname = "m"\nask = "nicely"', "[[model]] 1 (m): ask", "dialect:"),
        ('to = "cloud/*"', 'to = "cloud/*"\nmend = -1', "line 23, [route] mend", "less than 0"),
        ('model = "*"\n', "", "line 20, [route]", "model"),
        ('[[route]]\nmodel = "*"', '[route2]\nmodel = "*"', "line 20, [route2]", "route"),
        ('name = "cloud"   # another', "name = ", "toolglot.toml", "no TOML"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_key(old: str, new: str, place: str, problem: str) -> None:
    assert old in GOOD
    with pytest.raises(CallerError) as caught:
        read_config(GOOD.replace(old, new, 1), environ=ENVIRONMENT)
    assert place in str(caught.value)
    assert problem in str(caught.value)


def test_not_every_page_is_let_in_without_a_key() -> None:
    with pytest.raises(CallerError, match=r"line 2, .* no keys"):
        read_config('[server]\ncors_origins = ["*"]\n')
    assert read_config('[server]\ncors_origins = ["*"]\nkeys = ["k"]\n').server.cors_origins == ("*",)
    assert read_config('[server]\ncors_origins = ["app://my.app", "http://h:1"]\n').server.cors_origins[1] == "http://h:1"


def test_a_key_of_a_wrong_kind_is_not_repeated() -> None:
    with pytest.raises(CallerError, match=r"line 2, .*`array`") as caught:
        read_config('[server]\nkeys = "k-secret"\n')
    assert "k-secret" not in str(caught.value)


def test_a_variable_that_is_not_there_is_all_that_is_missing() -> None:
    with pytest.raises(CallerError, match=r"set the environment variable NOT_THERE$"):
        read_config('[server]\nkeys = ["env:NOT_THERE"]\n', environ={})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])  # noqa: S104
def test_others_are_not_served_without_keys(host: str, tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="no keys"):
        read_config(f'[server]\nhost = "{host}"\n')
    assert read_config(f'[server]\nhost = "{host}"\nkeys = ["k"]\n').server.host == host
    file = tmp_path / "toolglot.toml"
    file.write_text("")
    with pytest.raises(CallerError, match="no keys"):
        make_gateway(file, host=host)


def test_a_client_cannot_choose_a_file_of_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "x.gguf"
    secret.write_bytes(b"GGUF")
    made = read_config(
        f'[[upstream]]\nname = "box"\nprovider = "local"\n[[route]]\nmodel = "mine"\nto = "box/{secret}"\n'
        '[[route]]\nmodel = "*"\nto = "box/*"\n'
    )
    routing = Routing(made)
    for name in (str(secret), f"box/{secret}", f"local/{secret}", "../x.gguf", "~/x.gguf"):
        with pytest.raises(UpstreamError):
            routing.targets(name)
    assert routing.targets("smollm2")[0].route.model in weights.ROWS
    assert routing.targets("mine")[0].route.model == str(secret)  # the owner's own word


# -- changes while it runs


def test_a_changed_file_is_used_from_the_next_request_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        go = asyncio.Event()

        async def play(asked: Asked) -> Said:
            if asked.body["model"] == "old":
                await go.wait()
            return said(asked, text(asked.body["model"]))

        async with upstream_server(play) as up:
            file = tmp_path / "toolglot.toml"
            rows = f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n[[route]]\nmodel = "*"\nto = "u/'
            file.write_text(rows + 'old"\n')
            async with serving(read_config(file.read_text()), Watch(file, 0.02)) as gateway:
                sent = question("openai-chat", "x", ())
                running = asyncio.ensure_future(gateway.reply("openai-chat", sent, stream=True))
                while not up.asked:
                    await asyncio.sleep(0.01)
                file.write_text(rows + 'brand-new"\n')
                await _changed(gateway.gateway, "u/brand-new")
                assert (await gateway.reply("openai-chat", sent, stream=False)).text == "brand-new"
                go.set()
                assert (await running).text == "old"  # it keeps what it began with
                file.write_text(rows + 'newer"\nmnd = 1\n')
                await asyncio.sleep(0.2)
                assert gateway.gateway.live.config.routes[0].to == "u/brand-new"
                assert "mnd" in caplog.text
                file.unlink()
                await asyncio.sleep(0.1)
                assert (await gateway.reply("openai-chat", sent, stream=False)).text == "brand-new"

    with caplog.at_level(logging.WARNING):
        run(work())


async def _changed(gateway: Gateway, to: str) -> None:
    for _ in range(300):
        if gateway.live.config.routes[0].to == to:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the change was not seen")


# -- without a file


async def _discovered() -> Config:
    transport = HttpTransport(proxies=Proxies())
    try:
        return await discover(transport)
    finally:
        await transport.aclose()


def test_what_runs_on_this_machine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        def play(asked: Asked) -> Said:
            if asked.path == "/v1/models":
                return whole({"data": [{"id": "qwen3:8b"}, {"id": "gemma3:4b"}]})
            return fixture("plain_text")(asked)

        async with upstream_server(play) as up:
            urls = {"ollama": f"{up.url}/v1", "local": "local:/v1"}

            def moved(name: str) -> Provider:
                return msgspec.structs.replace(provider(name), base_url=urls.get(name, "http://127.0.0.1:9/v1"))

            monkeypatch.setattr(discovering, "provider", moved)
            made = await _discovered()
            assert list(made.upstreams) == ["ollama", "local"]
            async with serving(made) as gateway:
                _, listed, _ = await gateway.ask("GET", "/v1/models")
                assert [row["id"] for row in listed["data"]][:2] == ["qwen3:8b", "gemma3:4b"]
                assert "smollm2" in [row["id"] for row in listed["data"]]
                for name, asked in (("gemma3:4b", "gemma3:4b"), ("ollama/any", "any"), ("claude-sonnet", "qwen3:8b")):
                    await gateway.reply("anthropic", question("anthropic", name, ()), stream=False)
                    assert up.asked[-1].body["model"] == asked

    run(work())


def test_with_nothing_running_the_embedded_model_serves_every_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(discovering, "SERVERS", ())
        made = await _discovered()
        assert Routing(made).targets("gpt-anything")[0].name == "local/smollm2"
        assert Routing(made).targets("local/smollm2")[0].name == "local/smollm2"

    run(work())
