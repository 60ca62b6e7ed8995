"""Every row of models.toml: it loads, is found by its name, names an existing dialect and a source."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import catalog, families, profile
from toolglot.catalog.rows import Row
from toolglot.dialects import dialect_names

ROWS = catalog().rows
each_row = for_each("row", ROWS)


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(str(tmp_path))


def test_at_least_eighty_families_each_once() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names) >= 80
    whole_lines = {
        row.name for row in ROWS if not any(row.name != other and row.name.startswith(f"{other}-") for other in names)
    }
    assert len(whole_lines) >= 80, "also when versions of one line are not counted"


@each_row
def test_a_row_is_found_by_its_name(row: Row) -> None:
    assert profile(row.name).family == row.name


@each_row
def test_a_row_names_its_source(row: Row) -> None:
    keys = (row.source,) if isinstance(row.source, str) else row.source
    assert keys
    assert all(keys)
    for key in keys:
        assert key in catalog().sources or " " in key or "#" in key, f"{key!r} is neither a key of [sources] nor words"


def test_every_key_of_the_sources_is_used() -> None:
    used = {catalog().unknown.source}
    for row in ROWS:
        used |= {row.source} if isinstance(row.source, str) else set(row.source)
        used |= {there.source for there in row.on.values()}
    assert set(catalog().sources) <= used


@each_row
def test_every_dialect_that_a_row_names_exists(row: Row) -> None:
    for facts in (row, *row.on.values()):
        fields = facts.set_fields()
        named = {fields.get("dialect"), fields.get("tool_format"), str(fields.get("ask", "")).removeprefix("dialect:")}
        assert named - {None, "", "openai", "native", "constrained"} <= set(dialect_names())


@each_row
def test_a_model_without_tools_has_a_prompted_format(row: Row) -> None:
    known = profile(row.name)
    assert known.supports_tools or known.tool_format in dialect_names()


def test_families_are_the_rows() -> None:
    assert [known.family for known in families()] == [row.name for row in ROWS]


# model: tool_format, prompt_style, max_tools, multi_turn, streamed calls
REFERENCE = {
    "qwen2.5-coder": ("hermes", "hermes", 64, "good", True),
    "mistral": ("openai", "standard", 128, "excellent", False),
    "deepseek-chat": ("openai", "standard", 128, "poor", False),
    "kimi-k2": ("openai", "agentic", 64, "excellent", True),
}


def summary_of(known: Profile) -> tuple[object, ...]:
    return (known.tool_format, known.prompt_style, known.max_tools, known.multi_turn, known.supports_streaming)


@pytest.mark.parametrize("model", REFERENCE)
@pytest.mark.parametrize("provider", [None, "ollama", "llamacpp", "vllm", "openrouter"])
def test_four_reference_profiles(model: str, provider: str | None) -> None:
    known = profile(model, provider)
    assert summary_of(known) == REFERENCE[model]
    assert known.supports_tools
    assert known.supports_parallel
    assert known.source.startswith(f"catalog row {model} (its maker's documents")


@pytest.mark.parametrize(
    "model",
    [
        "gemma3",
        "gemma3:27b",
        "gemma-2-9b-it",
        "deepseek-r1",
        "deepseek-r1:70b",
        "deepseek-r1:8b",
        "DeepSeek-R1-Distill-Qwen-7B",
        "phi4",
        "phi3:mini",
        "llama3:8b",
        "codellama:13b",
        "tinyllama",
        "mixtral:8x7b",
        "SmolLM2-135M-Instruct",
        "starcoder2:3b",
    ],
)
def test_families_without_native_tools_are_marked_so(model: str) -> None:
    assert not profile(model).supports_tools


@pytest.mark.parametrize(
    "model", ["deepseek-r1-0528", "gemma4:12b", "functiongemma", "phi4-mini", "llama3.1", "qwen3:0.6b", "smollm3"]
)
def test_their_successors_take_tools(model: str) -> None:
    assert profile(model).supports_tools


def test_what_was_measured_is_in_the_row() -> None:
    small = profile("local/smollm2")
    assert (small.ask, small.supports_tools, small.native["llamacpp"]) == ("constrained", False, False)
    assert "schema-constrained 100 %" in small.source
    coder = profile("qwen2.5-coder:1.5b", "llamacpp")
    assert coder.native == {"llamacpp": False}
    assert coder.ask == "constrained"
    assert "measured with 0.5B and 1.5B" in coder.source
    assert profile("qwen2.5-coder:1.5b", "vllm").ask is None
    assert "60 questions: constrained" not in profile("qwen2.5-coder:1.5b", "vllm").source
