"""Profile: what a model can do, and which tool mode works best for it."""

from __future__ import annotations

from typing import Literal

import msgspec

PromptStyle = Literal["standard", "agentic", "hermes"]
MultiTurn = Literal["excellent", "good", "poor"]


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model. `facts` has the source of each field."""

    model: str
    family: str
    source: str  # a catalog row, the user's file, the server, or a guess: as a sentence
    supports_tools: bool = True
    tool_format: str = "openai"  # openai | hermes | a dialect's name
    dialect: str | None = None  # the format in which it writes calls in text
    max_tools: int = 128
    supports_parallel: bool = True
    supports_streaming: bool = True
    supports_nonce: bool = False  # it copies a nonce into its calls: measured, where tools are in the prompt
    prompt_style: PromptStyle = "standard"
    multi_turn: MultiTurn = "good"
    context_length: int | None = None
    parameters: float | None = None  # billions, if the name or the server states it
    native: dict[str, bool] = {}  # by kind of server (ollama, llamacpp, vllm, lmstudio, openrouter, hosted): accepts `tools`
    ask: str | None = None  # the tool mode that works best, if known: native | dialect:<name> | constrained
    reasoning: tuple[str, str] | None = None  # the markers before and after its reasoning in text
    refuses: tuple[str, ...] = ()  # what its chat template rejects: system, late_system, tool, alternation
    vision: bool | None = None  # whether it sees images; None: unknown
    max_output: int | None = None  # the most output tokens of a request, if there is a limit besides the window
    facts: dict[str, str] = {}  # field -> its source, where that is not `source`
    notes: tuple[str, ...] = ()  # contradictions and warnings
