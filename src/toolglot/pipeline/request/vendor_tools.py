"""A vendor's own tools and the items of their calls, as functions, calls and results for a model of another vendor.

What a server of the same vendor gets is left as it is. A tool search that two vendors have is translated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolglot.core.conversation import contents
from toolglot.core.interfaces import Quirks, Wire
from toolglot.core.messages import Message, Opaque, Part, Role, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.result_matching import match_results
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.core.vendor_tools import SERVER_KINDS, TOOL_SEARCH, ServerCall, loaded_text
from toolglot.wires import find_wire

_NOTHING: frozenset[str] = frozenset()
_SUMMARY = "Summary of the conversation up to here:"


def is_own(tool: Tool, wire: str, quirks: Quirks) -> bool:
    """Whether a server tool goes to this server as it is."""
    if wire not in tool.extra or (quirks.server_tools and not tool.name.startswith(quirks.server_tools)):
        return False
    return quirks.tool_search or kind_of(tool) != TOOL_SEARCH


def kind_of(tool: Tool) -> str | None:
    """The kind of a server tool that could run here; None for all other tools."""
    if tool.kind != "server":
        return None
    wire = vendor(tool)
    return None if wire is None or wire.vendor_tools is None else wire.vendor_tools.kind(tool)


def server_kinds(tools: tuple[Tool, ...]) -> frozenset[str]:
    """The kinds of the server tools among these."""
    return cached_for_toolset(tools, "server kinds", lambda tools, _: frozenset(filter(None, map(kind_of, tools))))


def vendor(tool: Tool) -> Wire | None:
    """The wire that a server tool is from."""
    return find_wire(next(iter(tool.extra), ""))


def searches(tools: tuple[Tool, ...], target: Wire, quirks: Quirks) -> bool:
    """Whether the server searches deferred tools itself, because the caller asks for it and the server can."""
    can = quirks.tool_search and target.vendor_tools is not None and target.vendor_tools.tool_search is not None
    return can and TOOL_SEARCH in server_kinds(tools)


def plain_request(request: Request, target: Wire, quirks: Quirks, kinds: frozenset[str] = _NOTHING) -> Request:
    """The request for a server of this wire. `kinds`: the calls of these server tools become calls and results, too."""
    tools, messages = request.tools, request.messages
    if cached_for_toolset(tools, "server tools", _has_server_tools):
        tools = plain_tools(tools, target, quirks)
    if contents(messages).blocks:
        messages = _compacted(messages, target.name)
        messages = _Plain(target, kinds, request.tools, translate=searches(request.tools, target, quirks)).messages(messages)
    if tools is request.tools and messages is request.messages:
        return request
    return msgspec.structs.replace(request, tools=tools, messages=messages)


def plain_tools(tools: tuple[Tool, ...], target: Wire, quirks: Quirks) -> tuple[Tool, ...]:
    """With functions in place of the client's tools of other vendors, and the server's own tool search."""
    own_search = target.vendor_tools.tool_search if searches(tools, target, quirks) and target.vendor_tools else None
    plain: list[Tool] = []
    for tool in tools:
        wire = vendor(tool) if tool.kind == "server" else None
        if wire is not None and wire.vendor_tools is not None and not is_own(tool, target.name, quirks):
            if own_search is not None and wire.vendor_tools.kind(tool) == TOOL_SEARCH:
                tool = Tool(str(own_search["type"]), kind="server", extra={target.name: own_search})
            else:
                tool = wire.vendor_tools.as_function(tool) or tool
        plain.append(tool)
    changed = any(new is not old for new, old in zip(plain, tools, strict=True))
    return Toolset(plain) if changed else tools


def _has_server_tools(tools: tuple[Tool, ...], _: str) -> bool:
    return any(tool.kind == "server" for tool in tools)


def loaded_names(messages: Iterable[Message]) -> Iterator[str]:
    """The full names of the tools that were loaded or called in the conversation, in this order."""
    for message in messages:
        for part in message.parts:
            if type(part) is Opaque:
                yield from _loaded(part)
            elif type(part) is ToolCall:
                yield part.full_name
            elif type(part) is ToolResult:
                for inner in part.parts:
                    if type(inner) is Opaque:
                        yield from _loaded(inner)


def _loaded(part: Opaque) -> tuple[str, ...]:
    wire = find_wire(part.wire)
    return wire.vendor_tools.loaded(part.block) if wire is not None and wire.vendor_tools is not None else ()


class _Plain:
    """Rewrites the blocks of one conversation."""

    def __init__(self, target: Wire, kinds: frozenset[str], tools: tuple[Tool, ...], *, translate: bool) -> None:
        self._target, self._kinds, self._translate = target, kinds, translate
        self._tools = {tool.full_name: tool for tool in tools}
        self._written: list[Message] = []
        self._search: ToolCall | None = None  # a translated search, whose result is still to come

    def messages(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        changed = False
        for message in messages:
            parts = self._parts(message)
            if all(new is old for new, old in zip(parts, message.parts, strict=False)) and len(parts) == len(message.parts):
                self._written.append(message)
                continue
            changed = True
            self._add(message, parts)
        return match_results(_joined(self._written)) if changed else messages

    def _parts(self, message: Message) -> list[Part]:
        return [one for part in message.parts for one in self._rewritten(part)]

    def _rewritten(self, part: Part) -> tuple[Part, ...]:
        if type(part) is ToolResult:
            return (self._result(part),)
        if type(part) is not Opaque:
            return (part,)
        wire = find_wire(part.wire)
        if wire is None or wire.vendor_tools is None:
            return (part,)
        foreign = part.wire != self._target.name
        found = tuple(one for one in wire.vendor_tools.read(part.block) if self._is_wanted(one, foreign=foreign))
        if self._translate and foreign and found and found[0].name == TOOL_SEARCH:
            return self._translated(found[0], part)
        return found or (part,)

    def _is_wanted(self, part: ToolCall | ToolResult, *, foreign: bool) -> bool:
        return part.name in self._kinds or (foreign and (part.name not in SERVER_KINDS or self._is_search(part)))

    def _is_search(self, part: ToolCall | ToolResult) -> bool:
        """A search that the client runs itself is a function; one of the server only where it is translated."""
        return part.name == TOOL_SEARCH and (self._translate or TOOL_SEARCH in self._tools)

    def _translated(self, one: ToolCall | ToolResult, part: Opaque) -> tuple[Part, ...]:
        """Call and result together, as the target's own blocks."""
        forms = self._target.vendor_tools
        if type(one) is ToolCall:
            self._search = one
            return ()
        if self._search is None or forms is None:
            return ()
        loaded = tuple(self._tools[name] for name in _loaded(part) if name in self._tools)
        done, self._search = ServerCall(self._search, loaded=loaded), None
        return tuple(Opaque(self._target.name, block) for block in forms.write(done))

    def _result(self, result: ToolResult) -> ToolResult:
        """References to tools become text: their definitions are sent with the request."""
        if not any(type(part) is Opaque and part.wire != self._target.name for part in result.parts):
            return result
        parts = tuple(_as_text(part, self._target.name) for part in result.parts)
        return msgspec.structs.replace(result, parts=parts)

    def _add(self, message: Message, parts: list[Part]) -> None:
        """A result ends the assistant's message; what follows is the next one."""
        kept: list[Part] = []
        for part in parts:
            if type(part) is ToolResult and message.role != "tool":
                self._end(message, kept, message.role)
                self._written.append(Message("tool", (part,)))
                kept = []
            else:
                kept.append(part)
        own = [type(part) is Opaque and part.wire == self._target.name for part in kept]
        self._end(message, kept, "assistant" if own and all(own) and self._translate else message.role)

    def _end(self, message: Message, kept: list[Part], role: Role) -> None:
        if kept:
            self._written.append(msgspec.structs.replace(message, role=role, parts=tuple(kept)))


