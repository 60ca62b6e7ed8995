"""toolglot inside the packages it plugs into, each in its own environment: `TOOLGLOT_HOSTS=1 pytest tests/integrations`."""

from __future__ import annotations

import json

import pytest

from tests.integrations.hosts.environments import environment, run
from tests.integrations.hosts.text_server import ANSWER

pytestmark = pytest.mark.hosts


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_fixture_is_parsed_by_the_engines_own_calls(engine: str) -> None:
    files = environment("engines") / "files"
    script = f"from tests.integrations.hosts.engines import main; main({engine!r}, {str(files)!r})"
    found = json.loads(run("engines", script).splitlines()[-1])
    assert found["wrong"] == []
    assert found["parsed"] > 5000


@pytest.mark.parametrize("name", ["langchain", "llama_index", "openai_agents", "pydantic_ai", "smolagents"])
def test_a_model_without_native_tools_finishes_a_two_step_job(name: str) -> None:
    script = f"from tests.integrations.hosts.frameworks import main; main({name!r})"
    found = json.loads(run(name, script).splitlines()[-1])
    for way in ("whole", "streamed"):
        answer, calls, streamed = found[way]
        assert answer == ANSWER
        assert calls == [["find_user", "Ada"], ["get_balance", "u-17"]]
        assert streamed == [way == "streamed"] * 3, "requests to the model"


def test_litellm_proxy_forwards_five_of_five_forms_with_the_callback() -> None:
    found = json.loads(run("litellm", "from tests.integrations.hosts.litellm_proxy import main; main()").splitlines()[-1])
    assert found == {"without": {"whole": 0, "streamed": 0}, "with": {"whole": 5, "streamed": 5}}
