"""A request, fitted to the model and the server that it goes to: one pure pass, and a note for all that it does.

What the caller gave stays in the plan: calls are checked against the tools as they were, whatever the model was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import UNKNOWN
from toolglot.core.messages import Message, ToolCall
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.dialects import find_dialect
from toolglot.errors import CallerError
from toolglot.pipeline.constrain import brought_to, constrain, constrain_to
from toolglot.pipeline.extract import toolset
from toolglot.pipeline.fit_tools import NOTHING_FILLED, chosen, fitted, no_more_than
from toolglot.pipeline.gate import gate
from toolglot.pipeline.lately import Lately, lately
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.prompts import GENERAL
from toolglot.pipeline.room import Room, room
from toolglot.pipeline.route import Route
from toolglot.pipeline.second_try import second_try
from toolglot.pipeline.speak_dialect import speak
from toolglot.pipeline.turns import Spoken, merged, with_lesson, without_system
from toolglot.pipeline.ways import SMALL, Tallies, Way, choose_way
from toolglot.text.json_text import dumps

_MOST_SAID = 1024  # tokens, where the caller names no limit
_MOST_TOLD = 200  # the same of an answer in a sentence, with what results say
_UNASKED = Way("native", why="there is nothing to call")

# where an API takes the size of its window: below the wire's own part of `extra`
_WINDOW_AT = {"ollama": ("options", "num_ctx")}


class _Asking(msgspec.Struct):
    """What is decided already, and what is noted on the way."""

    route: Route
    way: Way
    nonce: str | None
    calls: bool  # the model may call something; the gate may change it
    notes: list[str]
    filled: frozenset[str] = NOTHING_FILLED


def fit(
    request: Request,
    route: Route,
    *,
    ask: str = "auto",
    nonce: str | None = None,
    larger_context: bool = False,
    tallies: Tallies = {},  # noqa: B006
) -> Plan:
    """How the request is asked of this model. `larger_context` asks for a larger window, where the API has a word for it."""
    given, choice, messages, single = request.tools, request.choice, request.messages, request.parallel is False
    way = choose_way(ask, route.profile, route.provider, choice, tallies)
    if nonce is not None and way.kind != "dialect":
        raise CallerError(f"a nonce goes with a dialect, and this is asked {way.name}", "nonce")
    if ask == "auto" and nonce is None:
        way, request = second_try(way, route.provider, request)
    forbidden = choice is not None and choice.mode == "none"
    calls = not forbidden and any(tool.kind != "server" for tool in given)
    asking = _Asking(route, way, nonce, calls, [])
    if calls and ask == "auto" and way.kind != "native":
        asking.notes.append(f"asked {way.name}: {way.why}")
    kind = way.kind if given or _speaks_of_calls(request.messages) else "native"
    request = _FITS[kind](request, asking)
    grounds = _grounds(messages, request, asking)
    request = _with_end(request, asking, _MOST_SAID if grounds is None else _MOST_TOLD)
    request = _with_room(request, asking, larger=larger_context)
    calls = asking.calls  # the gate may have said that none is due
    hears = None if not calls else way.dialect if way.kind == "dialect" else route.profile.dialect or "auto"
    way = way if calls else _UNASKED
    doubted = calls and _may_invent(route.profile) and (choice is None or choice.mode == "auto")
    return Plan(
        request,
        route,
        way,
        given,
        choice,
        hears,
        nonce,
        tuple(asking.notes),
        asking.filled,
        single,
        messages if doubted else None,
        grounds,
    )


def _grounds(messages: tuple[Message, ...], request: Request, asking: _Asking) -> Lately | None:
    """A model that can't decide whether to call can't be believed either, where it has results to tell of."""
    if asking.calls or asking.route.profile.decides or request.output is not None:
        return None
    last = lately(messages)
    return last if any(not result.is_error for result in last.results) else None


def _with_end(request: Request, asking: _Asking, most: int) -> Request:
    """A model that can't decide whether to call does not decide when to end either: it goes on until its window is full."""
    if asking.route.profile.decides or request.max_tokens is not None:
        return request
    asking.notes.append(f"max_tokens: {most}, since so small a model may find no end")
    return msgspec.structs.replace(request, max_tokens=most)


