"""A request, fitted to the model and the server that it goes to: one pure pass, and a note for all that it does.

What the caller gave stays in the plan: calls are checked against the tools as they were, whatever the model was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset, made_once
from toolglot.dialects import find_dialect
from toolglot.errors import CallerError
from toolglot.pipeline.constrain import constrain
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.prompts import GENERAL
from toolglot.pipeline.relevance import most_relevant
from toolglot.pipeline.room import room
from toolglot.pipeline.route import Route
from toolglot.pipeline.speak_dialect import speak
from toolglot.pipeline.turns import Spoken, merged, without_system
from toolglot.pipeline.ways import SMALL, Tallies, Way, choose_way
from toolglot.schema.fitting import TARGETS, fit_schema

_SHOWN = 5  # names in a note


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
    notes: list[str] = []
    way = choose_way(ask, route.profile, route.provider, request.choice, tallies)
    calls = bool(request.tools) and not _forbidden(request.choice)
    if not calls:
        way = Way("native", why="there is nothing to call")
    elif ask == "auto" and way.kind != "native":
        notes.append(f"asked {way.name}: {way.why}")
    if nonce is not None and way.kind != "dialect":
        raise CallerError(f"a nonce goes with a dialect, and this is asked {way.name}", "nonce")
    fitted = _capped(request, route, notes)
    fitted = _FITS[way.kind](fitted, route, way, nonce, notes)
    fitted = _with_room(fitted, route, notes, larger=larger_context)
    hears = None if not calls else way.dialect if way.kind == "dialect" else route.profile.dialect or "auto"
    return Plan(fitted, route, way, request.tools, request.choice, hears, nonce, tuple(notes))


def _forbidden(choice: Choice | None) -> bool:
    return choice is not None and choice.mode == "none"


# -- tools


def _capped(request: Request, route: Route, notes: list[str]) -> Request:
    """No more tools than the model can take."""
    most = route.profile.max_tools
    if len(request.tools) <= most:
        return request
    kept, left = most_relevant(request.tools, most, request.messages, request.choice)
    names = ", ".join(tool.full_name for tool in left[:_SHOWN]) + (", ..." if len(left) > _SHOWN else "")
    notes.append(f"tools: {len(left)} of {len(request.tools)} left out, for {route.profile.family} takes {most}: {names}")
    return msgspec.structs.replace(request, tools=kept)


def _native(request: Request, route: Route, way: Way, nonce: str | None, notes: list[str]) -> Request:
    """The server's own tools: schemas as it understands them, choices that it would ignore enforced here."""
    request = _chosen(request, route, notes)
    if route.provider.schemas is not None and request.tools:
        tools, told = made_once(request.tools, ("fitted", route.provider.schemas), _fitted_tools)
        notes += told
        request = msgspec.structs.replace(request, tools=tools)
    if request.tools and request.parallel is not False and not route.profile.supports_parallel:
        notes.append(f"parallel calls: off, for {route.profile.family} makes one at a time")
        request = msgspec.structs.replace(request, parallel=False)
    return _turns(request, route, notes)


def _chosen(request: Request, route: Route, notes: list[str]) -> Request:
    """Where the server has no tool_choice, offering no tool prevents calls, and offering one forces it as far as can be."""
    choice = request.choice
    if choice is None or not request.tools or route.provider.quirks.tool_choice:
        return request
    if choice.mode == "none":
        if _has_calls(request):  # a history with calls may not be shown without its tools
            notes.append(f"tool choice: none is enforced here, for {route.provider.name} ignores it")
            return request
        notes.append(f"tool choice: none; no tools are offered, for {route.provider.name} ignores it")
        return msgspec.structs.replace(request, tools=(), choice=None)
    if choice.names:
        named = Toolset(tool for tool in request.tools if {tool.name, tool.full_name} & set(choice.names))
        notes.append(f"tool choice: only {', '.join(choice.names)} offered, for {route.provider.name} ignores it")
        return msgspec.structs.replace(request, tools=named or request.tools)
    return request


def _has_calls(request: Request) -> bool:
    return any(message.role == "tool" for message in request.messages)


