"""How to ask a model for calls: with the server's own tools, in a dialect by prompt, or under a schema.

Who says so, in this order: the caller; a forced choice that the server would ignore; what has worked with this model on this
server; its profile; and where nothing is known, what works best in general.
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

SMALL = 4.0  # billions of parameters: up to here a model does best without wrappers
FOR_SMALL, FOR_OTHERS = "fenced_json", "tagged"
_ENOUGH = 8  # tries of a way before what was seen counts
_CLEARLY = 0.15  # how much better another way must have done


class Way(msgspec.Struct, frozen=True):
    """`name` is as the caller writes it: native, constrained or dialect:<name>."""

    kind: Literal["native", "dialect", "constrained"]
    dialect: str | None = None
    why: str = ""

    @property
    def name(self) -> str:
        return f"dialect:{self.dialect}" if self.kind == "dialect" else self.kind


class Tally(msgspec.Struct, frozen=True):
    """How often a way was tried, and how often a good call came of it."""

    tried: int = 0
    good: int = 0

    @property
    def share(self) -> float:
        return (self.good + 1) / (self.tried + 2)  # careful where little was seen


Tallies = Mapping[str, Tally]  # by a way's name


def choose_way(asked: str, profile: Profile, row: Provider, choice: Choice | None, tallies: Tallies = {}) -> Way:  # noqa: B006
    if asked != "auto":
        return read_way(asked, row)
    usual = _usual(profile, row)
    ignored = choice is not None and choice.mode == "required" and not row.quirks.tool_choice
    if ignored and usual.kind == "native" and row.constrains:
        return Way("constrained", why=f"{row.name} ignores tool_choice, and a schema does not let the model choose")
    return _seen(usual, tallies, row) or usual


def read_way(asked: str, row: Provider) -> Way:
    """As the caller wants it, or why not."""
    if not isinstance(asked, str):
        raise CallerError(f"a way of asking is auto, native, constrained or dialect:<name>; got {asked!r}", "ask")
    kind, colon, name = asked.partition(":")
    if kind == "native" and not colon:
        return Way("native", why="asked for")
    if kind == "constrained" and not colon:
        if not row.constrains:
            raise CallerError(f"{row.name} can't be held to a schema: ask native or dialect:<name>", "ask")
        return Way("constrained", why="asked for")
    if kind == "dialect" and colon:
        if find_dialect(name) is None:
            raise CallerError(unknown("dialect", name, list(dialect_names())), "ask")
        return Way("dialect", name, "asked for")
    raise CallerError(unknown("way of asking", asked, ["auto", "native", "constrained", "dialect:<name>"]), "ask")


def _usual(profile: Profile, row: Provider) -> Way:
    """What the profile says, or the best guess."""
    if profile.ask is not None and (profile.ask != "constrained" or row.constrains):
        way = read_way(profile.ask, row)
        return Way(way.kind, way.dialect, f"best for {profile.family} (`toolglot models {profile.model}` says why)")
    kind = server_kind(row.name)
    if profile.family == UNKNOWN:
        return Way("native", why="nothing is known of this model: its server is taken at its word")
    if profile.native.get(kind, profile.supports_tools):
        return Way("native", why=f"{profile.family} takes tools on {kind}")
    if profile.dialect is not None:
        return Way(
            "dialect", profile.dialect, f"{profile.family} takes no tools on {kind}, and writes calls as {profile.dialect}"
        )
    small = profile.parameters is not None and profile.parameters <= SMALL
    general = FOR_SMALL if small else FOR_OTHERS
    return Way("dialect", general, f"{profile.family} takes no tools on {kind}; {general} works best in general")


def _seen(usual: Way, tallies: Tallies, row: Provider) -> Way | None:
    """A way that has clearly done better than the usual one, where both were tried often enough."""
    own = tallies.get(usual.name)
    if own is None or own.tried < _ENOUGH:
        return None
    known = {name: tally for name, tally in tallies.items() if tally.tried >= _ENOUGH and name != usual.name}
    best = max(known, key=lambda name: (known[name].share, name), default=None)
    if best is None or known[best].share < own.share + _CLEARLY:
        return None
    try:
        way = read_way(best, row)
    except CallerError:  # what is remembered may be of another version
        return None
    told = f"{known[best].good} of {known[best].tried} calls were good so, and {own.good} of {own.tried} asked {usual.name}"
    return Way(way.kind, way.dialect, told)
