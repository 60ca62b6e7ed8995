"""How much a model shall think: `thinking` says whether and for how many tokens, `output_config.effort` how hard."""

from __future__ import annotations

from typing import Any

from toolglot.core.request import Thinking
from toolglot.reading.shape import a_string, a_whole_number, an_object, or_none, own_extra
from toolglot.wires.anthropic.shapes import EFFORT_OUT, LEAST_BUDGET, WIRE, Body

_SHOW_IN = {"summarized": True, "omitted": False}
_SHOW_OUT = {True: "summarized", False: "omitted"}


def read_thinking(value: Any, config: Body) -> Thinking | None:
    """Takes the effort out of `config`. What has no place in Thinking is kept in its extra, in the API's own form."""
    effort = or_none(a_string, config.pop("effort", None), "output_config.effort")
    if value is None:
        return Thinking(effort) if effort else None
    rest = dict(an_object(value, "thinking"))
    kind = a_string(rest.pop("type", None), "thinking.type")
    if kind not in ("adaptive", "enabled", "disabled"):
        return Thinking(effort, extra={WIRE: {"thinking": value}})
    budget: int | None = None
    own: Body = {}
    if kind == "disabled":
        if effort:
            own["effort"] = effort
        effort = "off"
    elif kind == "adaptive":
        budget = -1
    else:
        budget = a_whole_number(rest.pop("budget_tokens", None), "thinking.budget_tokens")
    show = _SHOW_IN.get(rest["display"]) if isinstance(rest.get("display"), str) else None
    if show is not None:
        del rest["display"]
    more = {key: held for key, held in rest.items() if held is not None}
    if more:
        own["thinking"] = more
    return Thinking(effort, budget, show, {WIRE: own} if own else {})


def put_thinking(thinking: Thinking, body: Body, config: Body, notes: list[str]) -> None:
    own = own_extra(thinking.extra, WIRE, "thinking", notes) if thinking.extra else {}
    effort = _write_effort(thinking.effort, notes)
    held = _write_mode(thinking, body, notes)
    if held is not None and held["type"] != "disabled" and thinking.show is not None:
        held["display"] = _SHOW_OUT[thinking.show]
    elif held is None and thinking.show is False:
        notes.append("thinking hidden: anthropic takes that only where thinking is asked for; left out")
    if own.get("thinking"):
        held = {**(held or {}), **own["thinking"]}
    if held is not None:
        body["thinking"] = held
    effort = effort or own.get("effort")
    if effort:
        config["effort"] = effort


def _write_effort(effort: str | None, notes: list[str]) -> str | None:
    if effort is None or effort == "off":
        return None
    word = EFFORT_OUT.get(effort, effort)
    if word != effort:
        notes.append(f"thinking effort {effort}: anthropic has no such word; {word} was written")
    return word


def _write_mode(thinking: Thinking, body: Body, notes: list[str]) -> Body | None:
    """Effort alone needs no mode; to see the thoughts one must ask for them."""
    if thinking.effort == "off" or thinking.budget == 0:
        return {"type": "disabled"}
    if thinking.budget is None:
        return {"type": "adaptive"} if thinking.show else None
    if thinking.budget < 0:
        return {"type": "adaptive"}
    return {"type": "enabled", "budget_tokens": _fit_budget(thinking.budget, body, notes)}


def _fit_budget(budget: int, body: Body, notes: list[str]) -> int:
    """The API takes no budget under its least, and none that leaves no tokens to answer with."""
    fitted = max(budget, LEAST_BUDGET)
    if fitted != budget:
        notes.append(f"thinking budget {budget}: anthropic begins at {LEAST_BUDGET}; that was written")
    if body["max_tokens"] <= fitted:
        notes.append(f"max_tokens {body['max_tokens']}: raised by the thinking budget, which must be less")
        body["max_tokens"] += fitted
    return fitted
