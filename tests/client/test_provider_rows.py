"""Rows of hosted providers: the address, the key and the keys of a request, as their documentation has them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from tests.client.running import PATIENT
from tests.laws.conversations import body
from toolglot import AsyncClient, CallerError
from toolglot.catalog.providers import provider, providers
from toolglot.client.address import with_address
from toolglot.client.embedded import Ready
from toolglot.client.transport import Limits
from toolglot.gateway.upstream import as_upstream

TOOL = {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
ENVIRON = {
    "AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/",
    "AWS_REGION": "eu-central-1",
    "GOOGLE_CLOUD_PROJECT": "proj",
    "OPENAI_COMPATIBLE_BASE_URL": "http://10.0.0.5:9000/v1/",
}
CHAT = "/chat/completions"
URLS = {
    "alibaba": f"https://dashscope-intl.aliyuncs.com/compatible-mode/v1{CHAT}",
    "azure": f"https://res.openai.azure.com/openai/v1{CHAT}",
    "bedrock": f"https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1{CHAT}",
    "cerebras": f"https://api.cerebras.ai/v1{CHAT}",
    "cohere": f"https://api.cohere.ai/compatibility/v1{CHAT}",
    "fireworks": f"https://api.fireworks.ai/inference/v1{CHAT}",
    "github": f"https://models.github.ai/inference{CHAT}",
    "huggingface": f"https://router.huggingface.co/v1{CHAT}",
    "minimax": f"https://api.minimax.io/v1{CHAT}",
    "nvidia": f"https://integrate.api.nvidia.com/v1{CHAT}",
    "openai-compatible": f"http://10.0.0.5:9000/v1{CHAT}",
    "sambanova": f"https://api.sambanova.ai/v1{CHAT}",
    "vertex": "https://aiplatform.googleapis.com/v1/projects/proj/locations/global/publishers/google/models/m:generateContent",
    "xai": f"https://api.x.ai/v1{CHAT}",
    "zai": f"https://api.z.ai/api/paas/v4{CHAT}",
}
MAX_COMPLETION_TOKENS = {"azure", "bedrock", "cerebras", "xai"}


class Recorder:
    """A transport that answers every request with one call."""

    def __init__(self, wire: str) -> None:
        self._reply = msgspec.json.encode(body("one_call", wire, "reply"))
        self.requests: list[tuple[str, Mapping[str, str], dict[str, Any]]] = []

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = PATIENT
    ) -> Ready:
        self.requests.append((url, headers, msgspec.json.decode(body)))
        return Ready(self._reply)

    async def aclose(self) -> None: ...


@pytest.mark.parametrize("name", sorted(URLS))
def test_a_request_is_sent_as_the_provider_documents_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ENVIRON.items():
        monkeypatch.setenv(variable, value)
    row = provider(name)
    monkeypatch.setenv(row.key or "", "secret-key-123456")
    transport = Recorder(row.wire)

    async def work() -> None:
        client = AsyncClient(f"{name}/m", transport=transport, detect=False)
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Paris?"}]
        reply = await client.complete(messages, tools=[TOOL], max_tokens=50)
        await client.aclose()
        assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Paris"})]

    asyncio.run(work())
    [(url, headers, sent)] = transport.requests
    assert url == URLS[name]
    assert headers["Authorization"] == "Bearer secret-key-123456"
    if row.wire == "openai-chat":
        assert sent["max_completion_tokens" if name in MAX_COMPLETION_TOKENS else "max_tokens"] == 50
        assert sent["messages"][0]["role"] == "system"
        assert sent["tools"][0]["function"]["name"] == "get_weather"


@pytest.mark.parametrize("name", [name for name, row in providers().items() if "{" in row.base_url])
def test_an_address_without_its_variable_names_it(name: str) -> None:
    with pytest.raises(CallerError, match=r"the address of .* is not known: set [A-Z_]+.*pass base_url"):
        with_address(provider(name), environ={})
    assert with_address(provider(name), "http://here/v1/", {}).base_url == "http://here/v1"


def test_a_gateway_fills_the_address_of_an_upstream() -> None:
    environ = {"AWS_REGION": "us-west-2", "AWS_BEARER_TOKEN_BEDROCK": "secret-key-123456"}
    upstream = as_upstream("aws", provider("bedrock"), environ=environ)
    assert upstream.row.base_url == "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1"
    with pytest.raises(CallerError, match="begin with http"):
        as_upstream("mine", provider("openai-compatible"), environ={"OPENAI_COMPATIBLE_BASE_URL": "10.0.0.5:9000"})


def test_paths_below_an_address_without_a_version() -> None:
    row = msgspec.structs.replace(provider("github"), base_url="https://h/inference/")
    assert (
        as_upstream("u", row, api_key="secret-key-123456").route("m").url(stream=True) == "https://h/inference/chat/completions"
    )