def _fitted_tools(tools: tuple[Tool, ...], key: tuple[str, str]) -> tuple[Toolset, list[str]]:
    notes: list[str] = []
    fitted = Toolset(_fitted_tool(tool, key[1], notes) for tool in tools)
    return fitted, notes


def _fitted_tool(tool: Tool, row: str, notes: list[str]) -> Tool:
    if tool.kind != "function" or tool.schema is None:
        return tool
    strict = TARGETS.get(f"{row}_strict") if tool.strict else None
    found = fit_schema(tool.schema, strict) if strict is not None else None
    if found is not None and found.narrowed:
        notes.append(f"tool {tool.full_name}: sent without strict, which can't say all that its schema allows")
        tool, found = msgspec.structs.replace(tool, strict=None), None
    found = found or fit_schema(tool.schema, TARGETS[row])
    if found.schema == tool.schema and not found.aside:
        return tool
    notes += [f"tool {tool.full_name}: {note}" for note in found.notes]
    about = " ".join(text for text in (tool.description, *found.aside) if text)
    return msgspec.structs.replace(tool, schema=found.schema, description=about or None)


# -- turns


def _turns(request: Request, route: Route, notes: list[str]) -> Request:
    """A history that the model's template takes."""
    profile = route.profile
    messages = list(request.messages)
    spoken = Spoken(find_dialect(profile.dialect or GENERAL) or find_dialect(GENERAL), notes)  # type: ignore[arg-type]
    if "tool" in profile.refuses:
        messages = spoken.history(request.messages, "user")
    elif profile.multi_turn == "poor":
        last = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
        messages = [*spoken.history(tuple(messages[:last]), "user"), *messages[last:]]
    if "system" in profile.refuses:
        messages = without_system(messages, notes)
    if messages == list(request.messages) and "alternation" not in profile.refuses:
        return request
    return msgspec.structs.replace(request, messages=merged(messages))


def _dialect(request: Request, route: Route, way: Way, nonce: str | None, notes: list[str]) -> Request:
    dialect = find_dialect(way.dialect or GENERAL)
    if dialect is None:
        raise CallerError(f"there is no dialect {way.dialect!r}", "ask")
    profile = route.profile
    if request.parallel is None and not profile.supports_parallel:
        request = msgspec.structs.replace(request, parallel=False)
    if request.output is not None:
        notes.append("response schema: left out, since the model must be free to write a call")
        request = msgspec.structs.replace(request, output=None)
    return speak(request, dialect, style=profile.prompt_style, nonce=nonce, refuses=profile.refuses, notes=notes)


def _constrained(request: Request, route: Route, way: Way, nonce: str | None, notes: list[str]) -> Request:
    profile = route.profile
    tiny = profile.parameters is not None and profile.parameters < SMALL / 4
    several = profile.supports_parallel and request.parallel is not False and not tiny
    return constrain(request, several=several, refuses=profile.refuses, notes=notes)


_FITS: dict[str, Callable[[Request, Route, Way, str | None, list[str]], Request]] = {
    "native": _native,
    "dialect": _dialect,
    "constrained": _constrained,
}


# -- room


def _with_room(request: Request, route: Route, notes: list[str], *, larger: bool) -> Request:
    """A warning where the prompt will not fit; a larger window where that was asked for and can be."""
    found = room(request, route.provider.default_context, route.profile.context_length)
    if not found.short:
        return request
    own: dict[str, Any] = dict(request.extra.get("ollama", {}))
    options: dict[str, Any] = dict(own.get("options") or {})
    if isinstance(options.get("num_ctx"), int) and options["num_ctx"] >= found.needed:
        return request
    size = found.larger
    if larger and size is not None and route.wire.name == "ollama":
        options["num_ctx"] = size
        notes.append(f"context: a window of {size} tokens is asked for, since about {found.needed} are needed")
        return msgspec.structs.replace(request, extra={**request.extra, "ollama": {**own, "options": options}})
    notes.append(
        f"context: about {found.needed} tokens are needed and {route.provider.name} gives {found.window}"
        + (": it cuts the beginning, tools included, without a word" if route.provider.default_context else "")
        + ("; start it with a larger window, or use its own API and larger_context" if size is not None else "")
    )
    return request
