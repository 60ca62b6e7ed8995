"""How far a run may go."""

from __future__ import annotations

from typing import Annotated

import msgspec

_Counted = Annotated[int, msgspec.Meta(ge=0)]


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """None: no limit. Tokens are those of all turns together, in and out."""

    turns: int = 12  # how often the model is asked
    tokens: _Counted | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    refusals: _Counted = 2  # replies in a row with a call that the guard refuses, and that goes back to the model
    repeats: int = 3  # the same call for the so-manieth time, if it gave the same result each time before
