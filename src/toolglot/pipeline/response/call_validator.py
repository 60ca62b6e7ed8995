"""Validate calls: a call must name a registered tool and satisfy its schema.

`validate_call` accepts one call as it is, repairs it, or rejects it with exactly one `rejected_*` decision. It never raises for
model output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.budget import Budget, BudgetSpent
from toolglot.core.extraction import Extraction
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.errors import CallerError
from toolglot.grammars.parsed_call import ParsedCall
from toolglot.io.json_codec import dumps, loads_object, preview
from toolglot.pipeline.detect_reply_format import read_any_reply_or_reject
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.schema.check import Checker, checker
from toolglot.schema.coerce import repair, unwrap
from toolglot.schema.fixes import sentence
from toolglot.schema.relaxed_json import MAX_SIZE, Reading, read_object, repeats_key, too_deep
from toolglot.schema.tool_names import ToolNames, called_as
from toolglot.wires import DEFAULT

Policy = Literal["strict", "balanced", "eager"]
POLICIES: tuple[str, ...] = get_args(Policy)
UnsupportedSchemas = Literal["reject", "lenient"]  # calls of a tool with a schema that can't be compiled completely
CALL_MODES = ("hold", "pass")
MAX_CALLS = 128  # of one reply


class Verdict(msgspec.Struct, frozen=True):
    call: ToolCall | None  # None: rejected
    decisions: tuple[Decision, ...] = ()


class _Rejected(Exception):  # noqa: N818  (only used in this file)
    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class _ToolIndex:
    """The tools of a request with what validation needs."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self.names = ToolNames(self.tools)
        self._checkers: dict[int, Checker] = {}

    def checker(self, tool: Tool) -> Checker:
        found = self._checkers.get(id(tool))
        if found is None:
            found = self._checkers[id(tool)] = checker(tool.schema if tool.kind == "function" else None)
        return found


def _tool_index(tools: tuple[Tool, ...], _: str) -> _ToolIndex:
    return _ToolIndex(tools)


def validate_call(
    parsed: ParsedCall | ToolCall,
    tools: tuple[Tool, ...] | Mapping[str, Tool],
    policy: Policy = "balanced",
    *,
    source: str = "native",
    position: int = 0,
    budget: Budget | None = None,
    schemas: UnsupportedSchemas = "reject",
) -> Verdict:
    """`source` is the dialect that the call was parsed from, `position` its index among the calls of the reply.

    A Toolset is indexed once, other tools each time. `budget` is the request's.
    """
    if isinstance(tools, Mapping):
        tools = tuple(tools.values())
    known = cached_for_toolset(tools, "tool index", _tool_index)
    call = parsed if isinstance(parsed, ToolCall) else _as_call(parsed, source)
    try:
        verdict = _validate(call, known, policy, position, (budget or Budget(), schemas))
    except _Rejected as rejected:
        return Verdict(None, (reject(_numbered(call, position), rejected.code, str(rejected)),))
    except (BudgetSpent, RecursionError) as spent:
        why = str(spent) if isinstance(spent, BudgetSpent) else "it is nested too deeply for its schema"
        return Verdict(None, (reject(_numbered(call, position), "rejected_limit", why),))
    if verdict.call is not None and not verdict.call.id:
        call = _numbered(verdict.call, position)
        return _with_id(verdict, call) if verdict.decisions else Verdict(call, ())
    return verdict


def reject(call: ToolCall, code: str, why: str) -> Decision:
    """The decision for a rejected call."""
    name = preview(call.full_name, 100) or "a call without a name"
    return Decision(code, f"{name}: {why}", call)


def reject_malformed(problem: str, raw: str, source: str) -> Decision:
    """The decision for text that looks like a call, but can't be parsed."""
    return reject(ToolCall("", "", source=source, sealed=False, written=raw), "rejected_malformed", problem)


def check_options(policy: str, calls: str = "hold") -> None:
    """Raise an error for an unknown policy or mode."""
    if policy not in POLICIES:
        raise CallerError(unknown("policy", policy, list(POLICIES)), "policy")
    if calls not in CALL_MODES:
        raise CallerError(unknown("calls mode", calls, list(CALL_MODES)), "calls")


