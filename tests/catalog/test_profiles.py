"""From a name to a profile: every spelling, merging, guesses, and where each fact comes from."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from toolglot.catalog.model_names import bare_name, billions
from toolglot.catalog.profiles import _profile, profile
from toolglot.catalog.rows import matching, patterns, read_rows
from toolglot.errors import CallerError
from toolglot.evaluation.counted import lines_run


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


SPELLINGS = [
    ("qwen2.5-coder", "qwen2.5-coder", None),
    ("qwen2.5-coder:7b-instruct-q4_K_M", "qwen2.5-coder", 7.0),
    ("Qwen/Qwen2.5-Coder-32B-Instruct", "qwen2.5-coder", 32.0),
    ("openrouter/qwen/qwen-2.5-coder-32b-instruct:free", "qwen2.5-coder", 32.0),
    ("/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "qwen2.5-coder", 1.5),
    ("C:\\models\\Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf", "qwen2.5-coder", 1.5),
    ("openrouter/qwen/qwen3-coder", "qwen3-coder", None),
    ("qwen3-coder:480b-cloud", "qwen3-coder", 480.0),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder", 30.0),
    ("Qwen3-8B-Q4_K_M-00001-of-00002.gguf", "qwen3", 8.0),
    ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-2507", 235.0),
    ("qwen3.6:35b", "qwen3.5", 35.0),
    ("Qwen/Qwen2.5-14B-Instruct-1M", "qwen2.5-1m", 14.0),
    ("meta-llama/Llama-3.3-70B-Instruct", "llama3.3", 70.0),
    ("llama-3.3-70b-versatile", "llama3.3", 70.0),
    ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama3.1", 8.0),
    ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama3.1", 8.0),
    ("meta.llama3-1-70b-instruct-v1:0", "llama3.1", 70.0),
    ("@cf/meta/llama-3.1-8b-instruct", "llama3.1", 8.0),
    ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "llama3.2", 3.0),
    ("llama3.2:latest", "llama3.2", None),
    ("llama3-groq-tool-use:8b", "llama3-groq-tool-use", 8.0),
    ("us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude-3", None),
    ("claude-sonnet-4@20250514", "claude-4", None),
    ("anthropic/claude-opus-5-5", "claude-5", None),
    ("openai/gpt-4o-mini-2024-07-18", "gpt-4o", None),
    ("gpt-4-0613", "gpt-4", None),
    ("openai/gpt-5.6-luna", "gpt-5.6", None),
    ("groq/openai/gpt-oss-120b", "gpt-oss", 120.0),
    ("o3-mini", "o3", None),
    ("gemini/gemini-2.5-flash-lite", "gemini-2.5", None),
    ("google/gemma-3-27b-it", "gemma3", 27.0),
    ("gemma3n:e4b", "gemma3", 4.0),
    ("mistral:7b", "mistral", 7.0),
    ("mistralai/Mistral-7B-Instruct-v0.2", "mistral-old", 7.0),
    ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", 7.0),
    ("mistral/open-mistral-nemo", "mistral-nemo", None),
    ("mistral/mistral-small-latest", "mistral-small", None),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral", 56.0),
    ("deepseek/deepseek-chat", "deepseek-chat", None),
    ("deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v3.1", None),
    ("deepseek-r1:8b-0528-qwen3-q4_K_M", "deepseek-r1-0528-qwen3", 8.0),
    ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1-0528", None),
    ("deepseek.r1-v1:0", "deepseek-r1", None),
    ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-0905", None),
    ("moonshot/kimi-k2.5", "kimi-k2.5", None),
    ("zai-org/GLM-4.5-Air", "glm-4.5", None),
    ("THUDM/glm-4-9b-chat", "glm-4", 9.0),
    ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes-3", 8.0),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "llama-nemotron-super-1.5", 49.0),
    ("internlm/internlm2_5-7b-chat", "internlm", 7.0),
    ("c4ai-command-r7b-12-2024", "command-r7b", 7.0),
    ("command-r-plus-08-2024", "command-r", None),
    ("rednote-hilab/dots.llm1.inst", "dots", None),
    ("ibm-granite/granite-4.0-h-small", "granite4", None),
    ("inclusionAI/Ling-1T", "ling", 1000.0),
    ("Salesforce/Llama-xLAM-2-8b-fc-r", "xlam", 8.0),
    ("smollm2:360m", "smollm2", 0.36),
    ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "smollm2", 1.7),
]


@pytest.mark.parametrize(("name", "family", "size"), SPELLINGS)
def test_every_spelling_finds_its_row(name: str, family: str, size: float | None) -> None:
    known = profile(name)
    assert (known.model, known.family, known.parameters) == (name, family, size)
    assert "guessed" not in known.source


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3.3-70b-instruct"),
        ("us.anthropic.claude-3-5-haiku-v1:0", "claude3-5-haiku-v1"),
        ("Qwen3-8B-Q4_K_M-00001-of-00002.gguf", "qwen3-8b-q4-k-m"),
        ("gpt-4o:free", "gpt4o"),
        ("deepseek-r1:8b-0528", "deepseek-r1-8b-0528"),
        ("", ""),
        ("///", ""),
        (":", ""),
    ],
)
def test_bare_names(name: str, bare: str) -> None:
    assert bare_name(name) == bare


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("a-8x22b", 176.0),
        ("a-30b-a3b", 30.0),
        ("a-1m", None),
        ("a-270m", 0.27),
        ("a-128k", None),
        ("r7b", 7.0),
        ("gpt-4", None),
        ("1t", 1000.0),
    ],
)
def test_sizes(name: str, size: float | None) -> None:
    assert billions(name) == size


def test_rows_are_merged_from_general_to_specific_in_any_file_order() -> None:
    rows = read_rows(
        [
            {"name": "particular", "match": ["abc-coder-7*"]},
            {"name": "general", "match": ["a*"]},
            {"name": "between", "match": ["*coder*", "abc*"]},
            {"name": "rival", "match": ["abc-*"]},
            {"name": "other", "match": ["b*"]},
        ],
        "here",
    )
    assert [row.name for row in matching(patterns(rows), bare_name("Maker/abc-coder:7b"))] == [
        "general",
        "rival",
        "between",
        "particular",
    ]


def test_a_fact_names_its_row() -> None:
    known = profile("deepseek-v3.1:671b")
    assert known.source.startswith("catalog row deepseek-v3.1 (")
    assert "dialect" not in known.facts, "from the row that `source` names"
    assert known.dialect == "deepseek_v31"
    assert known.facts["max_tools"] == "default"
    assert known.facts["parameters"] == "its name"
    coder = profile("qwen2.5-coder")
    assert coder.context_length == 32768
    assert coder.facts["context_length"].startswith("catalog row qwen2.5 (")


@pytest.mark.parametrize(
    ("name", "family", "dialect"),
    [
        ("qwen9-ultra", "qwen", "hermes"),
        ("dolphin-2.9-llama3.1-8b", "llama3.1", "llama3_json"),
        ("cognitivecomputations/Dolphin3.0-Mistral-24B", "mistral", "mistral"),
        ("my-finetune-of-qwen2.5-coder", "qwen2.5-coder", "hermes"),
        ("glm-9", "glm", "glm47"),
    ],
)
def test_an_unknown_model_is_guessed_from_its_family(name: str, family: str, dialect: str) -> None:
    known = profile(name)
    assert (known.family, known.dialect) == (family, dialect)
    assert known.source.startswith("guessed from ")
    assert known.multi_turn != "excellent", "a guess promises no more than good"


def test_an_unknown_family_gets_a_cautious_profile() -> None:
    known = profile("zorblax-7b")
    assert (known.family, known.dialect, known.supports_tools, known.supports_parallel, known.parameters) == (
        "unknown",
        None,
        False,
        False,
        7.0,
    )
    assert known.source.startswith("guessed: no row fits this name")
    assert profile("zorblax-7b", "ollama").supports_tools is False
    assert profile("zorblax-7b", "groq").supports_tools is True
    assert profile("groq/zorblax-7b").supports_tools is True
    assert profile("openrouter/x/zorblax").supports_tools is True


def test_a_format_without_a_dialect_of_ours_has_no_dialect() -> None:
    known = profile("THUDM/glm-4-9b-chat")
    assert (known.dialect, known.supports_tools) == (None, True)
    assert "dialect" not in known.facts, "the row says so"


def test_a_server_exception_is_reported_until_a_more_specific_row_overrides_it() -> None:
    assert profile("command-r").native == {"llamacpp": False}
    assert "on llamacpp: " in profile("command-r").source
    assert profile("command-r7b").native == {"llamacpp": True}
    assert "on llamacpp: " not in profile("command-r7b").source


@pytest.mark.parametrize("name", ["philosopher-7b", "yield-1b", "ringmaster", "novation", "stepstone", "overfitted"])
def test_a_name_that_only_starts_like_a_family_does_not_match(name: str) -> None:
    assert profile(name).family == "unknown"


def test_the_first_path_segment_may_be_the_provider() -> None:
    assert profile("llamacpp/qwen2.5-coder") == _renamed("llamacpp/qwen2.5-coder", "qwen2.5-coder", "llamacpp")
    assert profile("local/Qwen2.5-Coder-1.5B.gguf").ask == "constrained", "the embedded server is llama.cpp's"
    assert profile("home/qwen2.5-coder").ask is None, "home is a folder, not a provider"


def _renamed(name: str, model: str, provider: str) -> object:
    return msgspec.structs.replace(profile(model, provider), model=name)


@pytest.mark.parametrize(
    ("model", "provider", "message"),
    [("", None, "name is text"), (None, None, "name is text"), ("a", "olama", "did you mean ollama?")],
)
def test_wrong_use(model: object, provider: str | None, message: str) -> None:
    with pytest.raises(CallerError, match=message.replace("?", r"\?")):
        profile(model, provider)  # type: ignore[arg-type]


def test_an_unseen_name_is_looked_up_once_and_in_few_steps() -> None:
    names = [f"some-{number}-finetune-of-llama-3.1-8b" for number in range(2)]
    profile(names[0])
    assert lines_run(lambda: profile(names[1])) < 1_500, "well under a millisecond"
    before = _profile.cache_info().hits
    profile(names[0])
    assert _profile.cache_info().hits == before + 1
