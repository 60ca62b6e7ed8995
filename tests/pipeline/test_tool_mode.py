from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import provider
from toolglot.core.tools import Choice
from toolglot.errors import CallerError
from toolglot.pipeline.request.tool_mode import ModeCount, ToolMode, choose_mode, read_mode


def known(**facts: Any) -> Profile:
    return Profile(**{"model": "m", "family": "fam", "source": "test", **facts})


def tool_mode(profile: Profile, server: str = "ollama", choice: Choice | None = None, **mode_counts: ModeCount) -> ToolMode:
    return choose_mode(
        "auto", profile, provider(server), choice, {name.replace("__", ":"): count for name, count in mode_counts.items()}
    )


@pytest.mark.parametrize(
    ("facts", "server", "wanted"),
    [
        ({}, "ollama", "native"),
        ({"parameters": 7.0}, "ollama", "native"),
        ({"parameters": 4.0}, "ollama", "constrained"),  # small, and not measured
        ({"parameters": 4.0, "ask": "native"}, "ollama", "native"),
        ({"parameters": 4.0}, "ollama-cloud", "dialect:fenced_json"),
        ({"family": "unknown", "supports_tools": False}, "ollama", "native"),  # nobody asked the server
        ({"family": "unknown", "supports_tools": False, "facts": {"family": "its name"}}, "ollama", "constrained"),
        ({"family": "unknown", "native": {"ollama": True}, "facts": {"family": "its name"}}, "ollama", "native"),
        ({"family": "unknown", "supports_tools": False, "parameters": 1.0}, "openai", "native"),
        ({"parameters": 4.0}, "openrouter", "native"),
        ({"supports_tools": False}, "ollama", "constrained"),
        ({"supports_tools": False}, "ollama-cloud", "dialect:tagged"),
        ({"supports_tools": False, "parameters": 4.0}, "ollama-cloud", "dialect:fenced_json"),
        ({"supports_tools": False, "parameters": 12.0}, "ollama-cloud", "dialect:tagged"),
        ({"supports_tools": False, "parameters": 1.0, "dialect": "hermes"}, "ollama-cloud", "dialect:hermes"),
        ({"supports_tools": False}, "openrouter", "dialect:tagged"),
        ({"native": {"ollama": False}}, "ollama", "constrained"),
        ({"native": {"ollama": False}}, "vllm", "native"),
        ({"supports_tools": False, "native": {"vllm": True}}, "vllm", "native"),
        ({"ask": "dialect:fenced_json"}, "ollama", "dialect:fenced_json"),
        ({"ask": "constrained"}, "ollama", "constrained"),
        ({"ask": "constrained"}, "deepseek", "native"),
    ],
)
def test_the_profile_says_how_to_ask(facts: dict[str, Any], server: str, wanted: str) -> None:
    found = tool_mode(known(**facts), server)
    assert found.name == wanted
    assert found.why


def test_the_caller_s_word_counts_most() -> None:
    seen = {"native": ModeCount(50, 50), "dialect:hermes": ModeCount(50, 0)}
    for name in ("native", "constrained", "dialect:hermes"):
        found = choose_mode(name, known(ask="native"), provider("ollama"), Choice("required"), seen)
        assert (found.name, found.why) == (name, "set by the caller")


@pytest.mark.parametrize("name", ["", "nativ", "native:x", "dialect", "dialect:", "dialect:nope", "constrained:x", 3, None])
def test_an_unknown_mode_is_an_error(name: Any) -> None:
    with pytest.raises(CallerError, match="ask"):
        read_mode(name, provider("ollama"))


def test_constrained_mode_needs_server_support() -> None:
    with pytest.raises(CallerError, match="deepseek does not support constrained decoding"):
        read_mode("constrained", provider("deepseek"))


def test_a_forced_choice_that_the_server_ignores_is_constrained() -> None:
    forced = Choice("required")
    row = provider("ollama")
    ignores = msgspec.structs.replace(row, quirks=msgspec.structs.replace(row.quirks, tool_choice=False))
    assert choose_mode("auto", known(), ignores, forced).name == "constrained"
    assert tool_mode(known(), "ollama", forced).name == "native"  # sent, and retried under a schema where it is ignored
    assert tool_mode(known(), "openai", forced).name == "native"
    assert tool_mode(known(), "ollama", Choice("auto")).name == "native"
    assert tool_mode(known(), "ollama", Choice("none")).name == "native"
    assert tool_mode(known(ask="dialect:hermes"), "ollama", forced).name == "constrained"
    assert tool_mode(known(ask="dialect:hermes"), "ollama", Choice("auto")).name == "dialect:hermes"


def test_what_worked_counts_once_there_is_enough_of_it() -> None:
    assert tool_mode(known(), native=ModeCount(8, 1), dialect__hermes=ModeCount(8, 8)).name == "dialect:hermes"
    assert tool_mode(known(), native=ModeCount(7, 1), dialect__hermes=ModeCount(8, 8)).name == "native"
    assert tool_mode(known(), native=ModeCount(8, 1), dialect__hermes=ModeCount(7, 7)).name == "native"
    assert tool_mode(known(), native=ModeCount(100, 80), dialect__hermes=ModeCount(100, 85)).name == "native"  # within noise
    assert tool_mode(known(), dialect__hermes=ModeCount(100, 100)).name == "native"
    assert tool_mode(known(), native=ModeCount(9, 0), dialect__gone=ModeCount(9, 9)).name == "native"  # of another version
    assert tool_mode(known(), "deepseek", native=ModeCount(9, 0), constrained=ModeCount(9, 9)).name == "native"


UNKNOWN = {"family": "unknown", "native": {"ollama": True}, "facts": {"family": "its name"}}


def test_one_failed_call_decides_against_tools_that_are_only_declared() -> None:
    declared, seen = known(**UNKNOWN), known()
    assert tool_mode(declared, native=ModeCount(1, 0)).name == "constrained"
    assert "1 of 1 native calls failed" in tool_mode(declared, native=ModeCount(1, 0)).why
    assert tool_mode(declared, native=ModeCount(4, 3)).name == "native"
    assert tool_mode(seen, native=ModeCount(1, 0)).name == "native"
    assert tool_mode(known(family="unknown"), "openai", native=ModeCount(1, 0)).name == "native"


def test_a_failure_in_the_conversation_decides_too() -> None:
    failed = choose_mode("auto", known(), provider("ollama"), None, failure="a call came as text instead")
    assert (failed.name, failed.why) == ("constrained", "a call came as text instead; ollama can constrain the answer")
    assert choose_mode("auto", known(), provider("openai"), None, failure="it failed").name == "native"
    assert choose_mode("native", known(), provider("ollama"), None, failure="it failed").name == "native"
    assert choose_mode("auto", known(dialect="hermes"), provider("ollama-cloud"), None, failure="it").name == "dialect:hermes"
