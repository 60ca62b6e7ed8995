"""Private authorities, client certificates and proxies of upstreams: real TLS servers and a real proxy on loopback."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from tests.client.proxy_server import proxy_server
from tests.gateway.running import Running, run, serving
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.cli.check import check_config
from toolglot.errors import CallerError
from toolglot.gateway.config import Config, read_config

COMPANY, OTHER = trustme.CA(), trustme.CA()
SECOND = '[[upstream]]\nname = "v"\nprovider = "vllm"\nbase_url = "https://h:1"'
PROXY_AUTH = "Basic dTpodXNo"  # u:hush
CHAT = "/v1/chat/completions"


def play(request: UpstreamRequest) -> UpstreamResponse:
    return response_to(request, text("hi"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """ca.pem; client.pem and client.key, locked.key with the password hush; other.pem of another authority."""
    COMPANY.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    OTHER.cert_pem.write_to_path(str(tmp_path / "other.pem"))
    ours = COMPANY.issue_cert("gateway.internal")
    (tmp_path / "client.pem").write_bytes(b"".join(one.bytes() for one in ours.cert_chain_pems))
    ours.private_key_pem.write_to_path(str(tmp_path / "client.key"))
    key = load_pem_private_key(ours.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hush"))
    (tmp_path / "locked.key").write_bytes(locked)
    return tmp_path


def server_side(name: str = "127.0.0.1", *, asks: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    COMPANY.issue_cert(name).configure_cert(context)
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        COMPANY.configure_trust(context)
    return context


def settings(url: str, more: str = "", environ: dict[str, str] | None = None) -> Config:
    upstream = f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{url}"\n{more}\n'
    rows = '[[route]]\nmodel = "*"\nto = "u/m"\nattempts = 1\n'
    return read_config(f"[server]\nport = 0\ndetect = false\n{upstream}{rows}", environ=environ or {})


async def answer(gateway: Running) -> tuple[int, str]:
    status, body, _ = await gateway.ask("POST", CHAT, question("openai-chat", "m", ()))
    return status, str(body)


def test_a_private_authority(files: Path) -> None:
    async def work() -> None:
        async with upstream_server(play, server_side()) as up:
            for more, status, words in (
                (f'ca_file = "{files}/ca.pem"', 200, "hi"),
                ("", 502, "ca_file"),
                (f'ca_file = "{files}/other.pem"', 502, "certificate"),
            ):
                async with serving(settings(up.url, more)) as gateway:
                    got, body = await answer(gateway)
                    assert (got, words in body) == (status, True), body
            [route] = await check_config(settings(up.url, f'ca_file = "{files}/ca.pem"'))
            assert "certificate" not in route.problem  # it was reached: `toolglot check` uses the same settings

    run(work())


def test_the_name_in_the_certificate(files: Path) -> None:
    async def work() -> None:
        async with upstream_server(play, server_side("model.internal")) as up:
            trusted = f'ca_file = "{files}/ca.pem"'
            for more, status in ((f'{trusted}\ntls_name = "model.internal"', 200), (trusted, 502)):
                async with serving(settings(up.url, more)) as gateway:
                    assert (await answer(gateway))[0] == status
            assert [request.headers["host"] for request in up.requests] == [f"127.0.0.1:{up.port}"]

    run(work())


def test_a_client_certificate(files: Path) -> None:
    async def work() -> None:
        async with upstream_server(play, server_side(asks=True)) as up:
            trusted = f'ca_file = "{files}/ca.pem"\n'
            ours = f'{trusted}cert_file = "{files}/client.pem"\n'
            locked = f'{ours}key_file = "{files}/locked.key"\nkey_password = "env:PASSWORD"'
            for more, status in ((f'{ours}key_file = "{files}/client.key"', 200), (locked, 200), (trusted, 502)):
                async with serving(settings(up.url, more, {"PASSWORD": "hush"})) as gateway:
                    assert (await answer(gateway))[0] == status
            assert len(up.requests) == 2

    run(work())


def test_a_proxy(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with upstream_server(play, server_side()) as up, proxy_server(PROXY_AUTH) as proxy:
            trusted = f'ca_file = "{files}/ca.pem"\n'
            address = f"http://u:hush@127.0.0.1:{proxy.port}"
            async with serving(settings(up.url, trusted + 'proxy = "env:PROXY"', {"PROXY": address})) as gateway:
                assert (await answer(gateway))[0] == 200
            assert proxy.lines == [f"CONNECT 127.0.0.1:{up.port} HTTP/1.1"]
            async with serving(settings(up.url, f'{trusted}proxy = "http://u:wrong@127.0.0.1:{proxy.port}"')) as gateway:
                status, body = await answer(gateway)
                assert (status, "wrong" in body, f"proxy 127.0.0.1:{proxy.port}" in body) == (502, False, True)

    run(work())


def test_no_proxy_although_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upstream with settings of its own does not use the transport of the others."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def work() -> None:
        async with upstream_server(play) as up:
            url = up.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104  (no loopback address: those get no proxy)
            async with serving(settings(url, 'proxy = "none"')) as gateway:
                assert (await answer(gateway))[0] == 200

    run(work())


def test_a_reload_reads_the_files_again(files: Path) -> None:
    async def work() -> None:
        more = f'ca_file = "{files}/ca.pem"'
        async with upstream_server(play, server_side()) as up:
            right = (files / "ca.pem").read_bytes()
            (files / "ca.pem").write_bytes((files / "other.pem").read_bytes())
            async with serving(settings(up.url, more)) as gateway:
                assert (await answer(gateway))[0] == 502
                (files / "ca.pem").write_bytes(right)
                gateway.gateway.use(settings(up.url, more))
                assert (await answer(gateway))[0] == 200

    run(work())


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('ca_file = "{files}/none.pem"', r"line 8, \[upstream\] ca_file: can't be read: No such file"),
        ('ca_file = "{files}/client.key"', r"\[upstream\] ca_file: "),
        ('cert_file = "{files}/client.pem"', r"\[upstream\] cert_file: .*certificate, key and password"),
        ('cert_file = "{files}/client.pem"\nkey_file = "{files}/locked.key"', r"\[upstream\] cert_file: .*key and"),
        ('key_file = "{files}/client.key"', r"line 8, \[upstream\] key_file: needs cert_file"),
        ('proxy = "socks5://hush@p"', r"line 8, \[upstream\] proxy: only http"),
        ('proxy = "env:PROXY"', r"\[upstream\] proxy: the environment variable PROXY is not set"),
        ("proxy = 8", r"\[upstream\] proxy: Expected `str`"),
        (f'ca_file = "{{files}}/ca.pem"\n{SECOND}', r"line 12, \[upstream\] base_url: another upstream"),
    ],
)
def test_invalid_settings_are_errors_with_their_line(files: Path, more: str, expected: str) -> None:
    with pytest.raises(CallerError, match=expected) as caught:
        settings("https://h:1", more.replace("{files}", str(files)))
    assert "hush" not in str(caught.value)


def test_settings_of_tls_need_https(files: Path) -> None:
    with pytest.raises(CallerError, match=r"tls_name: needs an address that begins with https://"):
        settings("http://h:1", 'tls_name = "x"')


def test_a_route_to_the_provider_of_an_upstream_with_a_proxy_is_an_error() -> None:
    upstream = '[[upstream]]\nname = "corp"\nprovider = "openai"\napi_key = "k"\nproxy = "http://me:secret@proxy:1"\n'
    with pytest.raises(CallerError, match=r"line 8, \[route\] to: upstream 'corp' is at the same host") as caught:
        read_config(f'{upstream}[[route]]\nmodel = "a"\nto = "openai/x"\n', environ={"OPENAI_API_KEY": "sk-1"})
    assert "secret" not in str(caught.value)
    assert "local" in read_config(f'{upstream}[[route]]\nmodel = "a"\nto = "local/x"\n', environ={}).upstreams
