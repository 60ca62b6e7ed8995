"""Routes: wildcards, providers without an [[upstream]], weights, attempts, and targets that rest after failures."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway import wildcards
from toolglot.gateway.balancing import FAILURES, Balancer
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.routing import Routing

HOME = '[[upstream]]\nname = "home"\nprovider = "ollama"\n'


def routes(*rows: str, **environ: str) -> Config:
    return read_config(HOME + "".join(f"[[route]]\n{row}\n" for row in rows), environ=environ)


@pytest.mark.parametrize(
    ("model", "to", "asked", "reached"),
    [
        ("*", "home/*", "qwen3:8b", "qwen3:8b"),
        ("claude-*", "home/*", "claude-sonnet", "sonnet"),
        ("claude-*", "home/claude-*", "claude-sonnet", "claude-sonnet"),
        ("home/*", "home/*", "home/qwen3:8b", "qwen3:8b"),
        ("*-*", "home/*:*", "qwen3-8b", "qwen3:8b"),
        ("*-*", "home/*", "qwen3-8b", "qwen3"),
        ("gpt-?", "home/*", "gpt-5", "gpt-5"),
        ("gpt-[!4]*", "home/x*", "gpt-5.5", "x.5"),
        ("gpt-[4-5]", "home/qwen", "gpt-5", "qwen"),
        ("exact", "home/*", "exact", "exact"),
        ("a.b+c", "home/m", "a.b+c", "m"),
    ],
)
def test_a_star_carries_what_it_matched(model: str, to: str, asked: str, reached: str) -> None:
    [found] = Routing(routes(f'model = "{model}"\nto = "{to}"')).candidates(asked)
    assert found.name == f"home/{reached}"


@pytest.mark.parametrize(
    ("pattern", "name"), [("a.b", "axb"), ("gpt-?", "gpt-55"), ("gpt-[!4]", "gpt-4"), ("a*", "ba"), ("x", "x\n")]
)
def test_other_names_do_not_match(pattern: str, name: str) -> None:
    assert wildcards.captures(pattern, name) is None
    with pytest.raises(UpstreamError, match="no route"):
        Routing(routes(f'model = "{pattern}"\nto = "home/m"')).candidates(name)


def test_more_stars_than_there_are_is_an_error() -> None:
    with pytest.raises(CallerError, match=r"line 6, \[route\] to: has 2 \*, but model has 1"):
        routes('model = "a-*"\nto = "home/*-*"')


def test_the_list_has_what_wildcards_reach() -> None:
    async def work() -> None:
        names = ["claude-big", "qwen", "gpt-5"]
        async with upstream_server(lambda _: whole({"data": [{"id": name} for name in names]})) as up:
            rows = (
                f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "mine-*"\nto = "u/claude-*"\n'
                '[[route]]\nmodel = "u/*"\nto = "u/*"\n'
                '[[route]]\nmodel = "fast"\nto = "u/qwen"\n'
                '[[route]]\nmodel = "gpt-?"\nto = "u/*"\n'
            )
            async with serving(read_config(rows)) as gateway:
                status, body, _ = await gateway.ask("GET", "/v1/models")
                assert status == 200
                listed = [row["id"] for row in body["data"]]
                assert listed == ["mine-big", "u/claude-big", "u/qwen", "u/gpt-5", "fast"]
                for name in listed:  # each can be used
                    assert gateway.gateway.live.routing.candidates(name)[0].target.route.model in names

    run(work())


# -- a provider of the catalog


def test_a_provider_needs_no_upstream_table() -> None:
    found = routes('model = "gpt-*"\nto = "openai/gpt-*"', OPENAI_API_KEY="sk-from-the-environment")
    [candidate] = Routing(found).candidates("gpt-5")
    assert candidate.name == "openai/gpt-5"
    assert candidate.upstream.row.base_url == "https://api.openai.com/v1"
    assert candidate.target.headers == {"Authorization": "Bearer sk-from-the-environment"}


def test_its_missing_key_is_an_error_with_the_line() -> None:
    with pytest.raises(CallerError, match=r"line 6, \[route\] to: .*OPENAI_API_KEY"):
        routes('model = "gpt-*"\nto = "openai/gpt-5"')
    with pytest.raises(CallerError, match="did you mean openai"):
        routes('model = "gpt-*"\nto = "opnai/gpt-5"')


def test_an_upstream_with_the_name_of_a_provider_wins() -> None:
    text = '[[upstream]]\nname = "vllm"\nprovider = "ollama"\n[[route]]\nmodel = "*"\nto = "vllm/m"\n'
    assert Routing(read_config(text)).candidates("x")[0].upstream.row.name == "ollama"


# -- weights and rest


class Target(msgspec.Struct, frozen=True):
    name: str
    weight: int = 0
    group: str = "*"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def firsts(balancer: Balancer, targets: list[Target], count: int) -> str:
    return "".join(balancer.order(targets)[0].name for _ in range(count))


def test_weights_are_shares_of_the_requests_and_mixed() -> None:
    balancer = Balancer()
    targets = [Target("a", 3), Target("b", 1), Target("c", 1)]
    seen = firsts(balancer, targets, 50)
    assert Counter(seen) == {"a": 30, "b": 10, "c": 10}
    assert "aaaa" not in seen
    assert {one.name for one in balancer.order(targets)} == {"a", "b", "c"}  # the others follow, in case it fails


def test_routes_without_a_weight_keep_their_order() -> None:
    balancer = Balancer()
    targets = [Target("first"), Target("a", 1), Target("last"), Target("b", 1)]
    orders = {tuple(one.name for one in balancer.order(targets)) for _ in range(4)}
    assert orders == {("first", "a", "last", "b"), ("first", "b", "a", "last")}


def test_a_target_rests_after_failures_in_a_row_and_is_tried_last() -> None:
    clock = Clock()
    balancer, targets = Balancer(clock), [Target("a"), Target("b")]
    for _ in range(FAILURES - 1):
        balancer.failed("a", 30.0)
    assert firsts(balancer, targets, 1) == "a"
    balancer.failed("a", 30.0)
    assert [one.name for one in balancer.order(targets)] == ["b", "a"]
    clock.now = 31.0
    assert firsts(balancer, targets, 1) == "a"  # tried again
    balancer.failed("a", 30.0)
    assert firsts(balancer, targets, 1) == "b"  # one failure is enough now
    balancer.worked("a")
    assert firsts(balancer, targets, 1) == "a"


def test_a_target_rests_as_long_as_it_demands_with_a_limit() -> None:
    clock = Clock()
    balancer, targets = Balancer(clock), [Target("a"), Target("b")]
    balancer.failed("a", 30.0, retry_after=1e6)
    assert firsts(balancer, targets, 1) == "b"
    clock.now = 301.0
    assert firsts(balancer, targets, 1) == "a"
    balancer.failed("b", 0.0, retry_after=60.0)  # turned off
    assert [one.name for one in balancer.order([Target("b"), Target("a")])] == ["b", "a"]


def test_targets_that_all_rest_keep_their_order() -> None:
    balancer, targets = Balancer(Clock()), [Target("a"), Target("b")]
    for name in ("a", "b"):
        balancer.failed(name, 30.0, retry_after=9.0)
    assert [one.name for one in balancer.order(targets)] == ["a", "b"]


def test_states_are_bounded() -> None:
    balancer = Balancer()
    for number in range(5000):
        balancer.failed(f"up/{number}", 30.0)
    assert len(balancer._states) == 1024


def ask(up: Any, rows: str, count: int, server: str = "") -> list[str]:
    """The upstream models that received the requests."""

    async def work() -> None:
        base = f'[server]\ndetect = false\n{server}\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{{}}"\n'
        async with upstream_server(up) as server_up, serving(read_config(base.format(server_up.url) + rows)) as gateway:
            for _ in range(count):
                await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "x", ()))
            seen.extend(request.body["model"] for request in server_up.requests)

    seen: list[str] = []
    run(work())
    return seen


def fails(name: str) -> Any:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        if request.body["model"] == name:
            return whole({"error": {"message": "down"}}, 503)
        return response_to(request, text("x"))

    return play


def test_requests_are_shared_between_routes_with_weights() -> None:
    rows = '[[route]]\nmodel = "*"\nto = "u/a"\nweight = 2\n[[route]]\nmodel = "*"\nto = "u/b"\nweight = 1\n'
    assert Counter(ask(lambda request: response_to(request, text("x")), rows, 9)) == {"a": 6, "b": 3}


def test_a_failing_target_is_left_out_after_three_requests() -> None:
    rows = '[[route]]\nmodel = "*"\nto = "u/a"\nattempts = 1\n[[route]]\nmodel = "*"\nto = "u/b"\n'
    assert ask(fails("a"), rows, 5) == ["a", "b", "a", "b", "a", "b", "b", "b"]
    assert ask(fails("a"), rows, 5, "cooldown = 0") == ["a", "b"] * 5


def test_attempts_of_a_route() -> None:
    rows = '[[route]]\nmodel = "*"\nto = "u/a"\nattempts = 3\n[[route]]\nmodel = "*"\nto = "u/b"\n'
    assert ask(fails("a"), rows, 1) == ["a", "a", "a", "b"]


@pytest.mark.parametrize("row", ["attempts = 0", "weight = -1"])
def test_values_out_of_range(row: str) -> None:
    with pytest.raises(CallerError, match=r"line 7, \[route\]"):
        routes(f'model = "*"\nto = "home/m"\n{row}')


def test_a_single_target_is_returned_as_it_is() -> None:
    assert config("http://127.0.0.1:9", "openai-chat").routes[0].target == "*"
    assert Balancer().order([Target("a", 1)]) == (Target("a", 1),)
