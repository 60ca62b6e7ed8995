from __future__ import annotations

from typing import Any

import pytest

from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import provider
from toolglot.core.tools import Choice
from toolglot.errors import CallerError
from toolglot.pipeline.ways import Tally, Way, choose_way, read_way


def known(**facts: Any) -> Profile:
    return Profile(**{"model": "m", "family": "fam", "source": "test", **facts})


def way(profile: Profile, server: str = "ollama", choice: Choice | None = None, **tallies: Tally) -> Way:
    return choose_way(
        "auto", profile, provider(server), choice, {name.replace("__", ":"): held for name, held in tallies.items()}
    )


@pytest.mark.parametrize(
    ("facts", "server", "wanted"),
    [
        ({}, "ollama", "native"),
        ({"family": "unknown", "supports_tools": False}, "ollama", "native"),
        ({"supports_tools": False}, "ollama", "dialect:tagged"),
        ({"supports_tools": False, "parameters": 4.0}, "ollama", "dialect:fenced_json"),
        ({"supports_tools": False, "parameters": 12.0}, "ollama", "dialect:tagged"),
        ({"supports_tools": False, "parameters": 1.0, "dialect": "hermes"}, "ollama", "dialect:hermes"),
        ({"native": {"ollama": False}}, "ollama", "dialect:tagged"),
        ({"native": {"ollama": False}}, "vllm", "native"),
        ({"supports_tools": False, "native": {"vllm": True}}, "vllm", "native"),
        ({"ask": "dialect:fenced_json"}, "ollama", "dialect:fenced_json"),
        ({"ask": "constrained"}, "ollama", "constrained"),
        ({"ask": "constrained"}, "deepseek", "native"),
    ],
)
def test_the_profile_says_how_to_ask(facts: dict[str, Any], server: str, wanted: str) -> None:
    found = way(known(**facts), server)
    assert found.name == wanted
    assert found.why


def test_the_caller_s_word_counts_most() -> None:
    seen = {"native": Tally(50, 50), "dialect:hermes": Tally(50, 0)}
    for asked in ("native", "constrained", "dialect:hermes"):
        found = choose_way(asked, known(ask="native"), provider("ollama"), Choice("required"), seen)
        assert (found.name, found.why) == (asked, "asked for")


@pytest.mark.parametrize("asked", ["", "nativ", "native:x", "dialect", "dialect:", "dialect:nope", "constrained:x", 3, None])
def test_an_unknown_way_is_wrong_use(asked: Any) -> None:
    with pytest.raises(CallerError, match="ask"):
        read_way(asked, provider("ollama"))


def test_a_server_that_can_not_be_held_to_a_schema_says_so() -> None:
    with pytest.raises(CallerError, match="deepseek can't be held to a schema"):
        read_way("constrained", provider("deepseek"))


def test_a_forced_choice_that_the_server_ignores_is_constrained() -> None:
    forced = Choice("required")
    assert way(known(), "ollama", forced).name == "constrained"
    assert way(known(), "openai", forced).name == "native"
    assert way(known(), "ollama", Choice("auto")).name == "native"
    assert way(known(), "ollama", Choice("none")).name == "native"
    assert way(known(ask="dialect:hermes"), "ollama", forced).name == "dialect:hermes"


def test_what_worked_counts_once_there_is_enough_of_it() -> None:
    assert way(known(), native=Tally(8, 1), dialect__hermes=Tally(8, 8)).name == "dialect:hermes"
    assert way(known(), native=Tally(7, 1), dialect__hermes=Tally(8, 8)).name == "native"
    assert way(known(), native=Tally(8, 1), dialect__hermes=Tally(7, 7)).name == "native"
    assert way(known(), native=Tally(100, 80), dialect__hermes=Tally(100, 85)).name == "native"  # within noise
    assert way(known(), dialect__hermes=Tally(100, 100)).name == "native"
    assert way(known(), native=Tally(9, 0), dialect__gone=Tally(9, 9)).name == "native"  # of another version
    assert way(known(), "deepseek", native=Tally(9, 0), constrained=Tally(9, 9)).name == "native"