def validate(calls: Any, tools: Any, policy: Policy = "balanced") -> Extraction:
    """Validate calls. `calls`: ToolCalls, or a list of calls, a message or a response in the format of any wire.

    Examples:
        >>> tools = [{"name": "add", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
        >>> validate([{"function": {"name": "sub", "arguments": "{}"}}], tools).decisions[0].code
        'rejected_unknown_tool'
    """
    check_options(policy)
    toolset = Toolset(read_any_tools(tools))
    given, decisions = _calls_of(calls)
    valid: list[ToolCall] = []
    budget = Budget()
    for at, call in enumerate(given):
        verdict = validate_call(call, toolset, policy, position=at, budget=budget)
        decisions += verdict.decisions
        if verdict.call is not None:
            valid.append(verdict.call)
    return Extraction(valid, decisions=decisions)


# validation


def _validate(
    call: ToolCall, known: _ToolIndex, policy: Policy, position: int, limits: tuple[Budget, UnsupportedSchemas]
) -> Verdict:
    if position >= MAX_CALLS:
        raise _Rejected("rejected_limit", f"a reply may have at most {MAX_CALLS} calls")
    if not call.sealed:
        raise _Rejected("rejected_truncated", "the call is truncated")
    if not call.name.strip():
        raise _Rejected("rejected_malformed", "the call names no tool")
    if policy == "strict" and call.fixes:
        raise _Rejected("rejected_malformed", f"it needs repair ({', '.join(call.fixes)})")
    if not known.tools:
        return _unchecked(call, policy)
    found = known.names.find(call.name, call.namespace, exact=policy == "strict")
    if found is None:
        raise _Rejected("rejected_unknown_tool", f"there is no such tool; there are {_listed(known.tools)}")
    call = _with_tool_name(call, found.tool)
    fixes = ("fixed_name",) if found.fixed else ()
    if found.tool.kind == "custom":
        return _verdict(msgspec.structs.replace(call, arguments_json=_free_text(call)), fixes)
    check = known.checker(found.tool)
    budget, schemas = limits
    about_schema: tuple[Decision, ...] = ()
    if not check.as_written:
        about_schema = _about_schema(check, found.tool, schemas)
    read = _arguments(call, policy)
    if not check.fits(read.value, budget, len(call.arguments_json)):
        read = _repair(call, read, check, policy, budget)
    elif policy != "strict" and len(read.value) == 1 and (inner := unwrap(read.value, check, budget, call.name)) is not None:
        read = Reading(inner.value, (*read.fixes, *inner.fixes))
    return _verdict(_with_arguments(call, read), (*fixes, *read.fixes), about_schema)


def _unchecked(call: ToolCall, policy: Policy) -> Verdict:
    read = _arguments(call, policy)
    unchecked = Decision("unchecked", f"{call.full_name}: no tools are registered, so the call is not validated", call)
    return _verdict(_with_arguments(call, read), read.fixes, (unchecked,))


def _arguments(call: ToolCall, policy: Policy) -> Reading:
    """The arguments as an object; unchanged if they are valid JSON."""
    text = call.arguments_json
    if len(text) > MAX_SIZE:
        raise _Rejected("rejected_limit", f"the arguments are longer than {MAX_SIZE} characters")
    if not text.strip():
        return Reading({})
    value = loads_object(text)
    if value is not None and not too_deep(text, value) and not repeats_key(text, value):
        return Reading(value)
    if policy != "strict" and text.strip() == "null":
        return Reading({}, ("dropped_null",))
    read = read_object(text, last_wins=policy == "eager")
    if read.limit:
        raise _Rejected("rejected_limit", f"the arguments are {read.problem}")
    if read.problem is not None:
        raise _Rejected("rejected_arguments", f"the arguments can't be parsed: {read.problem}")
    if not read.fixes:  # parsed, but not valid JSON: an unpaired surrogate, which can't be encoded
        read = Reading(read.value, ("bad_escape",))
    if policy == "strict":
        raise _Rejected("rejected_arguments", f"the arguments need repair ({', '.join(read.fixes)})")
    return read


def _repair(call: ToolCall, read: Reading, check: Checker, policy: Policy, budget: Budget) -> Reading:
    """Repair arguments that don't satisfy the schema, or reject the call."""
    better = None if policy == "strict" else repair(read.value, check, call.name, call.arguments_json, budget)
    if better is None:
        problems = "; ".join(map(str, check.problems(read.value, budget)))
        raise _Rejected("rejected_schema", preview(problems or "the arguments don't satisfy the schema", 600))
    return Reading(better.value, tuple(dict.fromkeys((*read.fixes, *better.fixes))))


def _with_arguments(call: ToolCall, read: Reading) -> ToolCall:
    """The call as written if nothing was repaired; else with the repaired and the written arguments."""
    if not read.fixes:
        return call if call.arguments_json.strip() else msgspec.structs.replace(call, arguments_json="{}")
    written = call.arguments_json if call.written is None else call.written
    return msgspec.structs.replace(call, arguments_json=dumps(read.value), written=written)


