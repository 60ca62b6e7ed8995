"""What a question tells beyond doubt, of a tool's arguments and of calls: where the layer for still smaller models leaves no
choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.constrain import brought_to
from toolglot.pipeline.conversation import squeezed
from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.ranked_tools import Ranked
from toolglot.pipeline.said import Said
from toolglot.text.json_text import dumps, loads_object

Told = tuple[str, dict[str, Any]]  # a call, by the tool's name and the arguments that it needs

_MOST_TEXT = 4000  # characters of a question


def told_values(tool: Tool, question: str) -> dict[str, Any]:
    """By the names of the parameters."""
    return _only(held_to(brought_to(tool, None).schema or {}, Said(question[-_MOST_TEXT:])).schema)


def not_made(due: Sequence[Sequence[Ranked]], made: Sequence[ToolCall]) -> list[Told]:
    """Of several calls that a question tells in full, each another, those that are left once these were made.

    None, where these are not among them: then it is another question than it seems.
    """
    left = [_told(options) for options in due]
    for call in made:
        at = next((at for at, one in enumerate(left) if one is not None and _is(call, one)), None)
        if at is None:
            return []
        del left[at]
    whole = [one for one in left if one is not None]
    apart = {dumps(one) for one in whole}
    return whole if len(whole) == len(left) == len(apart) else []


def in_full(told: Sequence[Told]) -> str:
    """Calls, as a model is told of them."""
    return " and ".join(f"{name} with {dumps(arguments)}" for name, arguments in told)


def _told(options: Sequence[Ranked]) -> Told | None:
    required = (as_function(options[0].tool).schema or {}).get("required")
    told = _only(options[0].filled.schema)
    if len(options) != 1 or not isinstance(required, list) or not required or not all(name in told for name in required):
        return None
    return options[0].tool.full_name, {name: told[name] for name in required}


def _is(call: ToolCall, told: Told) -> bool:
    name, arguments = told
    given = loads_object(call.arguments_json) or {}
    return call.full_name == name and all(key in given and _same(given[key], arguments[key]) for key in arguments)


def _same(value: object, told: object) -> bool:
    return squeezed(value) == squeezed(told) if isinstance(value, str) and isinstance(told, str) else value == told


def _only(held: dict[str, Any]) -> dict[str, Any]:
    """What may be but one thing."""
    properties = held.get("properties")
    choices = {name: own.get("enum", ()) for name, own in properties.items()} if isinstance(properties, dict) else {}
    return {name: values[0] for name, values in choices.items() if len(values) == 1}
