"""The second try of a model that is asked by prompt. A prompt only asks: where the server can, the model is held to a call now.

A call that was not written as its tool wants it is made again under the schema of the tools. Where the gate finds a call due,
the answer must be one; so it is where words, or a result that was made up, stood in its place.
"""

from __future__ import annotations

import msgspec

from toolglot.catalog.providers import Provider
from toolglot.core.request import Request
from toolglot.core.tools import Choice
from toolglot.pipeline.gate import gate
from toolglot.pipeline.refusals import told_of
from toolglot.pipeline.so_far import SoFar
from toolglot.pipeline.ways import Way

_MISWRITTEN = "the call before was not written as its tool wants it"
_UNMADE = "a call is due, and none was made"
_HELD = {  # by the reason codes of what the model was told
    "rejected_schema": _MISWRITTEN,
    "rejected_arguments": _MISWRITTEN,
    "rejected_malformed": _MISWRITTEN,
    "rejected_result": _UNMADE,
    "rejected_unused": _UNMADE,
}


def second_try(way: Way, row: Provider, request: Request) -> tuple[Way, Request]:
    """The way of asking and the request, as they are or held to a schema."""
    if way.kind != "dialect" or not row.constrains or not request.messages:
        return way, request
    told = told_of(request.messages[-1])
    why = next((why for code, why in _HELD.items() if code in told), None)
    is_due = why is not None and _is_due(request)
    if why is None or (why == _UNMADE and not is_due):
        return way, request
    held = msgspec.structs.replace(request, choice=Choice("required")) if is_due else request
    return Way("constrained", why=why), held


def _is_due(request: Request) -> bool:
    """What the caller says counts more; and with a result at hand all may be done."""
    so_far = SoFar(request.messages)
    is_open = (request.choice is None or request.choice.mode == "auto") and not so_far.has_results
    return is_open and bool(gate(request.tools, so_far.asked).calls)
