from __future__ import annotations

import pytest

from toolglot import CallerError, normalize_model
from toolglot.catalog.providers import providers
from toolglot.pipeline.request.route import join_url, resolve, wire_format
from toolglot.wires import NAMES

NEEDED = [
    "openai",
    "anthropic",
    "gemini",
    "ollama",
    "ollama-cloud",
    "openrouter",
    "vllm",
    "llamacpp",
    "lmstudio",
    "mistral",
    "deepseek",
    "moonshot",
    "groq",
    "together",
    "local",
]


@pytest.mark.parametrize(
    ("name", "provider", "wanted"),
    [
        ("qwen3-coder:480b-cloud", "ollama-cloud", "qwen3-coder:480b"),
        ("qwen3-coder-480b-cloud", "ollama-cloud", "qwen3-coder:480b"),
        ("glm-4.6:cloud", "ollama-cloud", "glm-4.6"),
        ("gpt-oss-120b", "ollama-cloud", "gpt-oss:120b"),
        ("gpt-oss:120b:cloud", "ollama-cloud", "gpt-oss:120b"),
        ("gpt-oss:120b", "ollama-cloud", "gpt-oss:120b"),
        ("deepseek-v3.1:671b-cloud", "ollama-cloud", "deepseek-v3.1:671b"),
        ("qwen3-vl-235b-instruct", "ollama-cloud", "qwen3-vl:235b-instruct"),
        ("kimi-k2-1t", "ollama-cloud", "kimi-k2:1t"),
        ("qwen3-coder:480b-cloud", "ollama", "qwen3-coder:480b-cloud"),
        ("gpt-oss-120b", "ollama", "gpt-oss-120b"),
        ("gpt-5", "openai", "gpt-5"),
    ],
)
def test_model_names(name: str, provider: str, wanted: str) -> None:
    assert normalize_model(name, provider=provider) == wanted


def test_the_rows_that_users_rely_on_are_there_and_name_wires_that_exist() -> None:
    assert set(NEEDED) <= set(providers())
    for row in providers().values():
        assert row.wire in NAMES
        assert row.source
        assert (row.key is None) == (row.auth == "none")


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("openai/gpt-5", "https://api.openai.com/v1/chat/completions"),
        ("anthropic/claude-x", "https://api.anthropic.com/v1/messages"),
        ("gemini/gemini-3-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"),
        ("ollama/qwen3:8b", "http://127.0.0.1:11434/v1/chat/completions"),
        ("ollama-cloud/gpt-oss-120b", "https://ollama.com/api/chat"),
        ("openrouter/qwen/qwen3-coder", "https://openrouter.ai/api/v1/chat/completions"),
        ("groq/llama-3.3", "https://api.groq.com/openai/v1/chat/completions"),
        ("openai-responses/gpt-5", "https://api.openai.com/v1/responses"),
    ],
)
def test_addresses(model: str, url: str) -> None:
    assert resolve(model).url(False) == url


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h:1", "/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1", "/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "/v1/messages", "http://h:1/v1/messages"),
        ("http://h/api", "/v1/chat/completions", "http://h/api/v1/chat/completions"),
        ("http://h/api", "/api/chat", "http://h/api/chat"),
        ("http://h", "/api/chat", "http://h/api/chat"),
        ("http://h/v1", "/v1beta/models/m:generateContent", "http://h/v1/models/m:generateContent"),
    ],
)
def test_a_version_segment_is_kept_once(base: str, path: str, url: str) -> None:
    assert join_url(base, path) == url


def test_a_name_that_is_both_means_the_wire_and_other_providers_bring_their_quirks() -> None:
    assert wire_format("ollama").wire.name == "ollama"
    assert wire_format("mistral").wire.name == "openai-chat"
    assert wire_format("mistral").quirks.seed_key == "random_seed"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: resolve("gpt-5"), "provider/model"),
        (lambda: resolve("opnai/gpt-5"), "did you mean openai"),
        (lambda: wire_format("antropic"), "did you mean anthropic"),
        (lambda: normalize_model("x", "nowhere"), "There are: alibaba, anthropic"),
        (lambda: normalize_model(None, "ollama"), "a model's name is text"),  # type: ignore[arg-type]
        (lambda: resolve(None), "got None"),  # type: ignore[arg-type]
        (lambda: wire_format("nope"), "no wire or provider 'nope'. There are: alibaba, anthropic, azure"),
    ],
)
def test_the_error_for_a_wrong_name_lists_the_right_ones(use: object, message: str) -> None:
    assert callable(use)
    with pytest.raises(CallerError, match=message):
        use()
