"""json-repair as a library, for the repair of arguments. It knows no schema."""

from __future__ import annotations

from importlib.metadata import version

import json_repair
from loop import Body, UnsupportedError, serve


def arguments(given: Body) -> Body:
    if given["schema"] is not None:
        raise UnsupportedError
    found = json_repair.loads(given["text"])
    return {"arguments": found} if isinstance(found, dict) else {"error": f"not an object: {found!r}"}


def about(_: Body) -> Body:
    return {"name": "json-repair", "version": version("json-repair")}


serve({"about": about, "arguments": arguments})
