"""Fit the tools of a request: schemas that the server supports, and no more tools than the model can handle."""

from __future__ import annotations

import msgspec

from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset
from toolglot.pipeline.request.tool_ranking import most_relevant
from toolglot.schema.fitting import TARGETS, fit_schema

NONE_FILLED: frozenset[str] = frozenset()
_MAX_LISTED = 5  # tools in a note


class FittedTools(msgspec.Struct, frozen=True):
    """All by full name. `filled`: tools with a strict schema, for which the model sends null for omitted arguments."""

    tools: tuple[Tool, ...]
    notes: dict[str, list[str]] = {}
    moved: dict[str, tuple[str, ...]] = {}  # constraints moved into the description
    filled: frozenset[str] = NONE_FILLED

    def notes_for(self, tools: tuple[Tool, ...], server: str) -> list[str]:
        """The notes about the tools that are sent."""
        notes = [note for tool in tools for note in self.notes.get(tool.full_name, ())]
        moved = [
            f"{tool.full_name} ({'; '.join(self.moved[tool.full_name])})" for tool in tools if tool.full_name in self.moved
        ]
        if moved:
            notes.append(f"schemas: moved to the description, because {server} does not support it: {_shorten(moved)}")
        return notes


def fit_tools(tools: tuple[Tool, ...], row: str) -> FittedTools:
    """The tools with schemas for the target `row`. Cached."""
    fitted = cached_for_toolset(tools, ("fitted", row), _fitted)
    return fitted if fitted.tools or not tools else msgspec.structs.replace(fitted, tools=tools)


def _fitted(tools: tuple[Tool, ...], key: tuple[str, str]) -> FittedTools:
    """Without `tools` if they are the same: a cycle of references would keep both until garbage is collected."""
    fitted = [_fitted_tool(tool, key[1]) for tool in tools]
    same = isinstance(tools, Toolset) and all(one.tool is tool for one, tool in zip(fitted, tools, strict=True))
    return FittedTools(
        () if same else Toolset(one.tool for one in fitted),
        {one.tool.full_name: one.notes for one in fitted if one.notes},
        {one.tool.full_name: one.moved for one in fitted if one.moved},
        frozenset(one.tool.full_name for one in fitted if one.filled),
    )


class _Fitted(msgspec.Struct, frozen=True):
    tool: Tool
    notes: list[str] = []
    moved: tuple[str, ...] = ()
    filled: bool = False


def _fitted_tool(tool: Tool, row: str) -> _Fitted:
    if tool.kind != "function" or tool.schema is None:
        return _Fitted(tool)
    notes: list[str] = []
    strict = TARGETS.get(f"{row}_strict") if tool.strict else None
    fit = fit_schema(tool.schema, strict) if strict is not None else None
    if fit is not None and fit.narrowed:
        notes.append(f"tool {tool.full_name}: sent without strict, which does not support its schema")
        tool, fit, strict = msgspec.structs.replace(tool, strict=None), None, None
    fit = fit or fit_schema(tool.schema, TARGETS[row])
    filled = strict is not None and strict.filled
    if fit.schema == tool.schema and not fit.aside:
        return _Fitted(tool, notes, filled=filled)
    notes += [f"tool {tool.full_name}: {note}" for note in fit.notes]
    aside = f"({fit.aside})" if fit.aside else ""
    description = " ".join(text for text in (tool.description, aside) if text)
    return _Fitted(
        msgspec.structs.replace(tool, schema=fit.schema, description=description or None),
        notes,
        fit.moved,
        filled,
    )


def apply_choice(tools: tuple[Tool, ...], choice: Choice, server: str, notes: list[str]) -> tuple[Tool, ...]:
    """For servers without tool_choice: send no tools for `none`, and only the named tools for a named choice."""
    if choice.mode == "none":
        notes.append(f"tool choice: none; no tools are sent, because {server} ignores it")
        return Toolset()
    if not choice.names:
        return tools
    named = cached_for_toolset(tools, ("named", choice.names), _named)
    if not named:
        return tools
    notes.append(f"tool choice: only {_shorten(_names(named))} sent, because {server} ignores it")
    return named


def _named(tools: tuple[Tool, ...], key: tuple[str, tuple[str, ...]]) -> Toolset:
    return Toolset(tool for tool in tools if tool.name in key[1] or tool.full_name in key[1])


def cap_tools(most: int, tools: tuple[Tool, ...], request: Request, family: str, notes: list[str]) -> tuple[Tool, ...]:
    """The `most` relevant tools. A provider's server tools are not counted."""
    if len(tools) <= most:
        return tools
    kept, left_out = most_relevant(tools, most, request.messages, request.choice)
    if left_out:
        notes.append(
            f"tools: {len(left_out)} of {len(tools)} left out, because {family} handles {most}: {_shorten(_names(left_out))}"
        )
    return kept


def _names(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.full_name for tool in tools]


def _shorten(words: list[str]) -> str:
    return ", ".join(words[:_MAX_LISTED]) + (", ..." if len(words) > _MAX_LISTED else "")
