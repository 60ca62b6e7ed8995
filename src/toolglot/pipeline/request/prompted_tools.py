"""Prompted mode: for models and servers without native tools, or with unreliable ones.

The tools move into the system prompt; calls and results in the history become text in the dialect. The result is a plain
conversation that every chat API accepts.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, cached_for_toolset
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import with_nonce
from toolglot.pipeline.request.history_as_text import (
    HistoryAsText,
    ResultsAs,
    add_instructions,
    fit_system,
    merge_same_role,
    with_reminder,
)
from toolglot.pipeline.request.prompts import callable_tools, named_style, tool_prompt


def prompt_tools(
    request: Request,
    dialect: Dialect,
    *,
    style: str = "standard",
    nonce: str | None = None,
    results_as: ResultsAs = "user",
    refuses: Iterable[str] = (),
    notes: list[str] | None = None,
) -> Request:
    """The request with its tools in the system prompt.

    `results_as`: the role of results; `tool` leaves them unchanged, for servers with a chat template that supports them.
    `refuses`: what the chat template does not support; only `system` and `late_system` matter here. Changes are appended to
    `notes`.
    """
    if results_as not in ("user", "tool"):
        raise CallerError(unknown("role for results", results_as, ["tool", "user"]), "results_as")
    notes = [] if notes is None else notes
    tools = tools_to_show(request.tools, request.choice, notes)
    messages = HistoryAsText(with_nonce(dialect, nonce) if nonce is not None else dialect, notes).history(
        request.messages, results_as
    )
    if tools and results_as == "user" and request.messages and request.messages[-1].role == "tool":
        messages = with_reminder(messages, request.messages)
    if tools:
        choice, parallel = request.choice, request.parallel
        words = choice and (choice.mode, choice.names)
        prompt = cached_for_toolset(
            request.tools if nonce is None else tools,  # a nonce is new each time: don't cache
            ("prompt", dialect.name, named_style(style), words, parallel),
            lambda _, __: tool_prompt(tools, dialect, style, choice=choice, parallel=parallel, nonce=nonce),
        )
        messages = add_instructions(messages, prompt)
        notes.append(f"tools: {len(tools)} in the system prompt, in the dialect {dialect.name}")
    messages = fit_system(messages, tuple(refuses), notes)
    return msgspec.structs.replace(request, messages=tuple(merge_same_role(messages)), tools=(), choice=None, parallel=None)


def tools_to_show(tools: tuple[Tool, ...], choice: Choice | None, notes: list[str]) -> tuple[Tool, ...]:
    """The tools for the prompt: none if calls are not allowed, else those of the tool choice."""
    if choice is not None and choice.mode == "none":
        if tools:
            notes.append("tool choice: none; no tool is in the prompt")
        return ()
    shown = callable_tools(tools)
    notes += [f"tool {tool.name}: left out, because its server runs it" for tool in tools if tool.kind == "server"]
    if choice is None:
        return shown
    named = tuple(tool for tool in shown if tool.name in choice.names or tool.full_name in choice.names)
    if choice.names and named:
        notes.append(f"tool choice: only {', '.join(tool.full_name for tool in named)} in the prompt")
        shown = named
    if choice.mode == "required" and shown:
        notes.append("tool choice: required, stated in the prompt, which a model may ignore")
    return shown