def _may_invent(profile: Profile) -> bool:
    """A small model calls what is there, with values that nobody gave; one that can't decide is held to them anyway."""
    return profile.decides and profile.parameters is not None and profile.parameters <= SMALL


def _speaks_of_calls(messages: tuple[Message, ...]) -> bool:
    for message in messages:
        if message.role == "tool":
            return True
        if message.role == "assistant" and any(type(part) is ToolCall for part in message.parts):
            return True
    return False


# -- the ways


def _native(request: Request, asking: _Asking) -> Request:
    """The server's own tools: schemas as it understands them, choices that it would ignore enforced here."""
    if not request.tools:
        return _turns(request, asking)
    row, profile, notes = asking.route.provider, asking.route.profile, asking.notes
    choice, parallel, messages = request.choice, request.parallel, request.messages
    tools: tuple[Tool, ...] = toolset(request.tools)
    suited = None
    if row.schemas is not None:
        suited = fitted(tools, row.schemas)
        tools, asking.filled = suited.tools, suited.filled
    if choice is not None and not row.quirks.tool_choice:
        tools = chosen(tools, choice, row.name, notes)
        if choice.mode == "required" and tools:
            notes.append(f"tool choice: required, said in words, for {row.name} ignores it")
            messages = tuple(with_lesson(list(messages), _demand(choice)))
        choice = None
    tools = no_more_than(profile.max_tools, tools, request, profile.family, notes)
    if suited is not None and (suited.notes or suited.moved):
        notes += suited.about(tools, row.name)
    one_by_one = not profile.supports_parallel and profile.family != UNKNOWN  # of which nothing is known, nothing is taken
    if tools and parallel is not False and one_by_one and row.quirks.parallel_control:
        notes.append(f"parallel calls: off, for {profile.family} makes one at a time")
        parallel = False
    now = (tools, choice, parallel, messages)
    if not all(map(is_, now, (request.tools, request.choice, request.parallel, request.messages))):
        request = msgspec.structs.replace(request, tools=tools, choice=choice, parallel=parallel, messages=messages)
    return _turns(request, asking)


def _demand(choice: Choice) -> str:
    wanted = f"a call of {choice.names[0]}" if len(choice.names) == 1 else "a call of at least one of the tools"
    return f"Answer now with {wanted}, and with nothing else."


def _dialect(request: Request, asking: _Asking) -> Request:
    dialect = find_dialect(asking.way.dialect or GENERAL)
    if dialect is None:
        raise CallerError(f"there is no dialect {asking.way.dialect!r}", "ask")
    profile, notes = asking.route.profile, asking.notes
    changes: dict[str, Any] = {}
    if request.parallel is not False and not profile.supports_parallel:
        changes["parallel"] = False
    changes["tools"] = no_more_than(profile.max_tools, request.tools, request, profile.family, notes)
    if request.output is not None and asking.calls:
        notes.append("response schema: said in words, since the model must be free to write a call")
        schema = "" if request.output.schema is None else f" that fits this schema: {dumps(request.output.schema)}"
        lesson = f"Where you call no tool, answer with nothing but JSON{schema}"
        changes |= {"output": None, "messages": tuple(with_lesson(list(request.messages), lesson))}
    request = msgspec.structs.replace(request, **changes)
    style = profile.prompt_style
    return speak(request, dialect, style=style, nonce=asking.nonce, refuses=profile.refuses, notes=notes)


def _constrained(request: Request, asking: _Asking) -> Request:
    profile, notes = asking.route.profile, asking.notes
    tools = no_more_than(profile.max_tools, toolset(request.tools), request, profile.family, notes)
    if asking.calls and not profile.decides:
        return _decided(request, tools, asking)
    tiny = profile.parameters is not None and profile.parameters < SMALL / 4
    several = profile.supports_parallel and request.parallel is not False and not tiny
    request = msgspec.structs.replace(request, tools=tools)
    return constrain(request, several=several, refuses=profile.refuses, schemas=asking.route.provider.schemas, notes=notes)


