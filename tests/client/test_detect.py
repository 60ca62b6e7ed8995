"""Asking running servers about a model: a real llama.cpp, and the other kinds as their documents have them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.client.detecting import detected, one_note, profile_from
from tests.client.discovery_server import SERVERS, Table, discovery_server, recorded
from tests.client.running import DIRECT
from tests.llamacpp import LlamaServer
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client.detect import ServerAnswers, detect
from toolglot.client.detection import correct, server_facts
from toolglot.client.detection.correct import corrected
from toolglot.client.detection.questions import QUESTIONS
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.detection.templates import Template, read_template
from toolglot.client.embedded import Embedded
from toolglot.client.http import HttpTransport
from toolglot.pipeline.request.tool_mode import choose_mode


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def show(body: bytes) -> Table:
    return {"POST /api/show": (200, body)}


# -- llama.cpp, really run


def test_llamacpp_itself(llamacpp_server: LlamaServer) -> None:
    for end in ("", "/", "/v1", "/v1/"):
        known = detected("llamacpp", "smollm2", llamacpp_server.address + end)
        assert known.source.startswith("asked the server (GET /props), and catalog row smollm2")
        assert (known.supports_tools, known.native["llamacpp"]) == (False, False)
        assert known.context_length == 4096
        assert known.facts["context_length"] == "asked the server (GET /props)"
        assert (known.dialect, known.refuses, known.ask) == (None, (), "constrained")
        assert known.notes == ()


def test_an_alias_is_resolved_to_the_loaded_model(llamacpp_server: LlamaServer) -> None:
    known = detected("llamacpp", "gpt-4", llamacpp_server.address)
    assert (known.model, known.family, known.ask) == ("gpt-4", "smollm2", "constrained")
    assert known.parameters == 0.135
    one_note(known, "the server runs", "taken for smollm2, not for gpt-4")


def test_the_embedded_model_is_asked_the_same_way(smollm2_path: Path) -> None:
    async def work() -> Profile:
        local = Embedded(HttpTransport(proxies=DIRECT), progress=None)
        try:
            known = await detect("smollm2", provider("local"), local, answers=ServerAnswers())
            nowhere = await detect("none/such.gguf", provider("local"), local, answers=ServerAnswers())
        finally:
            await local.aclose()
        one_note(nowhere, "could not be queried", "none/such.gguf")
        return known

    known = asyncio.run(work())
    assert known.supports_tools is False
    assert known.facts["supports_tools"] == "asked the server (GET /props)"


def test_a_measured_tool_mode_wins_over_what_the_server_declares() -> None:
    table = {"GET /props": (200, recorded("llamacpp/qwen2.5-coder-1.5b/props.json"))}
    known = profile_from("llamacpp", "qwen2.5-coder:1.5b", table)
    assert (known.ask, known.native["llamacpp"]) == ("constrained", False)
    assert choose_mode("auto", known, provider("llamacpp"), None).name == "constrained"
    one_note(known, "tools: the server declares support", "sets ask = constrained, which is used")
    assert known.dialect == "hermes"
    assert known.facts["dialect"] == "asked the server (GET /props)"
    assert one_note(known, "context") == (
        "context: the server says 4096, catalog row qwen2.5 says 32768; the server's value is used"
    )


def test_an_old_llamacpp_without_caps_is_known_by_its_template() -> None:
    props = json.loads(recorded("llamacpp/qwen2.5-coder-1.5b/props.json"))
    del props["chat_template_caps"]
    known = profile_from(
        "llamacpp", "zorblax-1.5b", {"GET /props": (200, json.dumps(props | {"model_path": "z.gguf"}).encode())}
    )
    assert (known.supports_tools, known.native["llamacpp"], known.dialect) == (True, True, "hermes")
    assert known.family == "qwen2.5"
    assert known.facts["family"] == "GET /props: its chat template"
    one_note(known, "its chat template is that of qwen2.5: taken for qwen2.5")
    tool_use = {**props, "model_path": "z.gguf", "chat_template_tool_use": "{% if tools %}[TOOL_CALLS]{% endif %}"}
    assert profile_from("llamacpp", "zorblax", {"GET /props": (200, json.dumps(tool_use).encode())}).dialect == "mistral"


def props(**changes: Any) -> Table:
    recorded_props = json.loads(recorded("llamacpp/qwen2.5-coder-1.5b/props.json"))
    caps = {**recorded_props["chat_template_caps"], **changes.pop("caps", {})}
    body = {**recorded_props, "chat_template_caps": caps, "model_path": "z.gguf", **changes}
    return {"GET /props": (200, json.dumps(body).encode())}


def test_capabilities_win_over_the_parsed_template() -> None:
    assert profile_from("llamacpp", "zorblax", props(caps={"supports_tools": False})).supports_tools is False
    able = profile_from("llamacpp", "zorblax", props())
    assert (able.supports_tools, able.tool_format, able.supports_parallel) == (True, "hermes", True)
    nobodys = {"chat_template": "{% if tools %}<tool_call>{% endif %}{{ message.role }}"}
    one_by_one = profile_from("llamacpp", "mistral", props(caps={"supports_parallel_tool_calls": False}, **nobodys))
    assert (one_by_one.family, one_by_one.supports_parallel) == ("mistral", False), "z.gguf is nothing that is known"
    one_note(one_by_one, "parallel calls: the server says no, catalog row mistral says yes")
    one_note(one_by_one, "dialect: the server says hermes, catalog row mistral says mistral")
    assert "system" in profile_from("llamacpp", "zorblax", props(caps={"supports_system_role": False})).refuses
    thinking = "{% if tools %}<tool_call>{% endif %}{{ message.role }}</think>"
    assert profile_from("llamacpp", "zorblax", props(chat_template=thinking)).reasoning == ("<think>", "</think>")


def test_a_template_without_end_is_not_read() -> None:
    for flood in ("{#" * 30_000, "{{/*" * 15_000, " " * 70_000):
        known = profile_from("llamacpp", "zorblax", props(chat_template="<tool_call>" + flood))
        assert known.dialect is None


# -- the others, as their documents have them


@pytest.mark.parametrize("end", ["", "/", "/v1", "/api", "/api/"])
def test_ollama(end: str) -> None:
    with discovery_server(show(recorded("ollama/show.tools.json"))) as server:
        known = detected("ollama", "qwen2.5-coder:7b", server.address + end)
        assert server.asked == ["POST /api/show"]
        assert server.bodies == [b'{"model":"qwen2.5-coder:7b"}']
    assert known.source.startswith("asked the server (POST /api/show), and catalog row qwen2.5-coder (")
    assert (known.native["ollama"], known.dialect, known.context_length) == (True, "hermes", 32768)
    assert known.facts["max_tools"] == "catalog row qwen2.5-coder"
    one_note(known, "num_ctx to 8192 of 32768")
    assert len(known.notes) == 1


def test_ollama_reports_a_model_without_tools() -> None:
    known = profile_from("ollama", "mistral:7b", show(recorded("ollama/show.no-tools.json")))
    assert profile("mistral:7b", "ollama").supports_tools
    assert (known.supports_tools, known.native["ollama"], known.tool_format) == (False, False, "mistral")
    one_note(known, "tools: the server says no, catalog row mistral says yes; the server's value is used")
    assert choose_mode("auto", known, provider("ollama"), None).name == "constrained"
    assert "tool" in known.refuses, "its template has no place for results"


def test_a_template_that_ollama_does_not_use_is_ignored() -> None:
    known = profile_from("ollama", "qwen3-coder:30b", show(recorded("ollama/show.renderer.json")))
    assert known.native["ollama"]
    assert known.refuses == profile("qwen3-coder:30b", "ollama").refuses
    assert "asked" not in known.facts["dialect"]
    assert known.context_length == 262144


def test_a_name_of_ones_own_on_ollama() -> None:
    known = profile_from("ollama", "zorblax", show(recorded("ollama/show.own-name.json")))
    assert (known.model, known.family, known.parameters) == ("zorblax", "qwen2.5-coder", 7.0)
    one_note(known, "the server runs qwen2.5-coder:7b under this name")


def test_ollama_has_no_such_model() -> None:
    table = {
        "POST /api/show": (404, recorded("ollama/show.missing.json")),
        "GET /api/tags": (200, recorded("ollama/tags.json")),
    }
    known = profile_from("ollama", "qwen2.5-codr:7b", table)
    note = one_note(known, "no model 'qwen2.5-codr:7b'")
    assert "nearest: qwen2.5-coder:7b" in note
    assert "ollama pull qwen2.5-codr:7b" in note
    assert known.source == profile("qwen2.5-codr:7b", "ollama").source
    far = profile_from("ollama", "zorblax", table)
    one_note(far, "it has qwen2.5-coder:7b, mistral:latest, gemma3:4b")
    assert profile_from("ollama", "mistral", table).notes == (), "mistral is mistral:latest"


def test_ollama_of_old_says_no_capabilities() -> None:
    old = json.loads(recorded("ollama/show.tools.json"))
    del old["capabilities"]
    known = profile_from("ollama", "zorblax", show(json.dumps(old).encode()))
    assert known.supports_tools
    assert known.facts["supports_tools"] == "asked the server (POST /api/show)"


def test_vllm() -> None:
    table = {"GET /v1/models": (200, recorded("vllm/models.json"))}
    known = profile_from("vllm", "Qwen/Qwen2.5-7B-Instruct", table, end="")
    assert (known.family, known.context_length) == ("qwen2.5", 16384)
    one_note(known, "context: the server says 16384, catalog row qwen2.5 says 32768")
    renamed = profile_from("vllm", "gpt-4o", table)
    assert (renamed.model, renamed.family, renamed.dialect) == ("gpt-4o", "qwen2.5", "hermes")
    one_note(renamed, "runs Qwen/Qwen2.5-7B-Instruct under this name: taken for qwen2.5, not for gpt-4o")
    adapter = profile_from("vllm", "house-lora", table)
    assert (adapter.family, adapter.context_length) == ("qwen2.5", 16384)
    one_note(profile_from("vllm", "gpt-4", table), "no model 'gpt-4'", "nearest: gpt-4o", "--served-model-name")


def test_lm_studio_of_each_age() -> None:
    v0 = {"GET /api/v0/models": (200, recorded("lmstudio/api-v0-models.json"))}
    known = profile_from("lmstudio", "qwen2.5-coder-7b-instruct", v0)
    assert (known.native["lmstudio"], known.context_length) == (True, 4096)
    one_note(known, "loaded with 4096 of 32768")
    silent = profile_from("lmstudio", "gemma-3-4b-it", v0)
    assert "lmstudio" not in silent.native, "without capabilities it does not say"
    one_note(profile_from("lmstudio", "text-embedding-nomic-embed-text-v1.5", v0), "embedding model")

    v1 = {"GET /api/v1/models": (200, recorded("lmstudio/api-v1-models.json"))}
    assert profile_from("lmstudio", "qwen/qwen2.5-coder-7b", v1).context_length == 16384
    two = json.loads(v1["GET /api/v1/models"][1])
    two["models"][0]["loaded_instances"].append({"id": "long", "config": {"context_length": 32768}})
    both = {"GET /api/v1/models": (200, json.dumps(two).encode())}
    assert profile_from("lmstudio", "coder", both).context_length == 16384, "an instance by its own name"
    assert profile_from("lmstudio", "long", both).context_length == 32768
    refused = profile_from("lmstudio", "mistralai/mistral-7b-instruct-v0.3", v1)
    assert refused.supports_tools is False
    one_note(refused, "tools: the server says no")

    with discovery_server({"GET /v1/models": (200, recorded("lmstudio/models.json"))}) as server:
        plain = detected("lmstudio", "gemma-3-4b-it", server.address + "/v1")
        assert server.asked == ["GET /api/v0/models", "GET /api/v1/models", "GET /v1/models"]
    assert plain.notes == ()
    assert plain.supports_tools == profile("gemma-3-4b-it", "lmstudio").supports_tools


def test_openrouter_by_endpoint_and_by_list() -> None:
    llama = "meta-llama/llama-3.3-70b-instruct"
    table = {
        "GET /api/v1/models": (200, recorded("openrouter/models.json")),
        f"GET /api/v1/models/{llama}/endpoints": (200, recorded("openrouter/endpoints.json")),
    }
    for end in ("/api/v1", "/api", "/api/v1/"):
        known = profile_from("openrouter", llama, table, end=end)
        assert (known.native["openrouter"], known.context_length) == (True, 131072)
        one_note(known, "2 of its 3 endpoints support them (DeepInfra, Novita)")
        one_note(known, "structured outputs are not supported")
    without = profile_from("openrouter", "mistralai/mistral-7b-instruct", table, end="/api/v1")
    assert without.supports_tools is False
    one_note(without, "tools: the server says no")
    assert without.facts["supports_tools"] == "asked the server (GET /v1/models)"
    one_note(profile_from("openrouter", "qwen/qwen2.5-coder-7b-instruct", table, end="/api/v1"), "be forced")
    one_note(
        profile_from("openrouter", "mistralai/mistral-7b-instrct", table, end="/api/v1"),
        "nearest: mistralai/mistral-7b-instruct",
    )


def test_every_kind_has_recorded_answers_with_their_source() -> None:
    for kind in QUESTIONS:
        assert (SERVERS / kind / "README.md").read_text(), kind
    assert {folder.name for folder in SERVERS.iterdir()} == set(QUESTIONS)


def test_what_the_user_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "mistral"\nsupports_tools = true\ncontext_length = 1000\n')
    known = profile_from("ollama", "mistral", show(recorded("ollama/show.no-tools.json")))
    assert (known.supports_tools, known.context_length) == (True, 1000)
    one_note(known, "tools: the server says no, your row mistral in toolglot.toml says yes; yours is used")
    one_note(known, "context: the server says 32768, your row mistral in toolglot.toml says 1000; yours is used")


def test_native_is_not_asked_where_the_server_takes_no_tools_but_if_the_user_wants_it(tmp_path: Path) -> None:
    known = Profile("m", "m", "catalog row m", ask="native")
    assert corrected(known, ServerFacts("GET /x", tools=False), "vllm", "vllm").ask is None
    assert corrected(known, ServerFacts("GET /x", tools=True), "vllm", "vllm").ask == "native"
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "zorblax"\nask = "native"\n')
    assert profile_from("ollama", "zorblax", show(recorded("ollama/show.no-tools.json"))).ask == "native"


def test_the_key_is_sent_and_the_rows_headers() -> None:
    with discovery_server({"GET /api/v1/models": (200, recorded("openrouter/models.json"))}) as server:
        detected("openrouter", "a/b", server.address + "/api/v1", headers={"Authorization": "Bearer k"})
        assert all(sent["authorization"] == "Bearer k" and sent["x-title"] == "toolglot" for sent in server.headers)


# -- once


def test_a_template_is_parsed_once_per_server_response(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(text: str) -> Template:
        parsed.append(text)
        return read_template(text)

    monkeypatch.setattr(server_facts, "read_template", counted)
    monkeypatch.setattr(correct, "read_template", counted, raising=False)
    now = [0.0]
    answers = ServerAnswers(lifetime=100, clock=lambda: now[0])
    with discovery_server(props()) as server:
        for time, times in [(0, 1), (1, 1), (2, 1), (101, 2)]:
            now[0] = time
            known = detected("llamacpp", "zorblax", server.address, answers=answers)
            assert (known.dialect, len(parsed), server.asked.count("GET /props?model=zorblax")) == ("hermes", times, times)


def test_a_server_is_asked_once_for_a_while() -> None:
    now = [0.0]
    answers = ServerAnswers(lifetime=100, failure_lifetime=10, limit=2, clock=lambda: now[0])
    with discovery_server(show(recorded("ollama/show.tools.json"))) as server:
        for time, times in [(0, 1), (99, 1), (101, 2), (150, 2)]:
            now[0] = time
            detected("ollama", "qwen2.5-coder:7b", server.address, answers=answers)
            assert len(server.asked) == times
        for model in ("b", "c", "qwen2.5-coder:7b"):
            detected("ollama", model, server.address, answers=answers)
        assert len(server.asked) == 5, "the oldest entry was dropped"
        answers.clear()
        detected("ollama", "c", server.address, answers=answers)
        assert len(server.asked) == 6


def test_a_silence_is_forgotten_sooner() -> None:
    now = [0.0]
    answers = ServerAnswers(lifetime=100, failure_lifetime=10, clock=lambda: now[0])
    for table, asked in [({}, 2), ({"GET /api/tags": (200, recorded("ollama/tags.json"))}, 2)]:
        with discovery_server(table) as server:
            for time, times in [(0, asked), (9, asked), (11, 2 * asked)]:
                now[0] = time
                detected("ollama", "zorblax", server.address, answers=answers)
                assert len(server.asked) == times


def test_a_profile_tells_every_fact_and_its_origin() -> None:
    known = profile_from("ollama", "qwen2.5-coder:7b", show(recorded("ollama/show.tools.json")))
    facts: Mapping[str, str] = known.facts
    assert {facts[field] for field in ("supports_tools", "dialect", "context_length")} == {"asked the server (POST /api/show)"}
    assert facts["multi_turn"] == "catalog row qwen2.5-coder"
    assert facts["parameters"] == "asked the server (POST /api/show): general.basename"
    assert facts["family"] == "POST /api/show: general.basename Qwen2.5-Coder-7B"
