"""Stage that undoes sanitized names: each call gets the name, namespace and kind that its tool was registered with."""

from __future__ import annotations

import msgspec

from toolglot.core.events import Event, Open, StageEvent, WholeCall
from toolglot.core.messages import ToolCall
from toolglot.core.names import NameMap, NameRule
from toolglot.core.reply import Reply
from toolglot.core.tools import Tool


class RestoreNames:
    """`names` maps the tool names of the request's wire back to the registered ones."""

    def __init__(self, names: NameMap) -> None:
        self._names = names

    def feed(self, events: list[StageEvent]) -> list[StageEvent]:
        for at, event in enumerate(events):
            if type(event) is Open:
                events[at] = self.event(event)
            elif type(event) is WholeCall:
                events[at] = msgspec.structs.replace(event, call=self.call(event.call))
        return events

    def event(self, event: Event) -> Event:
        if type(event) is not Open or event.kind != "call":
            return event
        changes = self._changes(event.name or "", event.namespace, event.custom)
        return msgspec.structs.replace(event, **changes) if changes else event

    def call(self, call: ToolCall) -> ToolCall:
        changes = self._changes(call.name, call.namespace, call.custom)
        return msgspec.structs.replace(call, **changes) if changes else call

    def _changes(self, name: str, namespace: str | None, custom: bool) -> dict[str, str | bool | None]:
        tool = self._names.back(name, namespace)
        if tool is None or (tool.name, tool.namespace, tool.kind == "custom") == (name, namespace, custom):
            return {}
        return {"name": tool.name, "namespace": tool.namespace, "custom": tool.kind == "custom"}


def restore_reply(reply: Reply, tools: tuple[Tool, ...], rule: NameRule) -> Reply:
    if not tools:
        return reply
    restore = RestoreNames(NameMap(tools, rule))
    parts = tuple(restore.call(part) if isinstance(part, ToolCall) else part for part in reply.parts)
    return msgspec.structs.replace(reply, parts=parts)
