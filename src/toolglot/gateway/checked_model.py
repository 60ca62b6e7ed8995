"""What a check of a model found: `model_check` makes it, and commands read it from a running gateway."""

from __future__ import annotations

import msgspec


class ModelCheck(msgspec.Struct, frozen=True):
    """`problem`: why a request would fail, and what to do; empty if nothing is known to be wrong."""

    upstream: str
    provider: str
    target: str
    address: str
    problem: str = ""
    window: int | None = None  # tokens; None: unknown
    cut_at: int | None = None  # the upstream silently cuts longer prompts, unless it is configured otherwise
    supports_tools: bool = True  # False: toolglot puts the tools into the prompt
    notes: tuple[str, ...] = ()
