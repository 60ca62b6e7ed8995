"""Without an API key, requests to Bedrock are signed, and those to Vertex have a token. A server checks both."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.client.fault_server import FaultServer, Request, fault_server
from tests.client.running import DIRECT, PATIENT
from tests.laws.conversations import body
from toolglot import AsyncClient, KeyMissingError
from toolglot.catalog.providers import provider
from toolglot.client import cloud_credentials
from toolglot.client.cloud_credentials import check_library, send
from toolglot.client.embedded import Ready
from toolglot.client.http import HttpTransport

ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # of AWS's documentation
ASKED = [{"role": "user", "content": "Weather in Paris?"}]


@pytest.fixture(autouse=True)
def _no_other_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "VERTEX_ACCESS_TOKEN", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "proj")
    for kept in (cloud_credentials._aws_session, cloud_credentials._google_credentials):
        kept.cache_clear()
    yield
    for kept in (cloud_credentials._aws_session, cloud_credentials._google_credentials):
        kept.cache_clear()


def replies(server: FaultServer, path: str, reply: Any) -> None:
    data = json.dumps(reply).encode()
    server.says(path, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data)


async def ask(model: str, base_url: str) -> None:
    async with HttpTransport(proxies=DIRECT) as transport:
        client = AsyncClient(model, base_url=base_url, transport=transport, detect=False)
        [call] = (await client.complete(ASKED, tools=[{"name": "get_weather", "schema": {"type": "object"}}])).calls
        assert call.name == "get_weather"


# -- AWS


def signature(request: Request, scope: str, names: list[str]) -> str:
    """Signature Version 4 of a request as it arrived, by the steps of its specification."""
    method, path, _ = request.line.split(" ")
    headers = "".join(f"{name}:{request.headers[name]}\n" for name in names)
    canonical = "\n".join([method, path, "", headers, ";".join(names), hashlib.sha256(request.body).hexdigest()])
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = b"AWS4" + SECRET.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashed}".encode(), "sha256").hexdigest()


def parts_of(authorization: str) -> dict[str, str]:
    kind, _, rest = authorization.partition(" ")
    assert kind == "AWS4-HMAC-SHA256"
    return dict(part.split("=", 1) for part in rest.split(", "))


@pytest.fixture
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.mark.usefixtures("_aws")
@pytest.mark.parametrize("token", ["", "session-token"])
def test_a_request_to_bedrock_is_signed(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    if token:
        monkeypatch.setenv("AWS_SESSION_TOKEN", token)

    async def work() -> None:
        async with fault_server() as server:
            replies(server, "/openai/v1/chat/completions", body("one_call", "openai-chat", "reply"))
            await ask("bedrock/m", server.url("/openai/v1"))
            [request] = server.requests
            found = parts_of(request.headers["authorization"])
            date = request.headers["x-amz-date"][:8]
            assert found["Credential"] == f"{ID}/{date}/eu-central-1/bedrock/aws4_request"
            names = found["SignedHeaders"].split(";")
            assert {"content-type", "host", "x-amz-date"} <= set(names)
            assert request.headers.get("x-amz-security-token", "") == token
            assert found["Signature"] == signature(request, found["Credential"].partition("/")[2], names)

    asyncio.run(work())


@pytest.mark.usefixtures("_aws")
@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("bedrock-runtime.us-west-2.amazonaws.com", "us-west-2/bedrock"),
        ("bedrock-mantle.us-east-2.api.aws", "us-east-2/bedrock-mantle"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1/bedrock"),
        ("vpce-0a1b.bedrock-runtime.ap-northeast-1.vpce.amazonaws.com", "ap-northeast-1/bedrock"),
        ("proxy.example.com", "eu-central-1/bedrock"),
    ],
)
def test_region_and_service_are_those_of_the_address(host: str, scope: str) -> None:
    sent: list[Any] = []

    class Recorder:
        async def send(self, method: str, url: str, headers: Any, body: bytes = b"", *, limits: Any = PATIENT) -> Ready:
            sent.append(headers)
            return Ready(b"{}")

        async def aclose(self) -> None: ...

    url = f"https://{host}/openai/v1/responses"
    asyncio.run(send(Recorder(), provider("bedrock"), "POST", url, {}, body=b"{}", limits=PATIENT))
    assert parts_of(sent[0]["Authorization"])["Credential"].endswith(f"/{scope}/aws4_request")


def test_a_key_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "secret-key-123456")

    async def work() -> None:
        async with fault_server() as server:
            replies(server, "/openai/v1/chat/completions", body("one_call", "openai-chat", "reply"))
            await ask("bedrock/m", server.url("/openai/v1"))
            assert server.requests[0].headers["authorization"] == "Bearer secret-key-123456"

    asyncio.run(work())


def test_no_credentials_at_all() -> None:
    pytest.importorskip("botocore")
    with pytest.raises(KeyMissingError, match="no AWS credentials were found"):
        asyncio.run(ask("bedrock/m", "http://127.0.0.1:9/openai/v1"))


@pytest.mark.parametrize(("name", "extra"), [("bedrock", "aws"), ("vertex", "google")])
def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, name: str, extra: str) -> None:
    monkeypatch.setattr(cloud_credentials, "find_spec", lambda _: None)
    assert check_library(provider("openai")) == ""
    with pytest.raises(KeyMissingError, match=rf"missing API key for {name}: .*pip install 'toolglot\[{extra}\]'"):
        asyncio.run(ask(f"{name}/m", "http://127.0.0.1:9/v1"))


# -- Google


def test_a_request_to_vertex_has_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("google.auth")

    async def work() -> None:
        async with fault_server() as server:
            file = tmp_path / "account.json"
            file.write_text(json.dumps(account(server.url("/token"))))
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
            replies(server, "/token", {"access_token": "token-123456", "expires_in": 3600, "token_type": "Bearer"})
            path = "/v1/projects/proj/locations/global/publishers/google"
            replies(server, f"{path}/models/m:generateContent", body("one_call", "gemini", "reply"))
            for _ in range(2):
                await ask("vertex/m", server.url(path))
            token, *asked = server.requests
            assert parse_qs(token.body.decode())["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
            assert [request.headers["authorization"] for request in asked] == ["Bearer token-123456"] * 2

    asyncio.run(work())


def account(token_uri: str) -> dict[str, str]:
    """The file of a service account, with a key of its own."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key = rsa.generate_private_key(65537, 2048).private_bytes(*plain).decode()
    email = "a@proj.iam.gserviceaccount.com"
    return {"type": "service_account", "private_key": key, "client_email": email, "token_uri": token_uri, "project_id": "proj"}
