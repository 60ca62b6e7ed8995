"""What a model can do, and how it should be asked."""

from __future__ import annotations

from typing import Literal

import msgspec

PromptStyle = Literal["standard", "agentic", "hermes"]
MultiTurn = Literal["excellent", "good", "poor"]


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model, as far as it is known. `facts` says for each field where it comes from."""

    model: str
    family: str
    source: str  # a catalog row, the user's file, asked the server, or guessed: in words
    supports_tools: bool = True
    tool_format: str = "openai"  # openai | hermes | a dialect's name
    dialect: str | None = None  # how it writes calls in text
    max_tools: int = 128
    supports_parallel: bool = True
    supports_streaming: bool = True
    prompt_style: PromptStyle = "standard"
    multi_turn: MultiTurn = "good"
    context_length: int | None = None
    parameters: float | None = None  # billions, where the name or the server tells
    native: dict[str, bool] = {}  # by kind of server (ollama, llamacpp, vllm, lmstudio, openrouter, hosted): takes `tools`
    ask: str | None = None  # the way of asking that works best, where it is known: native | dialect:<name> | constrained
    decides: bool = True  # it can tell whether a call is due; where not, the layer does (`pipeline/gate.py`)
    reasoning: tuple[str, str] | None = None  # how its thoughts begin and end in text
    refuses: tuple[str, ...] = ()  # what its chat template can't take: system, tool, alternation
    facts: dict[str, str] = {}  # field -> where it comes from, where that is not `source`
    notes: tuple[str, ...] = ()  # contradictions and warnings, for people
