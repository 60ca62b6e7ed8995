"""Tool names and call ids that a wire accepts, and how they are restored.

Deterministic: the same tools give the same names, so a reply can be restored without keeping state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2s
from itertools import count

import msgspec

from toolglot.core.conversation import contents
from toolglot.core.messages import Message, Part, ToolCall, ToolResult, join_name
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset


class NameRule(msgspec.Struct, frozen=True):
    """What a wire allows in a tool's name and in a call's id. None: anything."""

    name: str | None = r"[A-Za-z0-9_-]{1,64}"
    call_id: str | None = r"[A-Za-z0-9_-]{1,64}"
    namespaces: bool = False


_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
_CAP = 64
_HASH = 8


@lru_cache(maxsize=4096)  # a conversation sends the same names and ids again with every turn
def _fits(word: str, pattern: str | None) -> bool:
    return pattern is None or re.fullmatch(pattern, word) is not None


def legal(name: str, pattern: str | None, taken: Iterable[str] = ()) -> str:
    """`name` if it is legal and unused, else a readable, stable replacement."""
    if _fits(name, pattern) and name not in taken:
        return name
    stem = _FORBIDDEN.sub("_", name).strip("-") or "x"
    if stem[0].isdigit():
        stem = "_" + stem
    stem = stem[: _CAP - _HASH - 1]
    words = (f"{stem}_{_digest(name, turn)}" for turn in count())
    return next(word for word in words if word not in taken)


def _digest(name: str, turn: int) -> str:
    salted = name.encode("utf-8", "surrogatepass") + b"\0" * turn
    return blake2s(salted, digest_size=_HASH // 2).hexdigest()


class NameMap:
    """One request's names, both ways: from `(namespace, name)` to one legal name, and back."""

    def __init__(self, tools: Iterable[Tool], rule: NameRule) -> None:
        self._rule = rule
        self._out: dict[tuple[str | None, str], str] = {}
        self._full: dict[str, str] = {}  # for callers that know a tool only as `ns__name`
        self._back: dict[str | None, dict[str, Tool]] = {}  # by the namespace of the returned call
        self.changed = False  # some tool is sent under another name
        for tool in tools:
            key = (tool.namespace, tool.name)
            if tool.kind == "server" or key in self._out:
                continue
            word = tool.name if rule.namespaces else tool.full_name
            taken = self._back.setdefault(tool.namespace if rule.namespaces else None, {})
            word = legal(word, rule.name, taken)
            self.changed = self.changed or word != tool.name or (tool.namespace is not None and not rule.namespaces)
            self._out[key] = word
            self._full.setdefault(tool.full_name, word)
            taken[word] = tool

    def out(self, name: str, namespace: str | None = None) -> str:
        known = self._out.get((namespace, name)) or (self._full.get(name) if namespace is None else None)
        if known is not None:
            return known
        word = name if self._rule.namespaces or not namespace else f"{namespace}__{name}"
        return legal(word, self._rule.name)

    def back(self, word: str, namespace: str | None = None) -> Tool | None:
        """The tool that was sent under this name; without a namespace, the first one."""
        tool = self._back.get(namespace, {}).get(word)
        return tool or next((tools[word] for tools in self._back.values() if word in tools), None)


def sanitize_names(request: Request, rule: NameRule) -> Request:
    """The same request with every tool's name and call's id as the wire allows them."""
    if _all_legal(request, rule):
        return request
    names = NameMap(request.tools, rule)
    ids: dict[str, str] = {}
    called: dict[str, str] = {}  # a call's id -> the name it was sent under, for its result

    def legal_id(call_id: str) -> str:
        known = ids.get(call_id)
        if known is None:
            known = ids[call_id] = legal(call_id, rule.call_id) if call_id else call_id
        return known

    def part(old: Part) -> Part:
        if isinstance(old, ToolCall):
            namespace = old.namespace if rule.namespaces else None
            word, new_id = names.out(old.name, old.namespace), legal_id(old.id)
            called[old.id] = join_name(namespace, word)
            if word == old.name and new_id == old.id and namespace == old.namespace:
                return old
            return msgspec.structs.replace(old, id=new_id, name=word, namespace=namespace)
        if isinstance(old, ToolResult):
            answered = (called.get(old.call_id) or names.out(old.name)) if old.name else old.name
            new_id = legal_id(old.call_id)
            if answered == old.name and new_id == old.call_id:
                return old
            return msgspec.structs.replace(old, call_id=new_id, name=answered)
        return old

    return msgspec.structs.replace(
        request,
        tools=cached_for_toolset(request.tools, (rule, "legal"), lambda tools, _: _renamed(tools, names, rule)),
        messages=tuple(_with_parts(message, part) for message in request.messages),
        choice=_legal_choice(request.choice, names),
    )


def _all_legal(request: Request, rule: NameRule) -> bool:
    """The common case: nothing needs a change. Checked without building anything."""
    known = cached_for_toolset(request.tools, rule, _legal_tools) if request.tools else frozenset()
    if known is None:
        return False
    found = contents(request.messages)
    if not (found.is_paired and found.is_named):
        return False
    for call in found.calls:
        if call.namespace or not (call.name in known or _fits(call.name, rule.name)):
            return False
        if not _fits(call.id, rule.call_id):
            return False
    return request.choice is None or all(_fits(name, rule.name) for name in request.choice.names)


def _legal_tools(tools: tuple[Tool, ...], rule: NameRule) -> frozenset[str] | None:
    """Their names; None where not all are legal."""
    ours = [tool for tool in tools if tool.kind != "server"]
    legal = all(not tool.namespace and _fits(tool.name, rule.name) for tool in ours)
    return frozenset(tool.name for tool in ours) if legal else None


def _with_parts(message: Message, change: Callable[[Part], Part]) -> Message:
    if message.role not in ("assistant", "tool"):
        return message
    parts = tuple(map(change, message.parts))
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return msgspec.structs.replace(message, parts=parts)


def _renamed(tools: tuple[Tool, ...], names: NameMap, rule: NameRule) -> tuple[Tool, ...]:
    if not names.changed:
        return tools
    renamed = (_legal_tool(tool, names, rule) for tool in tools)
    return Toolset(renamed) if type(tools) is Toolset else tuple(renamed)


def _legal_tool(tool: Tool, names: NameMap, rule: NameRule) -> Tool:
    if tool.kind == "server":
        return tool
    namespace = tool.namespace if rule.namespaces else None
    return msgspec.structs.replace(tool, name=names.out(tool.name, tool.namespace), namespace=namespace)


def _legal_choice(choice: Choice | None, names: NameMap) -> Choice | None:
    if choice is None or not choice.names:
        return choice
    return msgspec.structs.replace(choice, names=tuple(names.out(name) for name in choice.names))