def _verdict(call: ToolCall, fixes: tuple[str, ...], others: tuple[Decision, ...] = ()) -> Verdict:
    """Add a decision for each fix, including those of the grammar."""
    if not fixes and not call.fixes:
        return Verdict(call, others)
    codes = tuple(dict.fromkeys((*call.fixes, *fixes)))
    if codes != call.fixes:
        call = msgspec.structs.replace(call, fixes=codes)
    return Verdict(call, (*_fix_decisions(call, codes), *others))


def _fix_decisions(call: ToolCall, codes: Iterable[str]) -> tuple[Decision, ...]:
    return tuple(Decision(code, f"{call.full_name}: {sentence(code)}", call) for code in codes)


def _about_schema(check: Checker, tool: Tool, schemas: UnsupportedSchemas) -> tuple[Decision, ...]:
    if check.unsupported and schemas == "reject":
        raise _Rejected("rejected_unsupported_keyword", f"its schema can't be compiled: {_first_of(check.unsupported)}")
    decisions: list[Decision] = []
    if check.notes:
        repaired = f"{tool.full_name}: its schema is not valid: {'; '.join(check.notes)}"
        decisions.append(Decision("repaired_schema", preview(repaired, 600)))
    if check.unsupported:
        ignored = f"{tool.full_name}: the call was not checked against {_first_of(check.unsupported)}"
        decisions.append(Decision("unsupported_keyword", ignored))
    return tuple(decisions)


def _first_of(keywords: tuple[str, ...]) -> str:
    return preview("; ".join(keywords), 500)


def unsupported_schema(tools: Iterable[Tool]) -> tuple[str, str] | None:
    """The first tool with a schema that can't be compiled completely, and the reason."""
    for tool in tools:
        unsupported = checker(tool.schema).unsupported if tool.kind == "function" and tool.schema else ()
        if unsupported:
            return tool.full_name, _first_of(unsupported)
    return None


def _free_text(call: ToolCall) -> str:
    """A custom tool's arguments as `{"input": text}`."""
    arguments = loads_object(call.arguments_json)
    if arguments is not None and arguments.keys() == {"input"} and isinstance(arguments["input"], str):
        return call.arguments_json
    return dumps({"input": call.arguments_json})


# names and ids


def _as_call(parsed: ParsedCall, source: str) -> ToolCall:
    written = parsed.raw if parsed.raw and parsed.raw != parsed.arguments else None
    return ToolCall(
        parsed.id or "",
        parsed.name,
        parsed.arguments,
        sealed=parsed.closed,
        source=source,
        written=written,
        fixes=parsed.fixes,
    )


def _with_tool_name(call: ToolCall, tool: Tool) -> ToolCall:
    """The call with the name, namespace and kind of its tool."""
    name = called_as(tool, call.name)
    custom = tool.kind == "custom"
    if call.name == name and call.namespace == tool.namespace and call.custom == custom:
        return call
    return msgspec.structs.replace(call, name=name, namespace=tool.namespace, custom=custom)


def _numbered(call: ToolCall, position: int) -> ToolCall:
    return call if call.id else msgspec.structs.replace(call, id=f"{call.name}_{position}")


def _with_id(verdict: Verdict, call: ToolCall) -> Verdict:
    """The same verdict for `call`, which has an id, in its decisions too."""
    decisions = (msgspec.structs.replace(one, call=call) if one.call is not None else one for one in verdict.decisions)
    return Verdict(call, tuple(decisions))


def _listed(tools: tuple[Tool, ...]) -> str:
    return preview(", ".join(tool.full_name for tool in tools), 300)


def call_key(call: ToolCall) -> tuple[str, str]:
    """The identity of a call: its tool, and its arguments with sorted keys."""
    arguments = loads_object(call.arguments_json or "{}")
    text = call.arguments_json if arguments is None else msgspec.json.encode(arguments, order="sorted").decode()
    return call.full_name, text


def _calls_of(calls: Any) -> tuple[list[ToolCall], list[Decision]]:
    if isinstance(calls, ToolCall):
        return [calls], []
    if isinstance(calls, (list, tuple)) and all(isinstance(call, ToolCall) for call in calls):
        return list(calls), []
    reply = read_any_reply_or_reject(list(calls) if isinstance(calls, tuple) else calls, DEFAULT)
    return [part for part in reply.parts if isinstance(part, ToolCall)], list(reply.decisions)