def _compacted(messages: tuple[Message, ...], target: str) -> tuple[Message, ...]:
    """From the last summary on, as its vendor's server reads it; the summary is the user's."""
    for at in range(len(messages) - 1, -1, -1):
        parts = messages[at].parts
        for place in range(len(parts) - 1, -1, -1):
            if text := _summary(parts[place], target):
                system = [one for one in messages[:at] if one.role in ("system", "developer")]
                summary = Message("user", (Text(f"{_SUMMARY}\n{text}"),))
                rest = msgspec.structs.replace(messages[at], parts=parts[place + 1 :])
                return (*system, summary, *((rest,) if rest.parts else ()), *messages[at + 1 :])
    return messages


def _summary(part: Part, target: str) -> str | None:
    if type(part) is not Opaque or part.wire == target:
        return None
    wire = find_wire(part.wire)
    return wire.vendor_tools.summary(part.block) if wire is not None and wire.vendor_tools is not None else None


def _as_text(part: Part, target: str) -> Part:
    if type(part) is Opaque and part.wire != target and (names := _loaded(part)):
        return Text(loaded_text(names))
    return part


def _joined(messages: list[Message]) -> list[Message]:
    """Neighbours of one turn as one message."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is not None and message.role == last.role and message.role in ("tool", "assistant"):
            joined[-1] = msgspec.structs.replace(last, parts=last.parts + message.parts)
        else:
            joined.append(message)
    return joined
