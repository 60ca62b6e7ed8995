"""The same call twice: a model says it again, and it counts once. But who rolls two dice calls twice."""

from __future__ import annotations

import re

from toolglot.core.tools import Tool

_OF_CHANCE = re.compile(r"(?<![^\W_])(?:random|roll|dice|toss|flip|shuffle|uuid)", re.IGNORECASE)


def brings_something_new(tool: Tool) -> bool:
    """Each time, with the same arguments too."""
    return _OF_CHANCE.search(f"{tool.name} {tool.description or ''}") is not None
