"""Noting on a call what a grammar had to put right."""

from __future__ import annotations

import msgspec

from toolglot.grammars.heard import Heard


def with_fixes(call: Heard, *fixes: str) -> Heard:
    """The call with these codes behind its own, each once."""
    told = tuple(dict.fromkeys((*call.fixes, *fixes)))
    return call if told == call.fixes else msgspec.structs.replace(call, fixes=told)
