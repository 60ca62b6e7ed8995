"""The tools of a request, as many and in the form that a model and its server take them."""

from __future__ import annotations

import msgspec

from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset, made_once
from toolglot.pipeline.relevance import most_relevant
from toolglot.schema.fitting import TARGETS, fit_schema

NOTHING_FILLED: frozenset[str] = frozenset()
_SHOWN = 5  # tools in a note


class FittedTools(msgspec.Struct, frozen=True):
    """`filled` are those whose optional arguments come back as null where they are not given. By full name all."""

    tools: Toolset
    notes: dict[str, list[str]] = {}
    moved: dict[str, tuple[str, ...]] = {}  # what only words say
    filled: frozenset[str] = NOTHING_FILLED

    def about(self, tools: tuple[Tool, ...], server: str) -> list[str]:
        """What to tell of those that are sent."""
        told = [note for tool in tools for note in self.notes.get(tool.full_name, ())]
        moved = [
            f"{tool.full_name} ({'; '.join(self.moved[tool.full_name])})" for tool in tools if tool.full_name in self.moved
        ]
        if moved:
            told.append(f"schemas: only said in words, for {server} can't express it: {_listed(moved)}")
        return told


def fitted(tools: tuple[Tool, ...], row: str) -> FittedTools:
    """The same tools, their schemas as `row` of the targets understands them. Made once."""
    return made_once(tools, ("fitted", row), _fitted)


def _fitted(tools: tuple[Tool, ...], key: tuple[str, str]) -> FittedTools:
    made = [_fitted_tool(tool, key[1]) for tool in tools]
    same = isinstance(tools, Toolset) and all(one.tool is tool for one, tool in zip(made, tools, strict=True))
    return FittedTools(
        tools if same else Toolset(one.tool for one in made),  # type: ignore[arg-type]
        {one.tool.full_name: one.notes for one in made if one.notes},
        {one.tool.full_name: one.moved for one in made if one.moved},
        frozenset(one.tool.full_name for one in made if one.filled),
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
    found = fit_schema(tool.schema, strict) if strict is not None else None
    if found is not None and found.narrowed:
        notes.append(f"tool {tool.full_name}: sent without strict, which can't say all that its schema allows")
        tool, found, strict = msgspec.structs.replace(tool, strict=None), None, None
    found = found or fit_schema(tool.schema, TARGETS[row])
    filled = strict is not None and strict.filled
    if found.schema == tool.schema and not found.aside:
        return _Fitted(tool, notes, filled=filled)
    notes += [f"tool {tool.full_name}: {note}" for note in found.notes]
    aside = f"({found.aside})" if found.aside else ""
    about = " ".join(text for text in (tool.description, aside) if text)
    return _Fitted(msgspec.structs.replace(tool, schema=found.schema, description=about or None), notes, found.moved, filled)


def chosen(tools: tuple[Tool, ...], choice: Choice, server: str, notes: list[str]) -> tuple[Tool, ...]:
    """Where the server has no tool_choice: offering no tool prevents calls, offering one forces it as far as can be."""
    if choice.mode == "none":
        notes.append(f"tool choice: none; no tools are offered, for {server} ignores it")
        return Toolset()
    if not choice.names:
        return tools
    named = made_once(tools, ("named", choice.names), _named)
    if not named:
        return tools
    notes.append(f"tool choice: only {_listed(_names(named))} offered, for {server} ignores it")
    return named


def _named(tools: tuple[Tool, ...], key: tuple[str, tuple[str, ...]]) -> Toolset:
    return Toolset(tool for tool in tools if tool.name in key[1] or tool.full_name in key[1])


def no_more_than(most: int, tools: tuple[Tool, ...], request: Request, family: str, notes: list[str]) -> tuple[Tool, ...]:
    """No more tools than the model can take. A vendor's own are not counted: they cost the model no choice of ours."""
    if len(tools) <= most:
        return tools
    kept, left = most_relevant(tools, most, request.messages, request.choice)
    if left:
        notes.append(f"tools: {len(left)} of {len(tools)} left out, for {family} takes {most}: {_listed(_names(left))}")
    return kept


def _names(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.full_name for tool in tools]


def _listed(words: list[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")
