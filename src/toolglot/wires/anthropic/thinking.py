"""Reasoning options: `thinking` sets whether and how many tokens, `output_config.effort` the effort."""

from __future__ import annotations

from typing import Any

from toolglot.core.request import Thinking
from toolglot.io.request_validation import Body, optional, require_integer, require_object, require_string, wire_extra
from toolglot.wires.anthropic.shapes import EFFORT_OUT, LEAST_BUDGET, WIRE

_SHOW_IN = {"summarized": True, "omitted": False}
_SHOW_OUT = {True: "summarized", False: "omitted"}


def read_thinking(value: Any, config: Body) -> Thinking | None:
    """Takes the effort out of `config`. Fields that Thinking lacks are kept in its extra, unchanged."""
    effort = optional(require_string, config.pop("effort", None), "output_config.effort")
    if value is None:
        return Thinking(effort) if effort else None
    rest = dict(require_object(value, "thinking"))
    kind = require_string(rest.pop("type", None), "thinking.type")
    if kind not in ("adaptive", "enabled", "disabled"):
        return Thinking(effort, extra={WIRE: {"thinking": value}})
    budget: int | None = None
    fields: Body = {}
    if kind == "disabled":
        if effort:
            fields["effort"] = effort
        effort = "off"
    elif kind == "adaptive":
        budget = -1
    else:
        budget = require_integer(rest.pop("budget_tokens", None), "thinking.budget_tokens")
    show = _SHOW_IN.get(rest["display"]) if isinstance(rest.get("display"), str) else None
    if show is not None:
        del rest["display"]
    more = {key: obj for key, obj in rest.items() if obj is not None}
    if more:
        fields["thinking"] = more
    return Thinking(effort, budget, show, {WIRE: fields} if fields else {})


def put_thinking(thinking: Thinking, body: Body, config: Body, notes: list[str]) -> None:
    fields = wire_extra(thinking.extra, WIRE, "thinking", notes) if thinking.extra else {}
    effort = _write_effort(thinking.effort, notes)
    obj = _write_mode(thinking, body, notes)
    if obj is not None and obj["type"] != "disabled" and thinking.show is not None:
        obj["display"] = _SHOW_OUT[thinking.show]
    elif obj is None and thinking.show is False:
        notes.append("thinking hidden: anthropic accepts that only if thinking is requested; left out")
    if fields.get("thinking"):
        obj = {**(obj or {}), **fields["thinking"]}
    if obj is not None:
        body["thinking"] = obj
    effort = effort or fields.get("effort")
    if effort:
        config["effort"] = effort


def _write_effort(effort: str | None, notes: list[str]) -> str | None:
    if effort is None or effort == "off":
        return None
    word = EFFORT_OUT.get(effort, effort)
    if word != effort:
        notes.append(f"thinking effort {effort}: anthropic has no such value; {word} was written")
    return word


def _write_mode(thinking: Thinking, body: Body, notes: list[str]) -> Body | None:
    """An effort alone needs no mode; to get the reasoning, it must be requested."""
    if thinking.effort == "off" or thinking.budget == 0:
        return {"type": "disabled"}
    if thinking.budget is None:
        return {"type": "adaptive"} if thinking.show else None
    if thinking.budget < 0:
        return {"type": "adaptive"}
    return {"type": "enabled", "budget_tokens": _fit_budget(thinking.budget, body, notes)}


def _fit_budget(budget: int, body: Body, notes: list[str]) -> int:
    """The API rejects a budget below its minimum, and one that leaves no tokens for the answer."""
    fitted = max(budget, LEAST_BUDGET)
    if fitted != budget:
        notes.append(f"thinking budget {budget}: anthropic's minimum is {LEAST_BUDGET}; that was written")
    if body["max_tokens"] <= fitted:
        notes.append(f"max_tokens {body['max_tokens']}: raised by the thinking budget, which must be less")
        body["max_tokens"] += fitted
    return fitted
