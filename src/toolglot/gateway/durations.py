"""How long an answer took, as Ollama's last line tells it: its clients reckon tokens a second from that."""

from __future__ import annotations

import time

import msgspec

from toolglot.core.events import Finish
from toolglot.core.fold import join_extra
from toolglot.gateway.records import Record
from toolglot.wires.ollama.shapes import WIRE


def with_durations(last: Finish, record: Record) -> Finish:
    """As seen from here, where the upstream does not tell itself. What came before the first piece was the prompt's time."""
    if "total_duration" in last.extra.get(WIRE, {}):
        return last
    total = max(1, int((time.time() - record.began) * 1e9))
    prompt = min(total, int((record.first or 0.0) * 1e9))
    told = {"total_duration": total, "prompt_eval_duration": prompt, "eval_duration": max(1, total - prompt)}
    return msgspec.structs.replace(last, extra=join_extra({WIRE: told}, last.extra))
