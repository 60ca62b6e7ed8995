"""Law 1: read(write(x)) == x, except for declared losses; and each declared loss does occur."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.laws.conversations import CASES, PAIRS, body, events, meaning, stream, the_wire
from tests.laws.losses import Loss, declared, differences, losses, undeclared
from toolglot.core.fold import fold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.names import sanitize_names
from toolglot.core.request import Request
from toolglot.pipeline.response.restore_names import restore_reply


def as_sent(case: str, wire: str) -> Request:
    return sanitize_names(meaning(case).request, the_wire(wire).names)


def request_losses(case: str, wire: str) -> tuple[set[str], list[str]]:
    notes: list[str] = []
    written = the_wire(wire).write_request(as_sent(case, wire), notes, Quirks())
    return differences(as_sent(case, wire), the_wire(wire).read_request(written), "request"), notes


def reply_losses(case: str, wire: str) -> tuple[set[str], list[str]]:
    notes: list[str] = []
    expected = meaning(case)
    written = the_wire(wire).write_reply(expected.reply, ResponseContext(), notes)
    read = restore_reply(the_wire(wire).read_reply(written, _channel(case)), expected.request.tools, the_wire(wire).names)
    return differences(expected.reply, read, "reply"), notes


def _channel(case: str) -> str | None:
    return "json" if meaning(case).request.output else None


@for_each(("case", "wire"), PAIRS)
def test_a_request_is_written_as_the_fixture_has_it(case: str, wire: str) -> None:
    written = the_wire(wire).write_request(as_sent(case, wire), [], Quirks())
    assert written == body(case, wire, "request")


@for_each(("case", "wire"), PAIRS)
def test_a_request_is_read_with_its_meaning(case: str, wire: str) -> None:
    found = differences(as_sent(case, wire), the_wire(wire).read_request(body(case, wire, "request")), "request")
    assert undeclared(found, declared(case, wire)) == set()


@for_each(("case", "wire"), PAIRS)
def test_a_request_round_trips(case: str, wire: str) -> None:
    found, notes = request_losses(case, wire)
    assert undeclared(found, declared(case, wire)) == set()
    assert notes or not undeclared(found, declared(case, wire, silent=True)), f"lost without a note: {found}"


@for_each(("case", "wire"), PAIRS)
def test_a_reply_is_read_with_its_meaning(case: str, wire: str) -> None:
    expected = meaning(case)
    read = the_wire(wire).read_reply(body(case, wire, "reply"), _channel(case))
    read = restore_reply(read, expected.request.tools, the_wire(wire).names)
    assert undeclared(differences(expected.reply, read, "reply"), declared(case, wire)) == set()


@for_each(("case", "wire"), PAIRS)
def test_a_reply_round_trips(case: str, wire: str) -> None:
    found, _ = reply_losses(case, wire)
    assert undeclared(found, declared(case, wire)) == set()


@pytest.mark.parametrize("loss", losses(), ids=lambda loss: f"{loss.wire} {loss.path}")
def test_each_declared_loss_still_occurs(loss: Loss) -> None:
    for case in loss.cases or CASES:
        found = request_losses(case, loss.wire)[0] | reply_losses(case, loss.wire)[0] | fixture_losses(case, loss.wire)
        occurs = any(path == loss.path or path.startswith(f"{loss.path}.") for path in found)
        if occurs and not loss.cases:
            return
        assert occurs or not loss.cases, f"{case}: declared in losses.toml, but nothing is lost there"
    assert loss.cases, "declared in losses.toml, but nothing is lost there"


def fixture_losses(case: str, wire: str) -> set[str]:
    """What is missing in the vendor's reply, whole and streamed."""
    expected = meaning(case)
    whole = the_wire(wire).read_reply(body(case, wire, "reply"), _channel(case))
    streamed = fold(events(wire, iter([stream(case, wire)]), _channel(case)))
    both = [restore_reply(read, expected.request.tools, the_wire(wire).names) for read in (whole, streamed)]
    return {path for read in both for path in differences(expected.reply, read, "reply")}
