"""Every call that leaves names a registered tool and satisfies its schema, or does not leave.

`judge` looks at one call: it goes on as it is, or mended, or is refused with exactly one decision `rejected_*`.
Nothing that a model writes makes it raise.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.extraction import Extraction
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.core.tools import Tool, Toolset, made_once
from toolglot.errors import CallerError
from toolglot.grammars.heard import Heard
from toolglot.pipeline.reply_forms import read_any_reply
from toolglot.pipeline.tool_forms import read_any_tools
from toolglot.schema.check import Checker, checker
from toolglot.schema.coerce import mended
from toolglot.schema.fixes import sentence
from toolglot.schema.relaxed_json import MAX_SIZE, Reading, read_object, repeats_key, too_deep
from toolglot.schema.tool_names import ToolNames, called_as
from toolglot.text.json_text import dumps, loads_object, shown

Policy = Literal["strict", "balanced", "eager"]
POLICIES: tuple[str, ...] = get_args(Policy)
WAYS = ("hold", "pass")
NO_SUCH_TOOL = "there is no such tool"
MAX_CALLS = 128  # of one reply

_log = logging.getLogger("toolglot")


class Verdict(msgspec.Struct, frozen=True):
    call: ToolCall | None  # None: refused
    decisions: tuple[Decision, ...] = ()


class _Refusal(Exception):  # noqa: N818  (it never leaves this file)
    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class _Registered:
    """The tools of a request, made ready for judging."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self.names = ToolNames(self.tools)
        self._checkers: dict[int, Checker] = {}

    def checker(self, tool: Tool) -> Checker:
        kept = self._checkers.get(id(tool))
        if kept is None:
            kept = self._checkers[id(tool)] = checker(tool.schema if tool.kind == "function" else None)
        return kept


def _registered(tools: tuple[Tool, ...], _: str) -> _Registered:
    return _Registered(tools)


def judge(
    said: Heard | ToolCall,
    tools: tuple[Tool, ...] | Mapping[str, Tool],
    policy: Policy = "balanced",
    *,
    source: str = "native",
    position: int = 0,
) -> Verdict:
    """`source` is the dialect that a call was heard in, `position` its place among the calls of the reply.

    Tools that come as a Toolset are made ready once; others each time.
    """
    if isinstance(tools, Mapping):
        tools = tuple(tools.values())
    known = made_once(tools, "guarded", _registered)
    call = said if isinstance(said, ToolCall) else _as_call(said, source)
    try:
        verdict = _judged(call, known, policy, position)
    except _Refusal as refusal:
        return Verdict(None, (refused(_numbered(call, position), refusal.code, str(refusal)),))
    if verdict.call is not None and not verdict.call.id:
        return _with_id(verdict, _numbered(verdict.call, position))
    return verdict


def refused(call: ToolCall, code: str, why: str) -> Decision:
    """The one decision of a call that does not leave. Only its name and the code are logged: the rest may be private."""
    _log.warning("%s: %r", code, shown(call.full_name, 100))
    name = shown(call.full_name, 100) or "a call without a name"
    return Decision(code, f"{name}: {why}", call)


def malformed(problem: str, raw: str, source: str) -> Decision:
    """For text that was meant as a call, but can't be read as one."""
    return refused(ToolCall("", "", source=source, sealed=False, written=raw), "rejected_malformed", problem)


def check_guard(policy: str, calls: str = "hold") -> None:
    """What the caller says of the guard; a wrong word is told, not taken for the default."""
    if policy not in POLICIES:
        raise CallerError(unknown("policy", policy, list(POLICIES)), "policy")
    if calls not in WAYS:
        raise CallerError(unknown("way of giving calls", calls, list(WAYS)), "calls")


def validate(calls: Any, tools: Any, policy: Policy = "balanced") -> Extraction:
    """The guard alone. `calls`: ToolCalls, or a list of calls, a message or a response in any wire's own form."""
    check_guard(policy)
    registered = Toolset(read_any_tools(tools))
    said, decisions = _calls_of(calls)
    passed: list[ToolCall] = []
    for at, call in enumerate(said):
        verdict = judge(call, registered, policy, position=at)
        decisions += verdict.decisions
        if verdict.call is not None:
            passed.append(verdict.call)
    return Extraction(passed, decisions=decisions)


# the judgement itself


def _judged(call: ToolCall, known: _Registered, policy: Policy, position: int) -> Verdict:
    if position >= MAX_CALLS:
        raise _Refusal("rejected_limit", f"one reply may hold {MAX_CALLS} calls")
    if not call.sealed:
        raise _Refusal("rejected_truncated", "the call was cut short")
    if not call.name.strip():
        raise _Refusal("rejected_malformed", "the call names no tool")
    if policy == "strict" and call.fixes:
        raise _Refusal("rejected_malformed", f"it would have to be repaired ({', '.join(call.fixes)})")
    if not known.tools:
        return _unchecked(call, policy)
    found = known.names.find(call.name, call.namespace, exact=policy == "strict")
    if found is None:
        raise _Refusal("rejected_unknown_tool", f"{NO_SUCH_TOOL}; there are {_listed(known.tools)}")
    call = _named(call, found.tool)
    fixes = ("fixed_name",) if found.fixed else ()
    if found.tool.kind == "custom":
        return _verdict(msgspec.structs.replace(call, arguments_json=_free_text(call)), fixes)
    check = known.checker(found.tool)
    read = _arguments(call, policy)
    if not check.fits(read.value):
        read = _brought(call, read, check, policy)
    return _verdict(_changed(call, read), (*fixes, *read.fixes), _about_schema(check, found.tool))


