"""Budgets: a key that has spent one gets a 429 in its own API, also with several workers and with shared state."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.redis_server import needs_redis, redis_server
from tests.gateway.running import WIRES, Running, config, request_of, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from tests.laws.conversations import stream as recorded
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.budgets import Budget, Spending, Spent, check_budgets
from toolglot.gateway.config import read_config
from toolglot.gateway.records import Record
from toolglot.gateway.redis_state import RedisState

KEYS = 'keys = ["key-one-0123456789"]\nadmin_keys = ["key-two-0123456789"]'
ONE, TWO = "key-one-0123456789", "key-two-0123456789"
PRICE = '[[price]]\nmodel = "m"\ninput = 1000.0\noutput = 4000.0\n'  # a request of 10 and 5 tokens costs 3 cents
NOON = 1_772_366_400.0  # 2026-03-01 12:00 UTC


def record(owner: str, tokens: int = 0, cost: float = 0.0) -> Record:
    return Record("req_1", "anthropic", NOON, owner=owner, target="m", input=tokens, cost=cost)


@pytest.mark.parametrize("wire", WIRES)
def test_a_spent_budget_is_an_error_of_each_api(wire: str) -> None:
    async def work() -> None:
        budget = f'{PRICE}[[budget]]\nkey = "key *"\ndollars = 0.06\nperiod = "day"\n'
        async with upstream_server(in_turn(text("hi"))) as up, serving(config(up, wire, server=KEYS, route=budget)) as gateway:
            path, sent = request_of(wire, question(wire, f"{wire}/m", ()), stream=False)
            for _ in range(2):
                assert (await gateway.ask("POST", path, sent, authorization=f"Bearer {ONE}"))[0] == 200
            status, body, headers = await gateway.ask("POST", path, sent, authorization=f"Bearer {ONE}")
            assert (status, len(up.requests)) == (429, 2)
            assert "this API key has spent its budget of $0.06 per day; it starts again at" in str(body)
            assert headers["x-should-retry"] == "false"
            assert 0 < int(headers["retry-after"]) <= 86_400
            assert has_shape_of(wire, body)
            assert (await gateway.ask("POST", path, sent, authorization=f"Bearer {TWO}"))[0] == 200  # it has its own
            _, live, _ = await gateway.ask("GET", "/toolglot/live", authorization=f"Bearer {ONE}")
            assert live["rows"][0]["code"] == "budget_exceeded"
            _, report, _ = await gateway.ask("GET", "/toolglot/usage", authorization=f"Bearer {TWO}")
            spent = {row["owner"]: row["spent_dollars"] for row in report["budgets"]}
            assert sorted(spent.values()) == [pytest.approx(0.03), pytest.approx(0.06)]
            _, report, _ = await gateway.ask("GET", "/toolglot/usage", authorization=f"Bearer {ONE}")
            assert [row["dollars"] for row in report["budgets"]] == [0.06]
            _, metrics, _ = await gateway.ask("GET", "/metrics", authorization=f"Bearer {TWO}")
            costs = re.findall(
                rb'^toolglot_cost_dollars_total{key="(key [0-9a-f]+)",model="m"} ([0-9.]+)$', metrics, re.MULTILINE
            )
            assert sorted(costs) == sorted((name.encode(), str(round(one, 2)).encode()) for name, one in spent.items())

    run(work())


def has_shape_of(wire: str, body: Any) -> bool:
    error = body["error"]
    return {"anthropic": "rate_limit_error", "gemini": "RESOURCE_EXHAUSTED", "ollama": None}.get(wire, "budget_exceeded") == (
        None
        if isinstance(error, str)
        else error.get("type" if wire == "anthropic" else "status" if wire == "gemini" else "code")
    )


def test_days_and_months_begin_anew_in_utc() -> None:
    at = NOON
    spending = Spending(lambda: at)
    spending(record("ada", tokens=100, cost=2.0))
    assert spending.spent("ada") == {"day": Spent(2.0, 100), "month": Spent(2.0, 100)}
    assert spending.spent("bob")["month"] == Spent()
    at += 86_400
    spending(record("ada", tokens=1))
    assert spending.spent("ada") == {"day": Spent(0.0, 1), "month": Spent(2.0, 101)}
    at += 31 * 86_400
    assert spending.spent("ada") == {"day": Spent(), "month": Spent()}


@pytest.mark.parametrize(
    ("budget", "wait"),
    [(Budget("*", tokens=100, period="day"), 12 * 3600), (Budget("*", dollars=2.0, period="month"), 30.5 * 86_400)],
)
def test_the_wait_is_until_the_period_ends(budget: Budget, wait: float) -> None:
    spent = {"day": Spent(2.0, 100), "month": Spent(2.0, 100)}
    with pytest.raises(UpstreamError) as caught:
        check_budgets([budget], spent, NOON)  # type: ignore[arg-type]
    assert caught.value.retry_after == wait
    check_budgets([Budget("*", tokens=101, dollars=2.01)], spent, NOON)  # type: ignore[arg-type]


@needs_redis
def test_gateways_with_shared_state_share_what_is_spent(tmp_path: Path) -> None:
    async def work() -> None:
        async with redis_server(tmp_path) as server:
            states = RedisState(server.url), RedisState(server.url)
            one, other = Spending(lambda: NOON), Spending(lambda: NOON)
            one(record("ada", tokens=100, cost=1.5))
            other(record("ada", tokens=11))
            for spending, state in zip((one, other, one), (*states, states[0]), strict=True):
                await spending.exchange(state)
            assert one.spent("ada") == other.spent("ada") == {"day": Spent(1.5, 111), "month": Spent(1.5, 111)}
            await one.exchange(states[0])  # nothing is added twice
            assert one.spent("ada")["day"].tokens == 111
            server.kill()
            one(record("ada", tokens=9))
            await one.exchange(states[0])
            assert one.spent("ada")["day"] == Spent(1.5, 120)  # what was known, and its own
            for state in states:
                await state.aclose()

    run(work())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('key = "*"', r"line 1, \[budget\]: needs dollars or tokens"),
        ('key = "*"\ndollars = -1.0', r"line 3, \[budget\] dollars: must be 0"),
        ('key = "*"\ntokens = 5\nperiod = "week"', r"line 4, \[budget\] period: .*week"),
    ],
)
def test_invalid_rows_are_errors_with_their_line(row: str, expected: str) -> None:
    with pytest.raises(CallerError, match=expected):
        read_config(f"[[budget]]\n{row}\n")


BUDGET = '[[budget]]\nkey = "*"\ntokens = 1_000_000\n'


async def tokens_of(gateway: Running) -> int:
    """What the budget counts, once the request has ended."""
    while not gateway.gateway.records.recent():
        await asyncio.sleep(0.01)
    _, report, _ = await gateway.ask("GET", "/toolglot/usage")
    spent: int = report["budgets"][0]["spent_tokens"]
    return spent


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_early_has_spent_tokens(stream: bool) -> None:
    """Four characters are counted as a token."""
    data = recorded("plain_text", "anthropic")

    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return UpstreamResponse(200, {"content-type": "text/event-stream"}, [data[:900], b" "], gap=20.0)

        async with upstream_server(play) as up, serving(config(up, "anthropic", route=BUDGET)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "anthropic/m", words="x" * 4000), stream=stream)
            asking = asyncio.ensure_future(gateway.send("POST", path, sent))
            while not up.requests:
                await asyncio.sleep(0.01)
            if stream:
                await (await asking).aclose()
            else:
                asking.cancel()
            assert 1000 <= await tokens_of(gateway) < 1200

    run(work())


@pytest.mark.parametrize(
    ("usage", "expected"),
    [({"usage": {"prompt_tokens": 7, "completion_tokens": 3}}, 10), ({"prompt_eval_count": 7, "eval_count": 3}, 10), ({}, 27)],
)
def test_tokens_of_endpoints_without_tools_are_counted(usage: dict[str, Any], expected: int) -> None:
    answer = {"choices": [{"text": '"prompt_tokens": 999999, she wrote'}], **usage}

    async def work() -> None:
        async with (
            upstream_server(lambda _: whole(answer)) as up,
            serving(config(up, "openai-chat", route=BUDGET)) as gateway,
        ):
            sent = {"model": "openai-chat/m", "prompt": "a short story"}
            assert (await gateway.ask("POST", "/v1/completions", sent))[:2] == (200, answer)
            assert await tokens_of(gateway) == expected

    run(work())
