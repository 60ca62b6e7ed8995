"""The laws for every dialect's grammar: it accepts rendered calls and rejects broken ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.laws.dialect_cases import ALL
from toolglot import Tool, grammar
from toolglot.core.tools import Toolset
from toolglot.dialects import dialect_names
from toolglot.evaluation.dialect_grammars import is_expressible, matcher, ordered_call, raw_text_ends
from toolglot.evaluation.hard_values import PLAIN, declared
from toolglot.evaluation.hard_values import TOOLS as HARD_TOOLS
from toolglot.grammars.call_rules import CallForm
from toolglot.grammars.dialect import Dialect

MUTATIONS = 50
LONG = 2000  # characters of a value
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "enum": ["low", "high"]},
        "count": {"type": "integer"},
        "place": {
            "type": "object",
            "properties": {"floor": {"type": "integer"}, "open": {"type": "boolean"}},
            "required": ["floor"],
        },
        "ratios": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        "note": {"type": ["string", "null"]},
        "sure": {"type": "boolean"},
    },
    "required": ["title", "count", "sure"],
}
STRICT = Toolset((Tool("rate_it", "Rates", SCHEMA), Tool("stop", "Stops", {"type": "object", "properties": {}})))
GOOD = {"title": "low", "count": 3, "place": {"floor": 1, "open": True}, "ratios": [0.5, 2], "note": "n", "sure": True}


@pytest.mark.parametrize("name", dialect_names())
def test_every_dialect_of_ours_has_a_grammar(name: str) -> None:
    assert isinstance(declared(name).render_calls, CallForm)


CALLS = [(name, case) for name, case in ALL if case.calls and case.toolset and is_expressible(name, case)]


def test_nearly_all_calls_of_the_fixtures_are_expressible() -> None:
    assert len(CALLS) >= 0.95 * sum(bool(case.calls and case.toolset) for _, case in ALL)


@pytest.mark.parametrize("name", dialect_names())
def test_clean_fixtures_in_the_dialect_s_own_form_are_accepted_as_they_are(name: str) -> None:
    accepted = [
        case
        for which, case in ALL
        if which == name and case.kind in ("clean", "parallel") and case.calls and case.toolset
        if matcher(name, case.toolset, required=True).accepts(case.text.strip("\n"))
    ]
    assert len(accepted) >= 2


@pytest.mark.parametrize("name", dialect_names())
def test_hard_values_are_accepted(name: str) -> None:
    dialect, rejected = declared(name), []
    allowed = matcher(name, HARD_TOOLS, required=True)
    for label, value in PLAIN.items():
        if len(value) > LONG:
            continue  # the matcher is slow, and a long value is more of the same characters
        written = dialect.render_calls((ordered_call("write_file", {"path": "a", "content": value}, HARD_TOOLS),))
        if not allowed.accepts(written) and not raw_text_ends(dialect, value):
            rejected.append(label)
    assert rejected == []


@pytest.mark.parametrize("name", dialect_names())
def test_broken_calls_are_rejected(name: str) -> None:
    dialect, allowed = declared(name), matcher(name, STRICT, required=True)
    whole = dialect.render_calls((ordered_call("rate_it", GOOD, STRICT),))
    assert allowed.accepts(whole)
    broken = {text for text in mutations(dialect, whole) if text != whole}
    assert len(broken) >= MUTATIONS
    assert [text for text in broken if allowed.accepts(text)] == []
    if not dialect.weak:  # after the marker nothing is free
        lazy = matcher(name, STRICT, required=False)
        marker = next(one for one in grammar(STRICT, name).triggers if one in whole)
        kept = [f" {text}" for text in broken if marker in text]
        assert len(kept) >= MUTATIONS
        assert [text for text in kept if lazy.accepts(text)] == []


def mutations(dialect: Dialect, whole: str) -> list[str]:
    """Calls with a wrong name, missing or wrong arguments, other keys, and damage to what is written around them."""

    def written(arguments: dict[str, Any], name: str = "rate_it") -> str:
        return dialect.render_calls((ordered_call(name, arguments, STRICT),))

    wrong = {
        "title": ["", "mid", "LOW", "low!", 1, None, ["low"], "highlow"],
        "count": ["many", 3.5, True, None, [3], {"n": 3}, "3 or 4", "-"],
        "place": ["here", 1, {"open": True}, {"floor": "one"}, {"floor": 1.5}, {"floor": 1, "open": 2}, [1], {"x": 1}],
        "ratios": ["all", 1, ["a"], [1, "b"], {"a": 1}, [None], [True]],
        "sure": ["yes", 1, None, [True], "maybe", {"a": True}],
    }
    found = [written({**GOOD, key: value}) for key, values in wrong.items() for value in values]
    found += [written({key: value for key, value in GOOD.items() if key != gone}) for gone in ("title", "count", "sure")]
    found += [written({}), written({"title": "low"}), written({**GOOD, "extra": 1}), written({"a": "b", **GOOD})]
    found += [written(GOOD, name) for name in ("rate", "rate_it_", "Rate_it", "stop_it", "x", "rate-it", "rateit", "it")]
    for cut in range(1, 6):  # cut off, and doubled at the end
        found += [whole.rstrip()[:-cut], whole + whole[-cut:].strip() + "x"]
    return found
