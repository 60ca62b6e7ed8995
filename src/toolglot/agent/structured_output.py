"""Checks the answer against the requested JSON Schema: some servers ignore a schema, and an answer may be cut off."""

from __future__ import annotations

from toolglot.core.request import Output
from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.schema.check import checker

SCHEMA_MISMATCH = "the answer does not match the schema"  # the start of the note


def schema_violation(output: Output | None, text: str) -> str | None:
    """A note about what is wrong; None if the answer matches or no structure was requested."""
    if output is None:
        return None
    try:
        value = decode(text)
    except JSON_ERRORS:
        return f"{SCHEMA_MISMATCH}: it is not JSON"
    problems = checker(output.schema).problems(value) if output.schema else []
    return f"{SCHEMA_MISMATCH}: {'; '.join(map(str, problems))}" if problems else None
