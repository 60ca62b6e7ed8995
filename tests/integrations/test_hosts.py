"""toolglot inside the packages it plugs into, each in its own environment: `TOOLGLOT_HOSTS=1 pytest tests/integrations`."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import pytest

from tests.integrations.hosts.environments import HOSTS, environment, run
from tests.integrations.hosts.pages import PAGES, page
from tests.integrations.hosts.text_server import ANSWER

FRAMEWORKS = ("langchain", "llama_index", "openai_agents", "pydantic_ai", "smolagents")
SOURCES = os.environ.get("TOOLGLOT_ENGINE_SOURCES", "")
hosts = pytest.mark.hosts


def result(name: str, module: str, *arguments: str) -> Any:
    """What `main` of a module of this folder prints in the host's environment."""
    script = f"from tests.integrations.hosts.{module} import main; main({', '.join(map(repr, arguments))})"
    return json.loads(run(name, script).splitlines()[-1])


@pytest.mark.parametrize("name", HOSTS)
def test_the_page_names_the_version(name: str) -> None:
    engines = ("vllm", "sglang") if name == "engines" else (name,)
    for package in HOSTS[name]:
        host, _, version = package.partition("==")
        if host.partition("[")[0].replace("-", "_").removesuffix("_core").removesuffix("_slim") in engines:
            file = host.partition("[")[0].removesuffix("-core").removesuffix("-slim")
            assert version in page(f"{file}.md")


@hosts
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_fixture_is_parsed_by_the_engines_own_calls(engine: str) -> None:
    found = result("engines", "engines", engine, str(environment("engines") / "files"))
    assert found["wrong"] == []
    assert found["parsed"] > 5000


# where the engines' own tests expect something else, by parser, with the number of texts
OTHER = {
    "vllm": {},
    "sglang": {
        "GigaChat3Detector": 2,  # a value of a wrong type; a call without arguments, which is one for us
        "Glm4MoeDetector": 1,  # quotes around what is not a JSON string stay
        "Glm47MoeDetector": 1,
        "Llama32Detector": 4,  # two without a required argument, one cut short, one with text behind it on its line
        "PythonicDetector": 1,  # in the middle of a line
        "Qwen3CoderDetector": 1,  # cut short
    },
}


@hosts
@pytest.mark.skipif(not SOURCES, reason="set TOOLGLOT_ENGINE_SOURCES to a folder with checkouts vllm and sglang")
@pytest.mark.parametrize(("engine", "texts"), [("vllm", 120), ("sglang", 100)])
def test_the_texts_of_the_engines_own_tests(engine: str, texts: int) -> None:
    found = result("engines", "engines", engine, str(environment("engines") / "files"), SOURCES)
    assert found["parsed"] >= 3 * texts
    names = {line.partition(", toolglot")[0] for line in found["wrong"]}
    assert Counter(name.partition(",")[0] for name in names) == OTHER[engine]


@hosts
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_model_without_native_tools_finishes_a_two_step_job(name: str) -> None:
    found = result(name, "frameworks", name)
    for way in ("whole", "streamed"):
        answer, calls, streamed = found[way]
        assert answer == ANSWER
        assert calls == [["find_user", "Ada"], ["get_balance", "u-17"]]
        assert streamed == [way == "streamed"] * 3, "requests to the model"


@hosts
@pytest.mark.parametrize("name", [*FRAMEWORKS, "litellm"])
def test_the_page_runs(name: str) -> None:
    script = "with_final_answer" if name == "smolagents" else "two_steps"
    file = f"{name.replace('_', '-')}.md"
    assert (PAGES / file).exists()
    code = f"from tests.integrations.hosts import pages, text_server; pages.main({file!r}, text_server.{script})"
    printed = run(name, code)
    assert name == "litellm" or ANSWER in " ".join(printed.split())


@hosts
def test_litellm_proxy_forwards_five_of_five_forms_with_the_callback() -> None:
    found = result("litellm", "litellm_proxy")
    assert found == {"without": {"whole": 0, "streamed": 0}, "with": {"whole": 5, "streamed": 5}}


@hosts
def test_llm_gets_models_with_tools() -> None:
    _, asked, whole, asynchronous, models, _, less = result("llm", "llm_commands")
    for printed, streamed in (asked, whole, asynchronous):
        assert ANSWER in printed
        assert streamed == [(printed, streamed) != tuple(whole)] * 3
    assert "toolglot/openai-compatible/my-model" in models[0]
    assert "toolglot/local/local" in less[0]
    assert "my-model" not in less[0]
