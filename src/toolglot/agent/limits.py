"""How far a run may go."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """None: no limit. Tokens are those of all turns together, in and out."""

    turns: int = 12  # how often the model is asked
    tokens: int | None = None
    seconds: float | None = None
    refusals: int = 2  # replies in a row with a call that the guard refuses, and that goes back to the model
    repeats: int = 3  # the same call for the so-manieth time, if it gave the same result each time before
