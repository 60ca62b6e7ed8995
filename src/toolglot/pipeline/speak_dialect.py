"""A request with tools, asked by prompt: for models and servers that take no tools, or make a mess of them.

The tools move into the system prompt; calls and results of the history become text, as the dialect writes them. What is left
is a plain conversation that every chat API takes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, made_once
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import with_nonce
from toolglot.pipeline.prompts import callable_tools, named_style, teach
from toolglot.pipeline.turns import ResultsAs, Spoken, merged, reminded, with_lesson, without_system


def speak(
    request: Request,
    dialect: Dialect,
    *,
    style: str = "standard",
    nonce: str | None = None,
    results_as: ResultsAs = "user",
    refuses: Iterable[str] = (),
    notes: list[str] | None = None,
) -> Request:
    """The request without tools, which are taught in its system prompt instead.

    `results_as`: whose words results are; `tool` leaves them as they are, for servers whose template has a place for them.
    `refuses`: what the model's template can't take; of these `system` counts here. `notes` is appended to.
    """
    if results_as not in ("user", "tool"):
        raise CallerError(unknown("role for results", results_as, ["tool", "user"]), "results_as")
    told = [] if notes is None else notes
    tools = taught(request.tools, request.choice, told)
    messages = Spoken(with_nonce(dialect, nonce) if nonce is not None else dialect, told).history(request.messages, results_as)
    if tools and results_as == "user" and request.messages and request.messages[-1].role == "tool":
        messages = reminded(messages, request.messages)
    if tools:
        choice, parallel = request.choice, request.parallel
        words = choice and (choice.mode, choice.names)
        lesson = made_once(
            request.tools if nonce is None else tools,  # a nonce is new each time: nothing to keep
            ("lesson", dialect.name, named_style(style), words, parallel),
            lambda _, __: teach(tools, dialect, style, choice=choice, parallel=parallel, nonce=nonce),
        )
        messages = with_lesson(messages, lesson)
        told.append(f"tools: {len(tools)} taught in the system prompt, in the dialect {dialect.name}")
    if "system" in tuple(refuses):
        messages = without_system(messages, told)
    return msgspec.structs.replace(request, messages=merged(messages), tools=(), choice=None, parallel=None)


def taught(tools: tuple[Tool, ...], choice: Choice | None, notes: list[str]) -> tuple[Tool, ...]:
    """The tools that the model is told of: none where it may call none, and only those it may choose from."""
    if choice is not None and choice.mode == "none":
        if tools:
            notes.append("tool choice: none; no tool is taught")
        return ()
    told = callable_tools(tools)
    notes += [f"tool {tool.name}: a server's own can't be taught; left out" for tool in tools if tool.kind == "server"]
    if choice is None:
        return told
    named = tuple(tool for tool in told if tool.name in choice.names or tool.full_name in choice.names)
    if choice.names and named:
        notes.append(f"tool choice: only {', '.join(tool.full_name for tool in named)} taught")
        told = named
    if choice.mode == "required" and told:
        notes.append("tool choice: required, said in words, which a model may ignore")
    return told
