"""Which model a server runs, whatever it is called: what each kind of server shows under right, wrong and other names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.client.detecting import detected, one_note, profile_from
from tests.client.discovery_server import recorded
from tests.client.running import DIRECT
from tests.llamacpp import LlamaServer, serving
from toolglot.catalog.profile import Profile
from toolglot.client.async_client import AsyncClient
from toolglot.client.detect import ANSWERS
from toolglot.client.http import HttpTransport
from toolglot.client.http.answer import HttpAnswer

PROPS, MODELS = "GET /props", "GET /v1/models"
QWEN = "llamacpp/qwen2.5-coder-1.5b"
NAMES = ("qwen2.5-coder-1.5b", "qwen", "my-model", "gpt-4", "gemma-3-270m")


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def llamacpp(name: str, *, file: str, template: str | None = None, sized: bool = True) -> Profile:
    """As llama.cpp shows the 1.5B model, loaded from this file and served under this name."""
    props = json.loads(recorded(f"{QWEN}/props.json")) | {"model_path": file, "model_alias": name}
    if template is not None:
        props["chat_template"] = template
    models = json.loads(recorded(f"{QWEN}/models.json"))
    models["data"][0] |= {"id": name, "aliases": [name]}
    table = {PROPS: (200, json.dumps(props).encode())}
    return profile_from("llamacpp", name, table | ({MODELS: (200, json.dumps(models).encode())} if sized else {}))


@pytest.mark.parametrize("name", NAMES)
def test_llamacpp_by_the_loaded_file(name: str) -> None:
    known = llamacpp(name, file="/models/Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf")
    assert (known.model, known.parameters, known.ask) == (name, 1.5, "constrained")
    assert known.family == "qwen2.5-coder"
    assert known.facts["family"] == "GET /props: model_path Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf"
    assert known.facts["parameters"] == "asked the server (GET /props): model_path"


@pytest.mark.parametrize("name", [*NAMES, "gemma-3-27b"])
def test_llamacpp_by_the_template_where_the_file_has_no_name(name: str) -> None:
    known = llamacpp(name, file="/models/3fa8/model.gguf")
    assert known.facts["family"] == "GET /props: its chat template"
    assert (known.family.startswith("qwen2.5"), known.dialect, known.parameters) == (True, "hermes", 1.777)
    assert known.facts["parameters"] == "asked the server (GET /props): the weights"


def test_llamacpp_by_the_name_where_nothing_else_says_it() -> None:
    nobodys = "{% if tools %}{{ tools }}{% endif %}{{ message.role }}"
    known = llamacpp("qwen2.5-coder-1.5b", file="model.gguf", template=nobodys)
    assert (known.facts["family"], known.parameters) == ("its name", 1.777)
    assert known.family == "qwen2.5-coder"
    unknown = llamacpp("zorblax", file="model.gguf", template=nobodys)
    assert (unknown.family, unknown.parameters) == ("unknown", 1.777)
    assert llamacpp("zorblax", file="model.gguf", template=nobodys, sized=False).parameters is None


def test_a_family_whose_template_several_share_keeps_its_name() -> None:
    shared = "Cutting Knowledge Date {{ tools }} Environment: ipython"
    assert llamacpp("llama-3.3-70b", file="m.gguf", template=shared).family == "llama3.3"
    assert llamacpp("llama-3.1-8b", file="m.gguf", template=shared).family == "llama3.1"
    assert llamacpp("house", file="m.gguf", template=shared).family == "llama3.1"


def ollama(name: str, info: dict[str, str] | None = None, **changes: Any) -> Profile:
    """As Ollama shows a model of 7.6 billion parameters. `info`: what the weights are called."""
    show = json.loads(recorded("ollama/show.tools.json"))
    unnamed = {key: value for key, value in show["model_info"].items() if not key.startswith("general.")}
    show |= {"model_info": unnamed | (info or {}), "template": "{{ .System }}{{ .Tools }}{{ .Prompt }}"}
    show["details"]["parent_model"] = changes.pop("parent", "")
    return profile_from("ollama", name, {"POST /api/show": (200, json.dumps(show | changes).encode())})


@pytest.mark.parametrize("name", ["qwen2.5-coder:7b", "house", "gpt-4", "gemma3:4b"])
@pytest.mark.parametrize(
    ("shown", "evidence"),
    [
        ({"parent": "qwen2.5-coder:7b"}, "parent_model qwen2.5-coder:7b"),
        ({"info": {"general.basename": "Qwen2.5-Coder", "general.size_label": "7B"}}, "general.basename Qwen2.5-Coder-7B"),
        ({"info": {"general.name": "Qwen2.5 Coder 7B Instruct"}}, "general.name Qwen2.5 Coder 7B Instruct"),
    ],
)
def test_ollama_by_what_the_weights_are_called(name: str, shown: dict[str, Any], evidence: str) -> None:
    known = ollama(name, **shown)
    assert (known.family, known.parameters) == ("qwen2.5-coder", 7.0)
    assert known.facts["family"] == f"POST /api/show: {evidence}"


def test_ollama_by_renderer_template_and_name() -> None:
    assert ollama("house", renderer="qwen3-coder", parser="qwen3-coder").family == "qwen3-coder"
    assert ollama("house", template="You are Qwen, created by Alibaba Cloud. {{ .Tools }}").family == "qwen2.5"
    blob = ollama("gemma3:4b", parent="/var/ollama/models/blobs/sha256-" + "a" * 64)
    assert (blob.family, blob.facts["family"], blob.parameters) == ("gemma3", "its name", 7.6)


@pytest.mark.parametrize(
    ("root", "family"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5"),
        ("/models/Qwen2.5-7B-Instruct/", "qwen2.5"),
        ("/data/cache/hub/models--Qwen--Qwen2.5-7B-Instruct/snapshots/" + "a" * 40, "qwen2.5"),
        ("/models/" + "a" * 40, "gpt-4o"),
    ],
)
def test_vllm_by_its_root(root: str, family: str) -> None:
    models = json.loads(recorded("vllm/models.json"))
    for row in models["data"]:
        row["root"] = root
    known = profile_from("vllm", "gpt-4o", {MODELS: (200, json.dumps(models).encode())})
    assert known.family == family


def test_vllm_by_its_template() -> None:
    models = json.loads(recorded("vllm/models.json"))
    models["data"] = [{"id": "house", "root": "/model", "max_model_len": 4096}]
    config = {"tokenizer_class": "T", "chat_template": "You are Qwen, created by Alibaba Cloud. {{ tools }}"}
    table = {MODELS: (200, json.dumps(models).encode()), "GET /tokenizer_info": (200, json.dumps(config).encode())}
    assert profile_from("vllm", "house", table).family == "qwen2.5"


def test_sglang_repeats_the_alias_in_its_list() -> None:
    models = {"data": [{"id": "gpt-4o", "root": "gpt-4o", "owned_by": "sglang", "max_model_len": 8192}]}
    info = {"model_path": "Qwen/Qwen2.5-7B-Instruct", "tokenizer_path": "Qwen/Qwen2.5-7B-Instruct", "is_generation": True}
    table = {MODELS: (200, json.dumps(models).encode()), "GET /get_model_info": (200, json.dumps(info).encode())}
    known = profile_from("vllm", "gpt-4o", table)
    assert (known.family, known.parameters, known.context_length) == ("qwen2.5", 7.0, 8192)
    one_note(known, "runs Qwen/Qwen2.5-7B-Instruct under this name: taken for qwen2.5, not for gpt-4o")


def test_lm_studio_by_the_key_of_an_instance() -> None:
    table = {"GET /api/v1/models": (200, recorded("lmstudio/api-v1-models.json"))}
    known = profile_from("lmstudio", "coder", table)
    assert (known.family, known.parameters) == ("qwen2.5-coder", 7.0)
    assert known.facts["family"] == "GET /api/v1/models: key qwen/qwen2.5-coder-7b"


def test_openrouter_by_its_slug() -> None:
    row = {"id": "house/best", "canonical_slug": "house/best", "hugging_face_id": "Qwen/Qwen2.5-Coder-32B-Instruct"}
    table = {"GET /api/v1/models": (200, json.dumps({"data": [row]}).encode())}
    assert profile_from("openrouter", "house/best", table, end="/api/v1").family == "qwen2.5-coder"


@pytest.fixture(scope="module")
def anonymous(smollm2_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real model, from a file whose name says nothing."""
    file = tmp_path_factory.mktemp("weights") / "model.gguf"
    file.symlink_to(smollm2_path)
    with serving(file, "house") as server:
        yield server


