"""The questions for each kind of server, in order, until one is answered.

Sources: Ollama docs/api.md and its Python SDK's types; llama.cpp tools/server/README.md and real answers (fixtures/servers);
vLLM's ModelCard and TokenizerInfo; LM Studio's documentation of its REST APIs v0 and v1; OpenRouter's OpenAPI description.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from toolglot.client.detection import llamacpp, ollama
from toolglot.client.detection import model_lists as listed
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.detection.tokenizer_info import TOKENIZER, read_tokenizer_info
from toolglot.io.json_codec import encode
from toolglot.pipeline.request.route import join_url

Read = Callable[[Any, str], ServerFacts | None]  # the JSON and the model's name; None: an unexpected shape


class ServerQuestion(msgspec.Struct, frozen=True):
    """An endpoint that describes models. `{model}` in its path is replaced by the model's name."""

    endpoint: str  # method and path
    read: Read
    at: Literal["root", "version"] = "root"  # next to the version segment of the API, or below it
    query: str = ""
    names_model: bool = False  # {"model": ...} is sent
    also: tuple[ServerQuestion, ...] = ()  # asked too, if this one is answered: where the server shows more

    @property
    def method(self) -> str:
        return self.endpoint.partition(" ")[0]

    def url(self, base_url: str, model: str) -> str:
        path = (self.endpoint.partition(" ")[2] + self.query).replace("{model}", quote(model, safe="/:@"))
        return join_url(base_url, path) if self.at == "version" else _VERSION.sub("", base_url) + path

    def body(self, model: str) -> bytes:
        return encode({"model": model}) if self.names_model else b""


_VERSION = re.compile(r"(?:/api)?(?:/v\d+[a-z0-9]*)?/*$")

_TOKENIZER = ServerQuestion(TOKENIZER, read_tokenizer_info)
_SGLANG = ServerQuestion(listed.SGLANG, listed.read_sglang)

QUESTIONS: dict[str, tuple[ServerQuestion, ...]] = {
    "ollama": (
        ServerQuestion(ollama.SHOW, ollama.read_show, names_model=True),
        ServerQuestion(ollama.TAGS, ollama.read_tags),
    ),
    # the query selects the model on a server that runs several, and on the embedded one
    "llamacpp": (
        ServerQuestion(
            llamacpp.PROPS,
            llamacpp.read_props,
            query="?model={model}",
            also=(ServerQuestion(llamacpp.MODELS, llamacpp.read_models, "version"),),
        ),
    ),
    "vllm": (ServerQuestion(listed.MODELS, listed.read_vllm, "version", also=(_TOKENIZER, _SGLANG)),),
    "lmstudio": (
        ServerQuestion(listed.STUDIO_V0, listed.read_studio_v0),
        ServerQuestion(listed.STUDIO_V1, listed.read_studio_v1),
        ServerQuestion(listed.MODELS, listed.read_plain, "version"),
    ),
    "openrouter": (
        ServerQuestion(listed.ENDPOINTS, listed.read_endpoints, "version"),
        ServerQuestion(listed.MODELS, listed.read_openrouter, "version"),
    ),
}
