"""The limits of a run."""

from __future__ import annotations

from typing import Annotated

import msgspec

_Count = Annotated[int, msgspec.Meta(ge=0)]


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """None: no limit. Tokens are input and output tokens of all turns."""

    turns: int = 12  # requests to the model
    tokens: _Count | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    refusals: _Count = 2  # replies in a row with a rejected call, which goes back to the model
    repeats: int = 3  # a call with the same arguments and the same result each time
