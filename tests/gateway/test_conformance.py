"""The vectors of conformance/ over HTTP: no quoted call leaves the gateway, and every real one does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from conformance.vectors import vectors

from tests.gateway.running import WIRES, config, run, serving
from tests.gateway.scripts import response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server

MARK = re.compile(r"tool_call ([0-9a-f]{8})")
ID = re.compile(r"(?:quoted|call)-[\w-]+")
Row = dict[str, Any]
Call = dict[str, Any]
Retry = Callable[[Row, str], str]  # what the model writes when it is asked again with a mark


def marked(calls: list[Call], mark: str) -> str:
    return "\n\n".join(f"~~~tool_call {mark}\n{json.dumps(call)}\n~~~" for call in calls)


def follows(row: Row, mark: str) -> str:
    """Marks the calls that it means, and those alone."""
    return marked(row["expect"]["calls"], mark) or "I only quoted it."


def repeats(row: Row, _: str) -> str:
    """Pays no attention to the mark."""
    return str(row["reply"])


def means_it(row: Row, mark: str) -> str:
    """Makes a quoted call its own."""
    return marked(row["planted"][:1], mark)


async def over_http(rows: list[Row], wire: str, *retries: Retry) -> dict[str, tuple[list[Call], bool]]:
    """The calls that leave, and whether the model was asked again, by row. Kinds of model and streaming take turns."""
    by_id = {row["id"]: (row, retries[number % len(retries)]) for number, row in enumerate(rows)}
    asked_again: set[str] = set()

    def play(request: UpstreamRequest) -> UpstreamResponse:
        found = ID.search(request.path) or ID.search(request.body["model"])
        assert found is not None
        row, retry = by_id[found[0]]
        mark = MARK.search(str(request.body))
        if mark is not None:
            asked_again.add(row["id"])
        return response_to(request, text(row["reply"] if mark is None else retry(row, mark[1])))

    left = {}
    async with upstream_server(play) as up, serving(config(up)) as gateway:
        for number, row in enumerate(rows):
            body = {"model": f"{wire}/{row['id']}", "messages": row["messages"], "tools": row["tools"]}
            reply = await gateway.reply("openai-chat", body, stream=number % 4 < 2)
            left[row["id"]] = (
                [{"name": call.name, "arguments": call.arguments} for call in reply.calls],
                row["id"] in asked_again,
            )
    return left


def share(name: str, wire: str) -> list[Row]:
    """Each upstream's wire gets a fifth of the rows."""
    return list(vectors(name)[WIRES.index(wire) :: len(WIRES)])


@pytest.mark.parametrize("wire", WIRES)
def test_no_quoted_call_leaves(wire: str) -> None:
    async def work() -> None:
        left = await over_http(share("quoted_input", wire), wire, follows, repeats)
        assert [id for id, (calls, _) in left.items() if calls] == []

    run(work())


@pytest.mark.parametrize("wire", WIRES)
def test_every_real_call_leaves(wire: str) -> None:
    async def work() -> None:
        rows = share("real_calls", wire)
        left = await over_http(rows, wire, follows)
        assert [row["id"] for row in rows if left[row["id"]][0] != row["expect"]["calls"]] == []

    run(work())


@pytest.mark.parametrize("wire", WIRES)
def test_a_quoted_call_that_is_meant_leaves_with_its_mark(wire: str) -> None:
    async def work() -> None:
        rows = share("quoted_input", wire)[::3]
        left = await over_http(rows, wire, means_it)
        assert any(again for _, again in left.values())
        for row in rows:
            calls, again = left[row["id"]]
            assert calls == (row["planted"][:1] if again else []), row["id"]

    run(work())
