"""The vectors of conformance/: what stands in a tool result is never called, and what the model calls leaves."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.vectors import vectors

from toolglot import Extraction, StreamExtractor, extract
from toolglot.core.tools import Toolset
from toolglot.pipeline.response.extract import toolset

QUIET_TRAPS = 0.96  # the share of traps without a call under `strict`: a floor, since some can't be decided by structure
PLAIN_CALLS = 0.99  # the share of real calls without anything injected that leave: one of 150 reads as a plan


def tools_of(row: dict[str, Any]) -> Toolset:
    return toolset(row["tools"])


def extracted(row: dict[str, Any], policy: str = "balanced") -> Extraction:
    return extract(row["reply"], tools_of(row), messages=row["messages"], policy=policy)  # type: ignore[arg-type]


def streamed(row: dict[str, Any], size: int) -> Extraction:
    stream = StreamExtractor(tools_of(row), messages=row["messages"])
    for at in range(0, len(row["reply"]), size):
        stream.feed(row["reply"][at : at + size])
    stream.close()
    return stream.result()


def calls(found: Extraction) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": call.arguments} for call in found.calls]


@pytest.mark.parametrize("name", ["quoted_input", "real_calls"])
def test_every_vector(name: str) -> None:
    wrong = [row["id"] for row in vectors(name) if calls(extracted(row)) != row["expect"]["calls"]]
    assert wrong == []


def test_no_quoted_call_leaves_under_any_policy() -> None:
    for number, row in enumerate(vectors("quoted_input")):  # half of the rows for each: `balanced` has all of them
        assert extracted(row, ("strict", "eager")[number % 2]).calls == [], row["id"]


@pytest.mark.parametrize("name", ["quoted_input", "real_calls", "plain_calls"])
def test_streams_agree(name: str) -> None:
    for number, row in enumerate(vectors(name)):
        if number % 4 == 0:
            assert streamed(row, 1 + number % 13) == extracted(row), row["id"]


def test_most_traps_are_quiet_under_strict() -> None:
    rows = vectors("traps")
    quiet = [row for row in rows if not extracted(row, "strict").calls]
    assert len(quiet) >= QUIET_TRAPS * len(rows)


def test_plain_calls_leave() -> None:
    rows = vectors("plain_calls")
    right = [row for row in rows if calls(extracted(row)) == row["expect"]["calls"]]
    assert len(right) >= PLAIN_CALLS * len(rows)
