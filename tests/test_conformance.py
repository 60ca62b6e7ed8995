"""The vectors are what they claim to be, and toolglot passes them, as any other implementation would: through an adapter."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance import build, validate
from conformance.adapter import Adapter
from conformance.facts import WIRES, expected, facts
from conformance.judge import is_same, judge
from conformance.mutations import MUTATIONS, SOURCE, Mutation, Planter, planted
from conformance.vectors import GROUPS, vectors

from tests.for_each import for_each

ROOT = Path(__file__).parents[1]
OURS = [sys.executable, str(ROOT / "conformance" / "adapters" / "toolglot_adapter.py")]


@pytest.fixture(scope="module")
def toolglot() -> Iterator[Adapter]:
    with Adapter(OURS) as adapter:
        yield adapter


def adapter_that(tmp_path: Path, answer: str) -> Adapter:
    """An adapter with one answer, a Python expression over `given`."""
    script = tmp_path / "adapter.py"
    script.write_text(
        f"import json, sys\nfor line in sys.stdin:\n    given = json.loads(line)\n    print(json.dumps({answer}), flush=True)\n"
    )
    return Adapter([sys.executable, str(script)])


def failures(adapter: Adapter, group: str, cuts: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    return [(name, wrong) for name, wrong in judge(adapter, group, cuts=cuts) if wrong is not None]


# -- the rows


def test_every_row_is_as_the_schema_says() -> None:
    assert list(validate.shape_problems(ROOT / "conformance")) == []


@pytest.mark.parametrize("group", build.BUILT)
def test_the_built_rows_are_as_the_fixtures_are(group: str) -> None:
    assert json.loads(json.dumps(list(build.BUILT[group]()))) == list(vectors(group))


def test_every_file_is_a_group() -> None:
    assert {path.stem for path in (ROOT / "conformance" / "vectors").iterdir()} == set(GROUPS)


# -- toolglot


@pytest.mark.parametrize("group", ["text", "values", "arguments", "prefix"])
def test_toolglot_passes(toolglot: Adapter, group: str) -> None:
    assert failures(toolglot, group) == []


def test_toolglot_translates_everything(toolglot: Adapter) -> None:
    assert failures(toolglot, "wires", cuts=(7,)) == []


def test_an_operation_that_it_does_not_have_does_not_count(toolglot: Adapter) -> None:
    answer = {"op": "sing"}
    assert toolglot._process.stdin is not None
    assert toolglot._process.stdout is not None
    toolglot._process.stdin.write(json.dumps(answer) + "\n")
    toolglot._process.stdin.flush()
    assert json.loads(toolglot._process.stdout.readline()) == {"unsupported": True}


# -- the judge


def test_whoever_finds_nothing_fails_where_there_are_calls(tmp_path: Path) -> None:
    with adapter_that(tmp_path, '{"calls": [], "text": given["text"]}') as adapter:
        assert len(failures(adapter, "real_calls")) == len(vectors("real_calls"))
        assert failures(adapter, "quoted_input") == []


def test_whoever_loses_pieces_fails(tmp_path: Path) -> None:
    with adapter_that(tmp_path, '{"calls": [], "text": given["text"] if not given["cut"] else ""}') as adapter:
        assert len(failures(adapter, "traps", cuts=(7,))) == len(vectors("traps"))


def test_whoever_passes_bodies_on_as_they_are_fails(tmp_path: Path) -> None:
    with adapter_that(tmp_path, '{"body": given["body"]}') as adapter:
        names = {name for name, _ in failures(adapter, "wires")}
    assert len(names) > 0.7 * len(vectors("wires")) * (len(WIRES) - 1)


def test_what_is_not_supported_does_not_count(tmp_path: Path) -> None:
    with adapter_that(tmp_path, '{"unsupported": True}') as adapter:
        assert [list(judge(adapter, group)) for group in GROUPS] == [[]] * len(GROUPS)


def test_numbers_are_equal_by_value_and_nothing_else_is() -> None:
    assert is_same({"a": [3.0, "3"]}, {"a": [3, "3"]})
    for found, wanted in ((True, 1), (1, True), ("3", 3), ([1], [1, 2]), ({"a": 1}, {"a": 1, "b": 2}), (None, 0), ([], {})):
        assert not is_same(found, wanted), (found, wanted)


def test_a_stream_states_what_the_whole_states() -> None:
    known = {(row["case"], row["kind"], row["wire"]): row["body"] for row in vectors("wires")}
    for (case, kind, wire), body in known.items():
        if kind == "stream" and (case, wire) != ("truncated_call", "anthropic"):  # the whole has no place for half a call
            assert facts(wire, kind, body) == facts(wire, "response", known[case, "response", wire]), (case, wire)


def test_nearly_all_facts_are_compared() -> None:
    """What both fixtures state alike. A reader of facts that reads nothing, or always the same, would lower or raise this."""
    known: dict[tuple[str, str], dict[str, dict[str, object]]] = {}
    for row in vectors("wires"):
        known.setdefault((row["case"], row["kind"]), {})[row["wire"]] = facts(row["wire"], row["kind"], row["body"])
    counts = [
        (len(expected(apis[source], apis[target])), sum(value is not None for value in apis[target].values()))
        for apis in known.values()
        for source in WIRES
        for target in WIRES
        if source != target
    ]
    compared, stated = (sum(count) for count in zip(*counts, strict=True))
    assert compared >= 9_000
    assert compared >= 0.9 * stated


# -- planted bugs


@for_each("mutation", MUTATIONS)
def test_each_bug_can_be_planted(mutation: Mutation) -> None:
    """`python -m conformance.mutations` plants all of them, and sees that the vectors find each; here one is tried."""
    text = (SOURCE / mutation.file).read_text(encoding="utf-8")
    compile(planted(mutation, text), mutation.file, "exec")


def test_a_planted_bug_is_found(tmp_path: Path) -> None:
    assert Planter(tmp_path).first_failure(MUTATIONS[-1]) is not None
    assert len(MUTATIONS) >= 30
