"""Whether an answer has the structure that was asked for: servers may pass over a schema, and answers may break off in it."""

from __future__ import annotations

from toolglot.core.request import Output
from toolglot.schema.check import checker
from toolglot.text.json_text import BadJson, decode

MISSED = "the answer is not what the schema asks for"  # how the note of such a run begins


def missed(output: Output | None, text: str) -> str | None:
    """What the answer misses, as a note; None where nothing was asked for, or it is all there."""
    if output is None:
        return None
    try:
        value = decode(text)
    except BadJson:
        return f"{MISSED}: it is no JSON"
    found = checker(output.schema).problems(value) if output.schema else []
    return f"{MISSED}: {'; '.join(map(str, found))}" if found else None
