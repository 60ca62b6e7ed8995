"""toolglot inside the packages it plugs into, each in its own environment: `TOOLGLOT_HOSTS=1 pytest tests/integrations`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integrations.hosts.environments import HOSTS, environment, run
from tests.integrations.hosts.pages import PAGES, page
from tests.integrations.hosts.text_server import ANSWER

FRAMEWORKS = ("langchain", "llama_index", "openai_agents", "pydantic_ai", "smolagents")
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
