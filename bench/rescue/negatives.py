"""Texts that make no call, though each mentions a registered tool: found ones (found.py), and templates of ours.

The templates stand in templates/<kind>.txt, parted by lines of `%%`; each serves four times, with other calls. A slot:
`«name»` `«short»` the tool's name, whole or its last part; `«call»` `«single»` `«callq»` `«half»` the call as Python;
`«json»` `«pretty»` `«args»` `«argsj»` as JSON; `«any»` `«anyj»` in some dialect, `«hermes»` and so on in that one;
`«schema»` the tools; `«param»` `«value»` one argument; `«desc»` `«q»` `«qj»` `«qs»` the tool's description, the question.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from found import found_negatives
from gold import Gold
from pens import Pen, expression, json_pretty, json_text, usual_pen
from render import BY_NAME, FORMS, Form, suits

KINDS = ("prose", "json_data", "code_sample", "quoted_call", "refusal")
SERVES = 4
_FOLDER = Path(__file__).parent / "templates"
_SLOT = re.compile(r"«(\w+)»")
_KEY = re.compile(r"\"(\w+)\"\s*:")


@dataclass(frozen=True)
class Negative:
    kind: str
    text: str
    tools: list[dict[str, Any]]
    note: str
    dialect: str = ""  # of the call that it quotes, if it quotes one


def negatives(golds: list[Gold], rng: Random) -> list[Negative]:
    found = [Negative(row.kind, row.text, row.tools, row.source) for row in found_negatives(rng)]
    return [*found, *_from_templates([gold for gold in golds if _short(gold)], rng)]


def templates(kind: str) -> list[str]:
    text = (_FOLDER / f"{kind}.txt").read_text(encoding="utf-8")
    return [one.strip("\n") for one in text.split("\n%%\n")]


def _short(gold: Gold) -> bool:
    """One call that fits into a sentence."""
    call = gold.calls[0]
    plain = "\n" not in gold.question and len(gold.question) <= 240 and len(json_text(call.arguments)) <= 200
    return len(gold.calls) == 1 and plain and bool(call.arguments) and bool(call.schema.get("required"))


def _from_templates(golds: list[Gold], rng: Random) -> list[Negative]:
    order = cycle(rng.sample(golds, len(golds)))
    forms = cycle(rng.sample(FORMS, len(FORMS)))
    made = []
    for kind in KINDS:
        for at, template in enumerate(templates(kind)):
            for _ in range(SERVES):
                gold = next(one for one in order if _fits(template, kind, one))
                form = next(one for one in forms if suits(one, gold.calls)) if "«any" in template else None
                text = _filled(template, gold, form, rng)
                made.append(Negative(kind, text, gold.tools, f"template {kind} {at}", form.name if form else ""))
    return made


def _fits(template: str, kind: str, gold: Gold) -> bool:
    """Not where the filling would turn data into arguments: a key of the JSON that the tool has as a parameter."""
    dotted = "." in gold.calls[0].name and "«short»" in template
    keys = set(_KEY.findall(template)) & set(gold.calls[0].schema.get("properties", {}))
    quoted = '"' in gold.question and "«q»" in template
    return not dotted and not quoted and not (kind == "json_data" and keys)


def _filled(template: str, gold: Gold, form: Form | None, rng: Random) -> str:
    call = gold.calls[0]
    key, value = next(iter(call.arguments.items()))
    written = expression(call, Pen(rng))
    made = {"name": call.name, "arguments": call.arguments}
    shown = form.block(gold.calls, usual_pen(rng)) if form else ""
    described = next(tool["description"] for tool in gold.tools if tool["name"] == call.name).split(". ")[0].rstrip(".") + "."
    slots = {
        "name": call.name,
        "short": call.name.split(".")[-1],
        "call": written,
        "single": expression(call, Pen(rng, literal=repr)),
        "callq": expression(call, Pen(rng, literal=repr)),
        "half": written[: len(written) * 3 // 5],
        "json": json_text(made),
        "pretty": json_pretty(made),
        "args": json_text(call.arguments),
        "argsj": _inside(json_text(call.arguments)),
        "any": shown,
        "anyj": _inside(shown),
        "schema": json_pretty([{"type": "function", "function": tool} for tool in gold.tools[:1]]),
        "param": key,
        "value": value if isinstance(value, str) else json_text(value),
        "desc": described.replace('"', "'").replace("\n", " "),
        "q": gold.question,
        "qj": _inside(gold.question),
        "qs": gold.question.replace('"', "'"),
        "fence": "````" if "```" in shown else "```",
    }
    return _SLOT.sub(lambda slot: slots[slot[1]] if slot[1] in slots else _in_dialect(slot[1], gold), template)


def _inside(text: str) -> str:
    """As it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _in_dialect(name: str, gold: Gold) -> str:
    return BY_NAME[name].block(gold.calls, Pen(Random(0)))
