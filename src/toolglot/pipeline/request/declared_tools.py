"""Tools that are declared inside the conversation, not in `tools`: their calls are valid, and other wires get them as tools.

Each wire says which of its own blocks declare tools (`Wire.declared_tools`). They are marked, so that the same wire, which
sends the block itself, does not send them twice.
"""

from __future__ import annotations

import msgspec

from toolglot.core.conversation import contents
from toolglot.core.messages import Opaque
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.wires import find_wire


def with_declared_tools(request: Request) -> Request:
    """The request with those tools after its own, in the order in which they were declared."""
    if not contents(request.messages).blocks:
        return request
    parts = [part for message in request.messages for part in message.parts if type(part) is Opaque]  # none inside a result
    declared = [tool for part in parts for tool in _declared(part)]
    if not declared:
        return request
    known = {tool.full_name for tool in request.tools}
    new: dict[str, Tool] = {}
    for tool in declared:
        if tool.full_name not in known:
            new[tool.full_name] = tool  # a later declaration replaces an earlier one
    return msgspec.structs.replace(request, tools=(*request.tools, *new.values())) if new else request


def _declared(part: Opaque) -> list[Tool]:
    wire = find_wire(part.wire)
    if wire is None or wire.declared_tools is None:
        return []
    return [msgspec.structs.replace(tool, declared_in=part.wire, deferred=False) for tool in wire.declared_tools(part.block)]
