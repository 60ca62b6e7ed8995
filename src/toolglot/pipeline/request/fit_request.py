"""Fit a request to its model and server. Each change is reported in the plan's notes.

The plan keeps the caller's tools: calls are validated against these, not against the fitted ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import is_
from typing import Any

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import UNKNOWN
from toolglot.core.conversation import contents
from toolglot.core.messages import Message, Text
from toolglot.core.reply import Decision
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, describe_examples
from toolglot.dialects import find_dialect
from toolglot.errors import CallerError
from toolglot.grammars.nonce import NONCE_DIALECTS, conversation_nonce
from toolglot.io.json_codec import dumps
from toolglot.pipeline.request.constrained import constrain
from toolglot.pipeline.request.context_budget import ContextBudget, context_budget
from toolglot.pipeline.request.fit_tools import NONE_FILLED, apply_choice, cap_tools, fit_tools
from toolglot.pipeline.request.history_as_text import (
    HistoryAsText,
    add_instructions,
    fit_system,
    merge_same_role,
    separate_results,
)
from toolglot.pipeline.request.images_as_text import count_images, images_as_text
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.prompted_tools import prompt_tools
from toolglot.pipeline.request.prompts import GENERAL
from toolglot.pipeline.request.retry_feedback import MISSING, codes_in
from toolglot.pipeline.request.route import Route
from toolglot.pipeline.request.tool_loops import end_tool_loops
from toolglot.pipeline.request.tool_mode import (
    SMALL,
    ModeCounts,
    ToolMode,
    choose_mode,
    is_declared,
    is_queried,
    native_failure,
)
from toolglot.pipeline.response.extract import toolset
from toolglot.pipeline.response.grounding import ONCE, Grounding

_LEAST_OUTPUT = 512  # tokens: the estimate of a prompt is rather high, so the answer is never cut below
_TEMPLATE = 512  # tokens: what a chat template itself adds, with tools
_MAX_TOKENS = 1024  # for a tiny model, if the caller sets no limit
_COPIES = 0.3  # billions of parameters: smaller models copy an example whatever the question is
_TINY = 1.0  # billions of parameters: smaller models may not stop
_BILLING_LINE = "x-anthropic-billing-header:"
_MALFORMED = frozenset({"rejected_schema", "rejected_arguments", "rejected_malformed"})
_NO_CALLS = ToolMode("native", why="no tools to call")


class _Fitting(msgspec.Struct):
    """What is decided about the request, and the notes so far."""

    route: Route
    tool_mode: ToolMode
    nonce: str | None
    calls: bool  # the model may call something
    notes: list[str]
    decisions: list[Decision]
    filled: frozenset[str] = NONE_FILLED
    without_schema: Callable[[], Request] | None = None


def fit_request(
    request: Request,
    route: Route,
    *,
    ask: str = "auto",
    nonce: str | None = None,
    nonce_secret: bytes = b"",
    larger_context: bool = False,
    mode_counts: ModeCounts = {},  # noqa: B006
    weak_forms: bool | None = None,
    loop_limit: int = 0,
) -> Plan:
    """Plan the request for this model. `larger_context`: request a larger context window, if the API has an option for it.

    `nonce_secret`: derive a nonce from it for a prompted dialect, if there is none and the model's profile supports one.
    `weak_forms`: scan text for calls without a marker; None: by the model's profile. `loop_limit`: after how many equal calls
    with equal results the model is asked to stop; 0: never.
    """
    caller_tools, choice, messages, single = request.tools, request.choice, request.messages, request.parallel is False
    declared = is_declared(route.profile, route.provider)
    failure = native_failure(messages) if ask == "auto" and declared else ""
    tool_mode = choose_mode(ask, route.profile, route.provider, choice, mode_counts, failure=failure)
    if nonce is not None and tool_mode.kind != "dialect":
        raise CallerError(f"a nonce needs a dialect, but the tool mode is {tool_mode.name}", "nonce")
    reported = codes_in(messages[-1]) if messages else frozenset()
    if ask == "auto" and nonce is None and reported and route.provider.constrains:
        tool_mode = _constrained_retry(tool_mode, reported)
    forbidden = choice is not None and choice.mode == "none"
    calls = not forbidden and any(tool.kind != "server" for tool in caller_tools)
    if nonce is None and nonce_secret and calls and _gets_nonce(tool_mode, route.profile):
        nonce = conversation_nonce(messages, nonce_secret)
    fitting = _Fitting(route, tool_mode, nonce, calls, [], [])
    if calls and ask == "auto" and (tool_mode.kind != "native" or is_queried(route.provider)):
        fitting.notes.append(f"tool mode: {tool_mode.name}: {tool_mode.why}")
    if loop_limit:
        request = end_tool_loops(request, loop_limit, fitting.notes)
    if tool_mode.kind != "native" and (described := describe_examples(request.tools)) is not request.tools:
        request = msgspec.structs.replace(request, tools=described)
    kind = tool_mode.kind if caller_tools or _has_calls(request.messages) else "native"
    if not route.provider.billing_line:
        request = _without_billing_line(request, fitting)
    request = _fit_images(request, fitting)
    request = _FITS[kind](request, fitting)
    request = _limit_tokens(request, fitting)
    request = _fit_context(request, fitting, larger=larger_context)
    text_dialect = None if not calls else tool_mode.dialect if tool_mode.kind == "dialect" else route.profile.dialect or "auto"
    tool_mode = tool_mode if calls else _NO_CALLS
    any_size = tool_mode.kind == "constrained" and declared and route.profile.parameters is None
    checked = calls and (any_size or _is_small(route.profile, SMALL)) and (choice is None or choice.mode == "auto")
    checked = checked and not reported & ONCE
    return Plan(
        request,
        route,
        tool_mode,
        caller_tools,
        choice,
        text_dialect,
        nonce,
        _drifts(tool_mode, route.profile) if weak_forms is None else weak_forms,
        tuple(fitting.notes),
        fitting.filled,
        single,
        None if fitting.without_schema is None else partial(_plain, fitting.without_schema, fitting),
        Grounding(messages) if checked else None,
        messages,
        tuple(fitting.decisions),
    )


def _constrained_retry(tool_mode: ToolMode, codes: frozenset[str]) -> ToolMode:
    """After a malformed call in a prompted dialect, or words where a call was required, retry with constrained decoding."""
    if tool_mode.kind == "dialect" and codes & _MALFORMED:
        return ToolMode("constrained", why="the previous call was malformed")
    if MISSING in codes:
        return ToolMode("constrained", why="a call is required, and the model answered in words")
    return tool_mode


def _gets_nonce(tool_mode: ToolMode, profile: Profile) -> bool:
    """Whether a nonce is derived for the prompt: tiny models of a family that supports one copy it with mistakes."""
    is_marked = tool_mode.kind == "dialect" and tool_mode.dialect in NONCE_DIALECTS
    return is_marked and profile.supports_nonce and not _is_small(profile, _TINY)


def _drifts(tool_mode: ToolMode, profile: Profile) -> bool:
    """Whether the model may write calls in a form that nobody asked for. One that is only served with native calls does not."""
    return tool_mode.kind != "native" or profile.dialect is not None or profile.family == UNKNOWN or bool(profile.native)


def _is_small(profile: Profile, most: float) -> bool:
    return profile.parameters is not None and profile.parameters <= most


def _without_billing_line(request: Request, fitting: _Fitting) -> Request:
    """Without the line that Claude Code puts first: it differs in each request, so no prefix of a prompt would be cached.

    Its own vendor takes it out.
    """
    first = request.messages[0] if request.messages and request.messages[0].role == "system" else None
    part = first.parts[0] if first is not None and first.parts else None
    if first is None or not isinstance(part, Text) or not part.text.startswith(_BILLING_LINE):
        return request
    fitting.notes.append("system prompt: Claude Code's billing line left out, because it differs in each request")
    rest = part.text.partition("\n")[2].lstrip("\n")
    parts = (*((msgspec.structs.replace(part, text=rest),) if rest else ()), *first.parts[1:])
    system = (msgspec.structs.replace(first, parts=parts),) if parts else ()
    return msgspec.structs.replace(request, messages=(*system, *request.messages[1:]))


def _fit_images(request: Request, fitting: _Fitting) -> Request:
    profile = fitting.route.profile
    if profile.vision is not False or not (count := count_images(request.messages)):
        return request
    message = f"{count} images replaced by a text, because {profile.family} does not see images"
    fitting.notes.append(message)
    fitting.decisions.append(Decision("image_left_out", message))
    return msgspec.structs.replace(request, messages=images_as_text(request.messages))


def _limit_tokens(request: Request, fitting: _Fitting) -> Request:
    profile = fitting.route.profile
    if request.max_tokens is None and _is_small(profile, _TINY):
        return _with_max_tokens(request, _MAX_TOKENS, "because so small a model may not stop", fitting)
    if request.max_tokens is not None and profile.max_output is not None and request.max_tokens > profile.max_output:
        return _with_max_tokens(request, profile.max_output, f"the most that {profile.family} gives", fitting)
    return request


def _plain(make: Callable[[], Request], fitting: _Fitting) -> Request:
    return _limit_tokens(make(), fitting)


def _with_max_tokens(request: Request, number: int, why: str, fitting: _Fitting) -> Request:
    note = f"max_tokens: {number}, {why}"
    if note not in fitting.notes:
        fitting.notes.append(note)
    return msgspec.structs.replace(request, max_tokens=number)


def _has_calls(messages: tuple[Message, ...]) -> bool:
    found = contents(messages)
    return bool(found.calls or found.results)


# -- tool modes


def _native(request: Request, fitting: _Fitting) -> Request:
    """Native tools: fit the schemas to the server, and apply a tool choice that it ignores."""
    if not request.tools:
        return _fit_history(request, fitting)
    row, profile, notes = fitting.route.provider, fitting.route.profile, fitting.notes
    choice, parallel, messages = request.choice, request.parallel, request.messages
    tools: tuple[Tool, ...] = toolset(request.tools)
    fitted = None
    if row.schemas is not None:
        fitted = fit_tools(tools, row.schemas)
        tools, fitting.filled = fitted.tools, fitted.filled
    if choice is not None and not row.quirks.tool_choice:
        tools = apply_choice(tools, choice, row.name, notes)
        if choice.mode == "required" and tools:
            notes.append(f"tool choice: required, stated in the prompt, because {row.name} ignores it")
            messages = tuple(add_instructions(list(messages), _required_call(choice)))
        choice = None
    tools = cap_tools(profile.max_tools, tools, request, profile.family, notes)
    if fitted is not None and (fitted.notes or fitted.moved):
        notes += fitted.notes_for(tools, row.name)
    one_by_one = not profile.supports_parallel and profile.family != UNKNOWN  # don't restrict an unknown model
    if tools and parallel is not False and one_by_one and row.quirks.parallel_control:
        notes.append(f"parallel calls: off, because {profile.family} makes one at a time")
        parallel = False
    now = (tools, choice, parallel, messages)
    if not all(map(is_, now, (request.tools, request.choice, request.parallel, request.messages))):
        request = msgspec.structs.replace(request, tools=tools, choice=choice, parallel=parallel, messages=messages)
    return _fit_history(request, fitting)


def _required_call(choice: Choice) -> str:
    wanted = f"a call of {choice.names[0]}" if len(choice.names) == 1 else "a call of at least one of the tools"
    return f"Answer now with {wanted}, and with nothing else."


def _dialect(request: Request, fitting: _Fitting) -> Request:
    dialect = find_dialect(fitting.tool_mode.dialect or GENERAL)
    if dialect is None:
        raise CallerError(f"unknown dialect {fitting.tool_mode.dialect!r}", "ask")
    profile, notes = fitting.route.profile, fitting.notes
    changes: dict[str, Any] = {}
    if request.parallel is not False and not profile.supports_parallel:
        changes["parallel"] = False
    changes["tools"] = cap_tools(profile.max_tools, request.tools, request, profile.family, notes)
    if request.output is not None and fitting.calls:
        notes.append("response schema: stated in the prompt, because the model must be able to write a call")
        schema = "" if request.output.schema is None else f" that fits this schema: {dumps(request.output.schema)}"
        instructions = f"Where you call no tool, answer with nothing but JSON{schema}"
        changes |= {"output": None, "messages": tuple(add_instructions(list(request.messages), instructions))}
    request = msgspec.structs.replace(request, **changes)
    style = profile.prompt_style
    return prompt_tools(request, dialect, style=style, nonce=fitting.nonce, refuses=profile.refuses, notes=notes)


def _constrained(request: Request, fitting: _Fitting) -> Request:
    profile, notes = fitting.route.profile, fitting.notes
    tools = cap_tools(profile.max_tools, toolset(request.tools), request, profile.family, notes)
    several = profile.supports_parallel and request.parallel is not False
    request = msgspec.structs.replace(request, tools=tools)
    schemas = fitting.route.provider.schemas
    constrained = constrain(
        request, several=several, example=not _is_small(profile, _COPIES), refuses=profile.refuses, schemas=schemas, notes=notes
    )
    fitting.without_schema = constrained.plain
    return constrained.request


_FITS: dict[str, Callable[[Request, _Fitting], Request]] = {
    "native": _native,
    "dialect": _dialect,
    "constrained": _constrained,
}


# -- history


def _fit_history(request: Request, fitting: _Fitting) -> Request:
    """Rewrite the history for the model's chat template. What is rewritten depends on the template alone, never on the turn:
    each prompt must begin with the one before, or the server's prefix cache is lost.
    """
    refuses, notes = fitting.route.profile.refuses, fitting.notes
    if not refuses:
        return request
    messages = list(request.messages)
    if "tool" in refuses and _has_calls(request.messages):
        dialect = find_dialect(fitting.route.profile.dialect or GENERAL) or find_dialect(GENERAL)
        messages = HistoryAsText(dialect, notes).history(request.messages, "user")  # type: ignore[arg-type]
    messages = fit_system(messages, refuses, notes)
    if set(refuses) - {"late_system"}:
        messages = merge_same_role(messages)
    if "alternation" in refuses:
        messages = separate_results(messages)
    fitted = tuple(messages)
    return request if fitted == request.messages else msgspec.structs.replace(request, messages=fitted)


# -- context window


def _fit_context(request: Request, fitting: _Fitting, *, larger: bool) -> Request:
    """Add a warning if the prompt does not fit, or request a larger window if `larger` and possible."""
    route = fitting.route
    default, most = route.provider.default_context, route.profile.context_length
    if default is None and most is None:
        return request
    wire, at = route.wire.name, route.wire.window_option
    wire_extra = request.extra.get(wire, {}) if at is not None else {}
    options: dict[str, Any] = wire_extra.get(at[0]) or {} if at is not None else {}
    configured = options.get(at[1]) if at is not None else None
    default = configured if isinstance(configured, int) and configured > 0 else default
    budget = context_budget(request, default, most)
    if most is not None and request.max_tokens is not None and budget.needed > most:
        left = max(most - (budget.needed - request.max_tokens) - _TEMPLATE, _LEAST_OUTPUT)
        if left < request.max_tokens:
            request = _with_max_tokens(request, left, f"what the window of {most} tokens leaves", fitting)
            budget = context_budget(request, default, most)
    if not budget.short:
        return request
    if larger and budget.larger is not None and at is not None:
        fitting.notes.append(f"context: requested a window of {budget.larger} tokens, because about {budget.needed} are needed")
        wire_extra = {**wire_extra, at[0]: {**options, at[1]: budget.larger}}
        return msgspec.structs.replace(request, extra={**request.extra, wire: wire_extra})
    fitting.notes.append(_warning(budget, fitting, at is not None))
    return request


def _warning(budget: ContextBudget, fitting: _Fitting, has_option: bool) -> str:
    row, profile = fitting.route.provider, fitting.route.profile
    if budget.window == budget.most:
        return f"context: about {budget.needed} tokens are needed, but {profile.family} has a limit of {budget.window}"
    warning = f"context: about {budget.needed} tokens are needed, but the window of {row.name} is {budget.window}"
    warning += ": it silently cuts the beginning, including tools"
    if budget.larger is None:
        return warning
    return warning + ("; set larger_context" if has_option else "; start the server with a larger window")
