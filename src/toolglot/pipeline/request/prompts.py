"""The prompt that describes the tools, how to call them, and when not to.

A style frames what the dialect renders: the list of tools, and an example call. Sentences are few and short: small models
follow examples, and lose long instructions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.tools import Choice, Tool
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import with_nonce
from toolglot.grammars.render_json import RenderTools, tool_lines
from toolglot.io.request_validation import wrong_type
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.example_call import example_calls

GENERAL = "tagged"  # the dialect for unknown models


class Style(msgspec.Struct, frozen=True):
    """The text around the list of tools and the example."""

    before: str  # above the list
    form: str  # above the example
    rules: tuple[str, ...]  # below it
    no_call: str  # when not to call
    lists: RenderTools | None = None  # renders the tools, if not as the dialect does


STYLES = {
    "standard": Style(
        "# Tools\n\nYou can call these tools:",
        "If the request needs a tool, answer with nothing but the call, written exactly like this:",
        (
            "The result comes in the next message. Then answer with it.",
            "Use only the tools and parameters above.",
            "Never make up a value, such as an id: first call the tool that gives it, or ask the user.",
        ),
        "If no tool is needed, answer in plain words, without a call.",
    ),
    "agentic": Style(
        "# Tools\n\nWork step by step with these tools until the task is done:",
        "For each step, answer with nothing but the call, written exactly like this:",
        (
            "The result comes in the next message. Read it, then make the next call, or answer.",
            "Do not ask for permission, and never make up a result.",
            "If a call fails, change its arguments or take another tool. Never repeat the same call.",
            "Use only the tools and parameters above.",
        ),
        "When no tool is needed, or the task is done, answer in plain words, without a call.",
    ),
    "hermes": Style(
        "# Tools\n\nYou can call functions. Their signatures are in <tools></tools> tags:",
        "To call a function, answer with nothing but its name and arguments, written exactly like this:",
        (
            "The result comes in the next message. Then answer with it.",
            "Never make up a value, such as an id: first call the function that gives it, or ask the user.",
        ),
        "If no function is relevant to the request, answer in plain words, without a call.",
        tool_lines(),
    ),
}
_REPEAT = "For several calls at once, repeat the form, one call after the other."
_TOGETHER = "For several calls at once, put all of them into one such block."
_TWO = "Two calls at once:"
_ONE = "Make one call at a time."
_MARK = "Every call carries the mark {nonce}, as shown: without it nothing is called. Write it nowhere else."


def augment_system_prompt(
    prompt: str | None,
    tools: Iterable[Any],
    *,
    model: str | None = None,
    dialect: str | None = None,
    style: str | None = None,
    nonce: str | None = None,
) -> str:
    """Append the tool prompt to a system prompt. Without tools the prompt is unchanged.

    `model`: its profile sets the dialect and the style; `dialect` and `style` override them. `nonce` is added to the markers,
    so that injected text can't contain a valid call.

    Examples:
        >>> prompt = augment_system_prompt("Be brief.", [{"name": "now"}], dialect="hermes")
        >>> prompt.startswith("Be brief."), "now" in prompt, "<tool_call>" in prompt
        (True, True, True)
    """
    base = "" if prompt is None else prompt
    if not isinstance(base, str):
        raise wrong_type("prompt", "a text", prompt)
    form = prompt_form(model, dialect, style)
    shown = callable_tools(read_any_tools(tools))
    if not shown:
        return base
    added = tool_prompt(shown, form.dialect, form.style, parallel=form.parallel, nonce=nonce)
    return f"{base}\n\n{added}" if base else added


class PromptForm(msgspec.Struct, frozen=True):
    dialect: Dialect
    style: str
    parallel: bool | None = None


def prompt_form(model: str | None, dialect: str | None = None, style: str | None = None) -> PromptForm:
    """The dialect and style for a model: from the caller, else from its profile, else the default."""
    parallel = None
    if model is not None:
        from toolglot.catalog.profiles import profile  # noqa: PLC0415  (loads the model table only if needed)

        known = profile(model)
        kind, _, dialect_of_ask = (known.ask or "").partition(":")
        named = (dialect_of_ask if kind == "dialect" else None, known.dialect, known.tool_format)
        dialect = dialect or next((name for name in named if name and find_dialect(name)), None)
        style = style or known.prompt_style
        parallel = known.supports_parallel
    return PromptForm(named_dialect(dialect or GENERAL), named_style(style or "standard"), parallel)


def named_dialect(name: str) -> Dialect:
    found = find_dialect(name)
    if found is None:
        raise CallerError(unknown("dialect", name, known_dialects()), "dialect")
    return found


def named_style(name: str) -> str:
    if name not in STYLES:
        raise CallerError(unknown("style", name, list(STYLES)), "style")
    return name


def callable_tools(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The tools without those that run on the provider's servers."""
    return tuple(tool for tool in tools if tool.kind != "server")


def tool_prompt(
    tools: tuple[Tool, ...],
    dialect: Dialect,
    style: str = "standard",
    *,
    choice: Choice | None = None,
    parallel: bool | None = None,
    nonce: str | None = None,
) -> str:
    """The prompt: the tools, an example call, and the rules."""
    marked = with_nonce(dialect, nonce) if nonce is not None else dialect
    words = STYLES[style]
    listed = (words.lists or marked.render_tools)(tools)
    rules = [*words.rules, _when(choice, tools, words)]
    if nonce is not None:
        rules.append(_MARK.format(nonce=nonce))
    shown = _examples(marked, tools, words, parallel=parallel)
    return "\n\n".join([words.before, listed, *shown, "\n".join(f"- {rule}" for rule in rules)])


def _examples(dialect: Dialect, tools: tuple[Tool, ...], words: Style, *, parallel: bool | None) -> list[str]:
    """An example call, and how to write several: a sentence if the form just repeats, else a second example."""
    calls = example_calls(tools)
    one = dialect.render_calls(calls[:1])
    shown = [words.form, one.strip("\n")]
    if parallel is False:
        return [*shown, _ONE]
    if len(calls) == 1:
        return [*shown, _REPEAT if _repeats(dialect, calls * 2) else _TOGETHER]
    return [*shown, _REPEAT] if _repeats(dialect, calls) else [*shown, _TWO, dialect.render_calls(calls).strip("\n")]


def _repeats(dialect: Dialect, calls: tuple[Any, ...]) -> bool:
    """Whether two calls are written one after the other."""
    first, second = (dialect.render_calls((call,)) for call in calls)
    both = dialect.render_calls(calls)
    return both.startswith(first) and both.endswith(second) and not both[len(first) : len(both) - len(second)].strip()


def _when(choice: Choice | None, tools: tuple[Tool, ...], words: Style) -> str:
    """The rule when to call, by the tool choice."""
    if choice is None or choice.mode != "required":
        return words.no_call
    named = [tool.full_name for tool in tools if {tool.name, tool.full_name} & set(choice.names)]
    wanted = f"a call of {named[0]}" if len(named) == 1 else "at least one call"
    return f"Answer now with {wanted}, and with nothing else."
