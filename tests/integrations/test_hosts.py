"""toolglot inside the packages it plugs into, each in its own environment: `TOOLGLOT_HOSTS=1 pytest tests/integrations`."""

from __future__ import annotations

import json

import pytest

from tests.integrations.hosts.environments import environment, run

pytestmark = pytest.mark.hosts


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_fixture_is_parsed_by_the_engines_own_calls(engine: str) -> None:
    files = environment("engines") / "files"
    script = f"from tests.integrations.hosts.engines import main; main({engine!r}, {str(files)!r})"
    found = json.loads(run("engines", script).splitlines()[-1])
    assert found["wrong"] == []
    assert found["parsed"] > 5000
