"""What Gemini's two APIs share: the end of reading a request, and what neither has a place for."""

from __future__ import annotations

import msgspec

from toolglot.core.request import Output, Request
from toolglot.io.request_validation import Body


def with_rest(request: Request, wire: str, rest: Body, key: str, config: Body) -> Request:
    """The request with what is left of the body, and of the object of options under `key`: fields that only this API has."""
    if config:
        rest[key] = config
    return msgspec.structs.replace(request, stream_usage=request.stream, extra={wire: rest} if rest else {})


def note_unnamed(output: Output, wire: str, notes: list[str]) -> None:
    for field in ("name", "description"):
        if getattr(output, field) is not None:
            notes.append(f"output {field}: {wire} has no place for it; left out")
