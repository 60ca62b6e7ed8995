"""The 36 translations, whole and streamed: from every wire to every wire, nothing is lost but what is declared."""

from __future__ import annotations

from typing import Any

import pytest

from tests.for_each import for_each
from tests.laws.conversations import CASES, body, events, meaning, pieces, stream, the_wire
from tests.laws.losses import declared, differences, undeclared
from toolglot import convert, convert_stream
from toolglot.core.fold import fold
from toolglot.core.names import sanitize_names
from toolglot.pipeline.response.restore_names import restore_reply
from toolglot.wires import NAMES

ALL = [(source, target) for source in NAMES for target in NAMES]
# state and structured channels are tested per wire; between wires only the meaning counts
ELSEWHERE = {"reply.parts.*.channel", "reply.parts.*.extra", "reply.extra", "request.extra"}


def allowed(case: str, *wires: str) -> set[str]:
    return declared(case, *wires) | ELSEWHERE


def shared(case: str, *wires: str) -> Any:
    """The request with tool names that all of these wires allow."""
    request = meaning(case).request
    for wire in wires:
        request = sanitize_names(request, the_wire(wire).names)
    return request


@pytest.mark.parametrize(("source", "target"), ALL)
@for_each("case", CASES)
def test_a_request_keeps_its_meaning(case: str, source: str, target: str) -> None:
    written = convert(body(case, source, "request"), source, target, "request")
    read = the_wire(target).read_request(written)
    assert undeclared(differences(shared(case, source, target), read, "request"), allowed(case, source, target)) == set()


@pytest.mark.parametrize(("source", "target"), ALL)
@for_each("case", CASES)
def test_a_response_keeps_its_meaning(case: str, source: str, target: str) -> None:
    tools = meaning(case).request.tools
    written = convert(body(case, source, "reply"), source, target, "response", tools=tools)
    read = restore_reply(the_wire(target).read_reply(written, None), tools, the_wire(target).names)
    assert undeclared(differences(meaning(case).reply, read, "reply"), allowed(case, source, target)) == set()


@pytest.mark.parametrize(("source", "target"), ALL)
@for_each("case", CASES)
def test_a_stream_keeps_its_meaning(case: str, source: str, target: str) -> None:
    tools = meaning(case).request.tools
    written = b"".join(convert_stream(pieces(stream(case, source), 17), source, target, tools=tools))
    read = restore_reply(fold(events(target, pieces(written, 13))), tools, the_wire(target).names)
    assert undeclared(differences(meaning(case).reply, read, "reply"), allowed(case, source, target)) == set()
