"""What each kind of server is asked, in this order, until one question is answered.

Sources: Ollama docs/api.md and its Python SDK's types; llama.cpp tools/server/README.md and real answers (fixtures/servers);
vLLM's ModelCard; LM Studio's documentation of its REST APIs v0 and v1; OpenRouter's OpenAPI description.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from toolglot.client.detection import listed, llamacpp, ollama
from toolglot.client.detection.told import Told
from toolglot.pipeline.route import join_url
from toolglot.text.json_text import encode

Read = Callable[[Any, str], Told | None]  # the JSON and the model's name; None: it is no such answer


class Question(msgspec.Struct, frozen=True):
    """`{model}` in the path stands for the model's name."""

    asked: str  # method and path
    read: Read
    at: Literal["root", "version"] = "root"  # beside the API's version segment, or in it
    query: str = ""
    names_model: bool = False  # {"model": ...} is sent

    @property
    def method(self) -> str:
        return self.asked.partition(" ")[0]

    def url(self, base_url: str, model: str) -> str:
        path = (self.asked.partition(" ")[2] + self.query).replace("{model}", quote(model, safe="/:@"))
        return join_url(base_url, path) if self.at == "version" else _VERSION.sub("", base_url) + path

    def body(self, model: str) -> bytes:
        return encode({"model": model}) if self.names_model else b""


_VERSION = re.compile(r"(?:/api)?(?:/v\d+[a-z0-9]*)?/*$")

QUESTIONS: dict[str, tuple[Question, ...]] = {
    "ollama": (
        Question(ollama.SHOW, ollama.read_show, names_model=True),
        Question(ollama.TAGS, ollama.read_tags),
    ),
    # the query: a server that runs several models, or the embedded one, is told which is meant
    "llamacpp": (Question(llamacpp.PROPS, llamacpp.read_props, query="?model={model}"),),
    "vllm": (Question(listed.MODELS, listed.read_vllm, "version"),),
    "lmstudio": (
        Question(listed.STUDIO_V0, listed.read_studio_v0),
        Question(listed.STUDIO_V1, listed.read_studio_v1),
        Question(listed.MODELS, listed.read_plain, "version"),
    ),
    "openrouter": (
        Question(listed.ENDPOINTS, listed.read_endpoints, "version"),
        Question(listed.MODELS, listed.read_openrouter, "version"),
    ),
}