def _decided(request: Request, tools: tuple[Tool, ...], asking: _Asking) -> Request:
    """For a model that can't tell whether a call is due: the gate does, and holds the values to the question's own words."""
    choice, notes = request.choice or Choice(), asking.notes
    ours = tuple(tool for tool in tools if tool.kind != "server")
    ours = tuple(tool for tool in ours if {tool.name, tool.full_name} & set(choice.names)) or ours
    several = request.parallel is not False
    profile, schemas = asking.route.profile, asking.route.provider.schemas
    ours = tuple(brought_to(tool, schemas) for tool in ours)
    found = gate(ours, request.messages, must=choice.mode == "required", several=several)
    notes.append(found.why)
    asking.calls = bool(found.calls)
    due = [[(one.tool, one.filled.schema) for one in options] for options in found.calls]
    return constrain_to(request, due, refuses=profile.refuses, schemas=schemas, notes=notes)


_FITS: dict[str, Callable[[Request, _Asking], Request]] = {
    "native": _native,
    "dialect": _dialect,
    "constrained": _constrained,
}


# -- turns


def _turns(request: Request, asking: _Asking) -> Request:
    """A history that the model's template takes."""
    profile, notes = asking.route.profile, asking.notes
    if not profile.refuses and profile.multi_turn != "poor":
        return request
    given = messages = list(request.messages)
    as_text = len(messages) if "tool" in profile.refuses else _earlier(messages) if profile.multi_turn == "poor" else 0
    if _speaks_of_calls(request.messages[:as_text]):
        dialect = find_dialect(profile.dialect or GENERAL) or find_dialect(GENERAL)
        spoken = Spoken(dialect, notes).history(request.messages[:as_text], "user")  # type: ignore[arg-type]
        messages = [*spoken, *messages[as_text:]]
    if "system" in profile.refuses:
        messages = without_system(messages, notes)
    if messages is given and "alternation" not in profile.refuses:
        return request
    turns = merged(messages)
    return request if turns == request.messages else msgspec.structs.replace(request, messages=turns)


def _earlier(messages: list[Message]) -> int:
    """How many messages stand before what is asked now."""
    return max((at for at, message in enumerate(messages) if message.role == "user"), default=0)


# -- room


def _with_room(request: Request, asking: _Asking, *, larger: bool) -> Request:
    """A warning where the prompt will not fit; a larger window where that was asked for and can be."""
    route = asking.route
    default, most = route.provider.default_context, route.profile.context_length
    if default is None and most is None:
        return request
    wire = route.wire.name
    at = _WINDOW_AT.get(wire)
    own = request.extra.get(wire, {}) if at is not None else {}
    options: dict[str, Any] = own.get(at[0]) or {} if at is not None else {}
    told = options.get(at[1]) if at is not None else None
    found = room(request, told if isinstance(told, int) and told > 0 else default, most)
    if not found.short:
        return request
    if larger and found.larger is not None and at is not None:
        asking.notes.append(f"context: a window of {found.larger} tokens is asked for, since about {found.needed} are needed")
        own = {**own, at[0]: {**options, at[1]: found.larger}}
        return msgspec.structs.replace(request, extra={**request.extra, wire: own})
    asking.notes.append(_warning(found, asking, at is not None))
    return request


def _warning(found: Room, asking: _Asking, can_ask: bool) -> str:
    row, profile = asking.route.provider, asking.route.profile
    if found.window == found.most:
        return f"context: about {found.needed} tokens are needed, and {profile.family} takes {found.window}"
    told = f"context: about {found.needed} tokens are needed, and {row.name} gives {found.window}"
    told += ": it cuts the beginning, tools included, without a word"
    if found.larger is None:
        return told
    return told + ("; ask for more with larger_context" if can_ask else "; start it with a larger window")
