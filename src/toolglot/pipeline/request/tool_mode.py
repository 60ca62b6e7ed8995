"""Choose the tool mode of a request by evidence: native tools, constrained decoding, or a prompted dialect.

In this order: the caller's `ask`; a required tool choice that the server ignores; what worked before with this model on this
server; the model's profile. A hosted API is asked natively. Elsewhere native tools count as seen to work where the row says so
for this server and the model is not small: what a small model makes of tools depends on how it is asked far more than on the
model. Else the server constrains the answer if it can, or the model is prompted. One failed native call decides against
native tools that are only declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import UNKNOWN, server_kind
from toolglot.catalog.providers import Provider, unknown
from toolglot.core.messages import Message, Part, ToolCall, ToolResult
from toolglot.core.tools import Choice
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import CallerError
from toolglot.pipeline.response.call_ids import TEXT_ID, TEXT_ID_START

SMALL = 4.0  # billions of parameters: up to this size, models do best without wrappers
SMALL_MODEL_DIALECT, DEFAULT_DIALECT = "fenced_json", "tagged"
_MIN_TRIES = 8  # tries of a mode before its statistics count
_MIN_GAIN = 0.15  # how much better another mode must be
_COMPARED = 4  # results of the same call; more would make long conversations slow
AS_TEXT, REPEATED = "a call came as text instead", "a call with a result was made again"
_FEW_BAD = 0.75  # the share of good calls below which declared native tools are not used


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


def choose_mode(
    name: str,
    profile: Profile,
    row: Provider,
    choice: Choice | None,
    mode_counts: ModeCounts = {},  # noqa: B006
    *,
    failure: str = "",
) -> ToolMode:
    """`failure`: what shows that native tools failed in this conversation."""
    if name != "auto":
        return read_mode(name, row)
    default = _default_mode(profile, row)
    better = _better_mode(default, mode_counts, row)
    if better is None and default.kind == "native" and is_queried(row):
        count = mode_counts.get("native", ModeCount())
        if is_declared(profile, row) and count.good < _FEW_BAD * count.tried:
            failure = failure or f"{count.tried - count.good} of {count.tried} native calls failed"
        if failure:
            default = _without_native(profile, row, failure)
    required = choice is not None and choice.mode == "required"
    if required and row.constrains and (default.kind == "dialect" or (default.kind == "native" and not row.quirks.tool_choice)):
        ignored = "ignores tool_choice, but " if default.kind == "native" else ""
        return ToolMode("constrained", why=f"a call is required: {row.name} {ignored}supports constrained decoding")
    return better or default


def is_queried(row: Provider) -> bool:
    """Whether it is somebody's own server, which may run any model in any way. A hosted API is asked natively."""
    return server_kind(row.name) not in ("hosted", "openrouter")


def known_by(profile: Profile) -> str:
    """The evidence for the model's family."""
    return profile.facts.get("family", "its name")


def is_declared(profile: Profile, row: Provider) -> bool:
    """Whether native tools are only declared: not measured, and in no row about the model that surely runs."""
    if profile.ask == "native" or not is_queried(row):
        return False
    return profile.family == UNKNOWN or profile.source.startswith("guessed") or "template" in profile.facts.get("family", "")


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
            raise CallerError(unknown("dialect", dialect, known_dialects()), "ask")
        return ToolMode("dialect", dialect, "set by the caller")
    raise CallerError(unknown("tool mode", name, ["auto", "native", "constrained", "dialect:<name>"]), "ask")


def _default_mode(profile: Profile, row: Provider) -> ToolMode:
    """The mode of the profile, or what the evidence allows."""
    if profile.ask is not None and (profile.ask != "constrained" or row.constrains):
        tool_mode = read_mode(profile.ask, row)
        return ToolMode(tool_mode.kind, tool_mode.dialect, f"best for {profile.family}, known by {known_by(profile)}")
    kind = server_kind(row.name)
    takes_tools = profile.native.get(kind, profile.supports_tools)
    if not is_queried(row):
        if takes_tools or profile.family == UNKNOWN:
            return ToolMode("native", why=f"{row.name} is a hosted API")
        return _prompted(profile, f"{profile.family} does not support tools on {kind}")
    if profile.family == UNKNOWN and kind not in profile.native and "family" not in profile.facts:
        return ToolMode(
            "native", why="unknown model on a server that was not asked; one failed call decides against native tools"
        )
    if not takes_tools:
        return _without_native(profile, row, f"{profile.family} does not support tools on {kind}")
    if profile.parameters is not None and profile.parameters <= SMALL:
        return _without_native(profile, row, _unmeasured(profile))
    if not is_declared(profile, row):
        return ToolMode("native", why=f"{profile.family}, known by {known_by(profile)}, supports tools on {kind}")
    return ToolMode("native", why=f"{row.name} declares tools for this model; one failed call decides against native tools")


def _unmeasured(profile: Profile) -> str:
    return f"native tools are not measured for {profile.family}, known by {known_by(profile)}, with {profile.parameters:g}B"


def _without_native(profile: Profile, row: Provider, reason: str) -> ToolMode:
    if row.constrains:
        return ToolMode("constrained", why=f"{reason}; {row.name} can constrain the answer")
    return _prompted(profile, reason)


def _prompted(profile: Profile, reason: str) -> ToolMode:
    if profile.dialect is not None:
        return ToolMode("dialect", profile.dialect, f"{reason}; it writes {profile.dialect}")
    small = profile.parameters is not None and profile.parameters <= SMALL
    general = SMALL_MODEL_DIALECT if small else DEFAULT_DIALECT
    return ToolMode("dialect", general, f"{reason}; {general} is the default")


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


def native_failure(messages: tuple[Message, ...]) -> str:
    """What shows that native tools failed in this conversation; "" if nothing does.

    By its messages alone, so that every request and every gateway decides the same. A call that the model wrote as text has an
    id that says so. A call that is repeated although its result is there and stays the same shows that the model does not
    understand the history that its template writes.
    """
    calls: dict[str, ToolCall] = {}
    results: dict[tuple[str, str], list[tuple[Part, ...]]] = {}  # since the user last wrote, by tool and arguments as written
    before = ""
    for message in messages:
        if message.role == "user" and before != "tool" and not message.rejected:  # clients add reminders behind a result
            results.clear()
        before = message.role
        for part in message.parts:
            if type(part) is ToolCall and message.role == "assistant":
                if part.id.startswith(TEXT_ID_START) and TEXT_ID.fullmatch(part.id):
                    return AS_TEXT
                calls[part.id] = part
            elif type(part) is ToolResult and not part.is_error and part.call_id in calls:
                call = calls.pop(part.call_id)
                before_it = results.setdefault((call.full_name, call.arguments_json), [])
                if part.parts in before_it[-_COMPARED:]:
                    return REPEATED
                before_it.append(part.parts)
    return ""
