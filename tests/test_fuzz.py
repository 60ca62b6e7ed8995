"""The fuzzer works: every target holds its laws for a few inputs, and the seeds reach every endpoint of the gateway."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz import endpoints
from fuzz.run import Fuzzer
from fuzz.targets import TARGETS

from toolglot.gateway.endpoints import EXACT, PATTERNS

NEED_MORE = (b"/v1/files", b"POST /v1/batches", b"/v1/responses/compact")


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_its_laws(name: str, tmp_path: Path) -> None:
    fuzzer = Fuzzer(name, tmp_path, Random(1))  # noqa: S311
    for _ in range(200):
        fuzzer.round()
    assert (fuzzer.ran, fuzzer.found) == (200, 0), fuzzer.kinds
    assert len(fuzzer.seen) > 5


def test_the_seeds_reach_every_endpoint() -> None:
    asked = [data.split(b"\n")[0].decode().partition("?")[0].split(" ") for _, data in endpoints.seeds()]
    for method, path in EXACT:
        assert [method, path] in asked
    for method, pattern, _ in PATTERNS:
        assert any(method == tried and pattern.fullmatch(path) for tried, path in asked), pattern
    for options, data in endpoints.seeds():
        line = data.partition(b"\n")[0]
        _, _, status, *_ = endpoints.check(options, data)
        needs_more = any(path in line for path in NEED_MORE)  # a form, an uploaded file, a conversation
        assert status in (200, 404, 405) or (needs_more and status == 400), line
