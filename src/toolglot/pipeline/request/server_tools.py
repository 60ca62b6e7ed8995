"""Tools that toolglot runs itself within one response: the search for deferred tools, and server tools of other vendors.

The model gets a function for each. `client/server_tools.py` runs its calls and asks the model again.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.core.messages import ToolCall
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset
from toolglot.core.vendor_tools import MAX_LOADED, TOOL_SEARCH, ServerCall, loaded_text
from toolglot.io.json_codec import loads_object
from toolglot.pipeline.request.route import Route
from toolglot.pipeline.request.tool_ranking import most_relevant, search
from toolglot.pipeline.request.vendor_tools import (
    is_own,
    kind_of,
    loaded_names,
    plain_request,
    searches,
    server_kinds,
    vendor,
)

_LISTED = 2000  # characters of tool names in the search tool's description
_LIMIT = 5  # tools by one search, unless the model wants another number
_MAX_QUERY = 2000  # characters
_OWN_OPTIONS = frozenset({"type", "name", "max_uses", "cache_control", "defer_loading", "allowed_callers"})
_SEARCH_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words that describe what the tool does, or its name"},
        "limit": {"type": "integer", "description": f"At most so many tools; default {_LIMIT}"},
    },
    "required": ["query"],
}


class Served(msgspec.Struct, frozen=True):
    """A request whose server tools are functions that run here. `kinds`: name of the function -> the wire that shows its
    calls to the client; "": none does.
    """

    request: Request
    kinds: dict[str, str] = {}
    deferred: Toolset = Toolset()  # what a search finds
    limits: dict[str, int] = {}  # how often a tool may be called
    notes: tuple[str, ...] = ()


def serve(request: Request, route: Route, runs: Mapping[str, Tool], loaded: tuple[str, ...] = ()) -> Served:
    """`runs`: the function for each kind of server tool that runs here. `loaded`: tools that were found in this response."""
    wire, quirks = route.wire, route.provider.quirks
    if len(request.tools) <= route.profile.max_tools and not cached_for_toolset(request.tools, "special", _has_special):
        return Served(plain_request(request, wire, quirks))
    names = {tool.full_name for tool in request.tools if tool.kind != "server"}
    kinds: dict[str, str] = {}
    limits: dict[str, int] = {}
    notes: list[str] = []
    tools: list[Tool] = []
    searched = searches(request.tools, wire, quirks)
    for tool in request.tools:
        kind = None if is_own(tool, wire.name, quirks) else kind_of(tool)
        if kind is None or kind in names or kind in kinds or not (kind in runs or (kind == TOOL_SEARCH and not searched)):
            tools.append(tool)
            continue
        kinds[kind] = _wire_name(tool)
        limits[kind] = _max_uses(tool)
        if kind != TOOL_SEARCH:
            notes += _options_left_out(kind, tool)
            tools.append(msgspec.structs.replace(runs[kind], name=kind, namespace=None))
    deferred: list[Tool] = []
    if not searched:
        known = tuple(dict.fromkeys((*loaded_names(request.messages), *loaded, *_chosen(request.choice))))
        tools, deferred, findable = _split(tools, request, route.profile, known, notes)
        if findable and TOOL_SEARCH not in names:
            kinds.setdefault(TOOL_SEARCH, "")
            tools.append(_search_tool(findable))
        else:
            kinds.pop(TOOL_SEARCH, None)
    changed = bool(kinds or deferred) or len(tools) != len(request.tools)
    changed = changed or any(tool.deferred for tool in request.tools if not searched)
    served = msgspec.structs.replace(request, tools=Toolset(tools)) if changed else request
    plain = plain_request(served, wire, quirks, frozenset(kinds))
    return Served(plain, kinds, Toolset(deferred), limits, tuple(notes))


def _has_special(tools: tuple[Tool, ...], _: str) -> bool:
    return any(tool.kind == "server" or tool.deferred for tool in tools)


def _wire_name(tool: Tool) -> str:
    wire = vendor(tool)
    return "" if wire is None else wire.name


def _max_uses(tool: Tool) -> int:
    """Anthropic's `max_uses`; 0: no limit."""
    most = next(iter(tool.extra.values()), {}).get("max_uses")
    return most if isinstance(most, int) and most > 0 else 0


def _options_left_out(kind: str, tool: Tool) -> list[str]:
    """Such as a list of domains: a tool that runs here does not have it."""
    options = next(iter(tool.extra.values()), {})
    left = sorted(name for name, value in options.items() if name not in _OWN_OPTIONS and value not in (None, {}, []))
    return [f"server tool {kind}: {', '.join(left)} left out, because it runs here"] if left else []


def _chosen(choice: Choice | None) -> tuple[str, ...]:
    return choice.names if choice is not None else ()


def _split(
    tools: list[Tool], request: Request, profile: Profile, known: tuple[str, ...], notes: list[str]
) -> tuple[list[Tool], list[Tool], list[Tool]]:
    """The tools to send; those that are not loaded; and all that a search may find.

    Deferred tools without a search in the request are left to a search of the client's own, as their vendor leaves them.
    """
    waiting = {tool.full_name: tool for tool in tools if tool.deferred}
    findable = list(waiting.values()) if TOOL_SEARCH in server_kinds(request.tools) else []
    shown = [tool for tool in tools if not tool.deferred]
    shown += [msgspec.structs.replace(waiting.pop(name), deferred=False) for name in known if name in waiting]
    count = sum(tool.kind != "server" for tool in shown)
    if count <= profile.max_tools:
        return shown, list(waiting.values()), findable
    most = max(profile.max_tools - 1, 1)  # the search is one of them
    kept, surplus = most_relevant(Toolset(shown), most, request.messages, Choice(names=known))
    notes.append(f"tools: {len(surplus)} of {count} through a search, because {profile.family} handles {profile.max_tools}")
    return list(kept), [*waiting.values(), *surplus], [*findable, *surplus]


def _search_tool(findable: list[Tool]) -> Tool:
    names = ", ".join(tool.full_name for tool in findable)
    listed = names if len(names) <= _LISTED else names[:_LISTED].rpartition(",")[0] + ", ..."
    return Tool(TOOL_SEARCH, f"Find and load further tools. There are {len(findable)}: {listed}", _SEARCH_SCHEMA)


def run_search(call: ToolCall, deferred: Toolset) -> ServerCall:
    """The tools that a call of the search finds."""
    given = loads_object(call.arguments_json) or {}
    query, limit = given.get("query"), given.get("limit")
    most = min(limit, MAX_LOADED) if isinstance(limit, int) and limit > 0 else _LIMIT
    found = search(deferred, query[:_MAX_QUERY], most) if isinstance(query, str) else ()
    return ServerCall(call, loaded_text(tuple(tool.full_name for tool in found)), loaded=found)
