"""Model names as a provider wants them."""

from __future__ import annotations

import re
from collections.abc import Callable

_SIZE = re.compile(r"-(\d+(?:\.\d+)?[bmt](?:-[a-z0-9]+)*)$", re.IGNORECASE)


def _ollama_cloud(name: str) -> str:
    """Names as the local server has them (`gpt-oss:120b-cloud`, `glm-4.6:cloud`) or people write them (`gpt-oss-120b`)."""
    name = name.removesuffix(":cloud").removesuffix("-cloud")
    return name if ":" in name else _SIZE.sub(r":\1", name)


RULES: dict[str, Callable[[str], str]] = {"ollama-cloud": _ollama_cloud}


def in_provider_form(name: str, rule: str | None) -> str:
    return RULES[rule](name) if rule else name
