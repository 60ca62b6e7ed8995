"""Choose the tool mode of a request: native tools, a prompted dialect, or constrained decoding.

In this order: the caller's `ask`; a required tool choice that the server ignores; what worked before with this model on this
server; the model's profile; a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import UNKNOWN, server_kind
from toolglot.catalog.providers import Provider, unknown
from toolglot.core.tools import Choice
from toolglot.dialects import dialect_names, find_dialect
from toolglot.errors import CallerError

SMALL = 4.0  # billions of parameters: up to this size, models do best without wrappers
SMALL_MODEL_DIALECT, DEFAULT_DIALECT = "fenced_json", "tagged"
_MIN_TRIES = 8  # tries of a mode before its statistics count
_MIN_GAIN = 0.15  # how much better another mode must be


class ToolMode(msgspec.Struct, frozen=True):
    """`name` is the value of `ask`: native, constrained or dialect:<name>."""

    kind: Literal["native", "dialect", "constrained"]
    dialect: str | None = None
    why: str = ""

    @property
    def name(self) -> str:
        return f"dialect:{self.dialect}" if self.kind == "dialect" else self.kind


class ModeCount(msgspec.Struct, frozen=True):
    """How often a mode was tried, and how often the call was good."""

    tried: int = 0
    good: int = 0

    @property
    def share(self) -> float:
        return (self.good + 1) / (self.tried + 2)  # smoothed for few tries


ModeCounts = Mapping[str, ModeCount]  # by the name of the mode


def choose_mode(name: str, profile: Profile, row: Provider, choice: Choice | None, mode_counts: ModeCounts = {}) -> ToolMode:  # noqa: B006
    if name != "auto":
        return read_mode(name, row)
    default = _default_mode(profile, row)
    ignored = choice is not None and choice.mode == "required" and not row.quirks.tool_choice
    if ignored and default.kind == "native" and row.constrains:
        return ToolMode("constrained", why=f"{row.name} ignores tool_choice, but supports constrained decoding")
    return _better_mode(default, mode_counts, row) or default


def read_mode(name: str, row: Provider) -> ToolMode:
    """Parse the value of `ask`."""
    if not isinstance(name, str):
        raise CallerError(f"expected auto, native, constrained or dialect:<name>; got {name!r}", "ask")
    kind, colon, dialect = name.partition(":")
    if kind == "native" and not colon:
        return ToolMode("native", why="set by the caller")
    if kind == "constrained" and not colon:
        if not row.constrains:
            raise CallerError(f"{row.name} does not support constrained decoding: use native or dialect:<name>", "ask")
        return ToolMode("constrained", why="set by the caller")
    if kind == "dialect" and colon:
        if find_dialect(dialect) is None:
            raise CallerError(unknown("dialect", dialect, list(dialect_names())), "ask")
        return ToolMode("dialect", dialect, "set by the caller")
    raise CallerError(unknown("tool mode", name, ["auto", "native", "constrained", "dialect:<name>"]), "ask")


def _default_mode(profile: Profile, row: Provider) -> ToolMode:
    """The mode of the profile, or the best guess."""
    if profile.ask is not None and (profile.ask != "constrained" or row.constrains):
        tool_mode = read_mode(profile.ask, row)
        return ToolMode(tool_mode.kind, tool_mode.dialect, f"best for {profile.family} (see `toolglot models {profile.model}`)")
    kind = server_kind(row.name)
    if profile.family == UNKNOWN:
        return ToolMode("native", why="unknown model: using the server's native tools")
    if profile.native.get(kind, profile.supports_tools):
        return ToolMode("native", why=f"{profile.family} supports tools on {kind}")
    if profile.dialect is not None:
        return ToolMode(
            "dialect",
            profile.dialect,
            f"{profile.family} does not support tools on {kind}; it writes {profile.dialect}",
        )
    small = profile.parameters is not None and profile.parameters <= SMALL
    general = SMALL_MODEL_DIALECT if small else DEFAULT_DIALECT
    return ToolMode("dialect", general, f"{profile.family} does not support tools on {kind}; {general} is the default")


def _better_mode(default: ToolMode, mode_counts: ModeCounts, row: Provider) -> ToolMode | None:
    """A mode that is clearly better than the default, if both were tried often enough."""
    count = mode_counts.get(default.name)
    if count is None or count.tried < _MIN_TRIES:
        return None
    known = {name: tally for name, tally in mode_counts.items() if tally.tried >= _MIN_TRIES and name != default.name}
    best = max(known, key=lambda name: (known[name].share, name), default=None)
    if best is None or known[best].share < count.share + _MIN_GAIN:
        return None
    try:
        tool_mode = read_mode(best, row)
    except CallerError:  # the statistics may be from another version
        return None
    why = (
        f"{known[best].good} of {known[best].tried} calls were good, against {count.good} of {count.tried} with {default.name}"
    )
    return ToolMode(tool_mode.kind, tool_mode.dialect, why)