def _unchecked(call: ToolCall, policy: Policy) -> Verdict:
    read = _arguments(call, policy)
    told = Decision("unchecked", f"{call.full_name}: no tools are registered, so there is nothing to check it against.", call)
    return _verdict(_changed(call, read), read.fixes, (told,))


def _arguments(call: ToolCall, policy: Policy) -> Reading:
    """The arguments as an object; as they stand, where they are one in strict JSON."""
    text = call.arguments_json
    if len(text) > MAX_SIZE:
        raise _Refusal("rejected_limit", f"the arguments are longer than {MAX_SIZE} characters")
    if not text.strip():
        return Reading({})
    held = loads_object(text)
    if held is not None and not too_deep(text, held) and not repeats_key(text, held):
        return Reading(held)
    if policy != "strict" and text.strip() == "null":
        return Reading({}, ("dropped_null",))
    read = read_object(text, last_wins=policy == "eager")
    if read.limit:
        raise _Refusal("rejected_limit", f"the arguments are {read.problem}")
    if read.problem is not None:
        raise _Refusal("rejected_arguments", f"the arguments can't be read: {read.problem}")
    if not read.fixes:  # it reads, and is no JSON all the same: half a surrogate pair, which nothing can carry
        read = Reading(read.value, ("bad_escape",))
    if policy == "strict":
        raise _Refusal("rejected_arguments", f"the arguments would have to be repaired ({', '.join(read.fixes)})")
    return read


def _brought(call: ToolCall, read: Reading, check: Checker, policy: Policy) -> Reading:
    """Arguments that miss the schema, brought to it."""
    better = None if policy == "strict" else mended(read.value, check, call.name, call.arguments_json)
    if better is None:
        problems = "; ".join(map(str, check.problems(read.value)))
        raise _Refusal("rejected_schema", shown(problems or "the arguments don't satisfy the schema", 600))
    return Reading(better.value, tuple(dict.fromkeys((*read.fixes, *better.fixes))))


def _changed(call: ToolCall, read: Reading) -> ToolCall:
    """As it was written where nothing had to be mended; else with both forms."""
    if not read.fixes:
        return call if call.arguments_json.strip() else msgspec.structs.replace(call, arguments_json="{}")
    written = call.arguments_json if call.written is None else call.written
    return msgspec.structs.replace(call, arguments_json=dumps(read.value), written=written)


def _verdict(call: ToolCall, fixes: tuple[str, ...], others: tuple[Decision, ...] = ()) -> Verdict:
    """A decision for each fix, those of the grammar included."""
    if not fixes and not call.fixes:
        return Verdict(call, others)
    codes = tuple(dict.fromkeys((*call.fixes, *fixes)))
    if codes != call.fixes:
        call = msgspec.structs.replace(call, fixes=codes)
    return Verdict(call, (*told_fixes(call, codes), *others))


def told_fixes(call: ToolCall, codes: Iterable[str]) -> tuple[Decision, ...]:
    return tuple(Decision(code, f"{call.full_name}: {sentence(code)}", call) for code in codes)


def _about_schema(check: Checker, tool: Tool) -> tuple[Decision, ...]:
    if not check.notes:
        return ()
    return (Decision("evident_schema", shown(f"{tool.full_name}: its schema is not valid: {'; '.join(check.notes)}", 600)),)


def _free_text(call: ToolCall) -> str:
    """A custom tool's arguments: `{"input": text}`, whatever form the text came in."""
    held = loads_object(call.arguments_json)
    if held is not None and held.keys() == {"input"} and isinstance(held["input"], str):
        return call.arguments_json
    return dumps({"input": call.arguments_json})


# names and ids


def _as_call(heard: Heard, source: str) -> ToolCall:
    written = heard.raw if heard.raw and heard.raw != heard.arguments else None
    return ToolCall(
        heard.id or "",
        heard.name,
        heard.arguments,
        sealed=heard.closed,
        source=source,
        written=written,
        fixes=heard.fixes,
    )


def _named(call: ToolCall, tool: Tool) -> ToolCall:
    """Under the name that its tool was registered with."""
    name = called_as(tool, call.name)
    custom = tool.kind == "custom"
    if call.name == name and call.namespace == tool.namespace and call.custom == custom:
        return call
    return msgspec.structs.replace(call, name=name, namespace=tool.namespace, custom=custom)


def _numbered(call: ToolCall, position: int) -> ToolCall:
    return call if call.id else msgspec.structs.replace(call, id=f"{call.name}_{position}")


def _with_id(verdict: Verdict, call: ToolCall) -> Verdict:
    """The same verdict, its decisions speaking of the call that leaves."""
    told = (msgspec.structs.replace(one, call=call) if one.call is not None else one for one in verdict.decisions)
    return Verdict(call, tuple(told))


def _listed(tools: tuple[Tool, ...]) -> str:
    return shown(", ".join(tool.full_name for tool in tools), 300)


def canonical(call: ToolCall) -> tuple[str, str]:
    """What tells one call from another: its tool, and its arguments in one order."""
    held = loads_object(call.arguments_json or "{}")
    text = call.arguments_json if held is None else msgspec.json.encode(held, order="sorted").decode()
    return call.full_name, text


def _calls_of(calls: Any) -> tuple[list[ToolCall], list[Decision]]:
    if isinstance(calls, ToolCall):
        return [calls], []
    if isinstance(calls, (list, tuple)) and all(isinstance(call, ToolCall) for call in calls):
        return list(calls), []
    reply = read_any_reply(list(calls) if isinstance(calls, tuple) else calls, "openai-chat")
    return [part for part in reply.parts if isinstance(part, ToolCall)], list(reply.decisions)
