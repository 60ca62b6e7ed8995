"""The way back of legalised names: a call leaves under the name, namespace and kind its tool was registered with."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.core.events import Event, Open
from toolglot.core.messages import ToolCall
from toolglot.core.names import NameRule, Names
from toolglot.core.reply import Reply
from toolglot.core.tools import Tool


class RestoreNames:
    """A Stage. `rule` is that of the wire the names went out on."""

    def __init__(self, tools: Iterable[Tool], rule: NameRule) -> None:
        self._names = Names(tools, rule)

    def feed(self, event: Event) -> list[Event]:
        if isinstance(event, Open) and event.kind == "call":
            tool = self._names.back(event.name or "", event.namespace)
            if tool is not None:
                custom = tool.kind == "custom"
                event = msgspec.structs.replace(event, name=tool.name, namespace=tool.namespace, custom=custom)
        return [event]

    def close(self) -> list[Event]:
        return []


def restore_reply(reply: Reply, tools: tuple[Tool, ...], rule: NameRule) -> Reply:
    if not tools:
        return reply
    names = Names(tools, rule)
    parts = []
    for part in reply.parts:
        tool = names.back(part.name, part.namespace) if isinstance(part, ToolCall) else None
        if tool is not None:
            custom = tool.kind == "custom"
            part = msgspec.structs.replace(part, name=tool.name, namespace=tool.namespace, custom=custom)
        parts.append(part)
    return msgspec.structs.replace(reply, parts=tuple(parts))