FIVE = ("smollm2", "house", "gpt-4", "qwen2.5-coder:7b", "gemma-3-27b")


@pytest.mark.parametrize("name", FIVE)
def test_a_real_model_under_five_names(name: str, llamacpp_server: LlamaServer, anonymous: LlamaServer) -> None:
    by_file = detected("llamacpp", name, llamacpp_server.address)
    by_template = detected("llamacpp", name, anonymous.address)
    assert (by_file.family, by_file.ask, by_file.supports_tools, by_file.parameters) == ("smollm2", "constrained", False, 0.135)
    assert (by_template.family, by_template.ask, by_template.supports_tools) == ("smollm2", "constrained", False)
    assert by_template.parameters == 0.135
    assert "model_path" in by_file.facts["family"]
    assert by_template.facts["family"] == "GET /props: its chat template"


def test_an_alias_changes_neither_plan_nor_result(llamacpp_server: LlamaServer, anonymous: LlamaServer) -> None:
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "get_weather", "description": "The weather in a city.", "parameters": city}]
    sent: list[Any] = []

    class Recorder(HttpTransport):
        async def send(
            self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", **options: Any
        ) -> HttpAnswer:
            if body:
                sent.append({key: value for key, value in json.loads(body).items() if key != "model"})
            return await super().send(method, url, headers, body, **options)

    async def reply(name: str, server: LlamaServer) -> tuple[Any, ...]:
        client = AsyncClient(f"llamacpp/{name}", base_url=server.address, transport=Recorder(proxies=DIRECT))
        options: dict[str, Any] = {"temperature": 0, "seed": 7, "max_tokens": 60}
        try:
            found = await client.complete("What is the weather in Paris?", tools=tools, **options)
        finally:
            await client.aclose()
        assert any("constrained: best for smollm2, known by GET /props: " in note for note in found.notes), found.notes
        return [(call.name, call.arguments_json) for call in found.calls], found.text

    async def work() -> list[tuple[Any, ...]]:
        ANSWERS.clear()
        return [await reply(name, server) for server in (llamacpp_server, anonymous) for name in FIVE]

    found = asyncio.run(work())
    assert [name for name, _ in found[0][0]] == ["get_weather"]
    for one in found:
        assert one == found[0]
    for one in sent[:: len(sent) // len(found)]:
        assert one == sent[0]
    assert sent[0]["response_format"]["type"] == "json_schema"
