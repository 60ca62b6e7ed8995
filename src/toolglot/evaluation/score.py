"""Scoring without I/O: a question, the calls and the final text -> an outcome; many outcomes -> shares by tag."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from toolglot.core.tools import Tool
from toolglot.evaluation.accepted import arguments_match, paired
from toolglot.evaluation.intervals import Rate
from toolglot.evaluation.questions import ExpectedCall, Question
from toolglot.schema.check import checker

Called = tuple[str, Any]  # a tool's name, and the arguments as an object

_GROUPED = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")  # 4,718


class Outcome(msgspec.Struct, frozen=True):
    """None: does not apply to the question. The three fields before `false_call` are about all calls together."""

    valid: bool | None = None  # there is a call, and every call names an offered tool and satisfies its schema
    right_tool: bool | None = None  # exactly the expected tools were called, each as often as expected
    right_arguments: bool | None = None  # and with accepted arguments
    false_call: bool | None = None  # there is a call although none was expected
    final: bool | None = None  # of a loop: the final text contains the results
    missing: int = 0  # expected calls that were not made, whatever their arguments
    extra: int = 0  # calls that were not expected

    @property
    def right(self) -> bool:
        return self.false_call is False if self.right_arguments is None else self.right_arguments and self.final is not False


def score(question: Question, calls: Sequence[Called], text: str = "") -> Outcome:
    """`calls` are the calls of all turns; `text` is the text of the last turn."""
    if question.no_call:
        return Outcome(false_call=bool(calls), extra=len(calls))
    tools = {tool.full_name: tool for tool in question.tools}
    expected, count = question.expected, len(calls)
    named = paired(expected, calls, lambda slot, call: any(call[0] == one.name for one in slot))
    exact = paired(expected, calls, lambda slot, call: any(_is(call, one, tools) for one in slot))
    return Outcome(
        valid=count > 0 and all(_valid(call, tools) for call in calls),
        right_tool=named == len(expected) == count,
        right_arguments=exact == len(expected) == count,
        final=None if question.loop is None else mentions(text, question.loop.final),
        missing=len(expected) - named,
        extra=count - named,
    )


def _valid(call: Called, tools: Mapping[str, Tool]) -> bool:
    name, arguments = call
    return name in tools and isinstance(arguments, dict) and checker(tools[name].schema).fits(arguments)


def _is(call: Called, gold: ExpectedCall, tools: Mapping[str, Tool]) -> bool:
    """Arguments that violate the schema are never right."""
    if call[0] != gold.name or not _valid(call, tools):
        return False
    return arguments_match(call[1], gold.arguments, gold.unordered, _defaults(tools[gold.name]))


def _defaults(tool: Tool) -> dict[str, Any]:
    properties = (tool.schema or {}).get("properties") or {}
    return {key: schema["default"] for key, schema in properties.items() if isinstance(schema, dict) and "default" in schema}


def mentions(text: str, wanted: Iterable[Iterable[str]]) -> bool:
    """Whether the text contains a whole word or phrase of each group, in any case: 7 is neither in 17 nor in 7.5."""
    normalized = _plain(text)
    return all(any(_contains(_plain(word), normalized) for word in group) for group in wanted)


def _plain(text: str) -> str:
    even = unicodedata.normalize("NFKC", text).casefold().replace("−", "-").replace("’", "'").replace("*", "")
    return " ".join(_GROUPED.sub("", even).split())


def _contains(word: str, text: str) -> bool:
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else r"(?<![^\W_])" if word[:1].isalpha() else r"(?<!\w)"
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else r"(?![^\W_])"
    return re.search(before + re.escape(word) + after, text) is not None


# None: the question does not count for this measure.
MEASURES: dict[str, Callable[[Outcome], bool | None]] = {
    "valid": lambda outcome: outcome.valid,
    "right_tool": lambda outcome: outcome.right_tool,
    "right_arguments": lambda outcome: outcome.right_arguments,
    "false_calls": lambda outcome: outcome.false_call,
    "final": lambda outcome: outcome.final,
    "right": lambda outcome: outcome.right,
}


class Summary(msgspec.Struct, frozen=True):
    """Shares by measure, of all questions and of those of each tag."""

    overall: dict[str, Rate]
    by_tag: dict[str, dict[str, Rate]]


def summary(scored: Iterable[tuple[Question, Outcome]]) -> Summary:
    everything: list[Outcome] = []
    by_tag: defaultdict[str, list[Outcome]] = defaultdict(list)
    for question, outcome in scored:
        everything.append(outcome)
        for tag in dict.fromkeys(question.tags):
            by_tag[tag].append(outcome)
    return Summary(_rates(everything), {tag: _rates(outcomes) for tag, outcomes in sorted(by_tag.items())})


def _rates(outcomes: list[Outcome]) -> dict[str, Rate]:
    found = {}
    for name, measure in MEASURES.items():
        applicable = [hit for hit in map(measure, outcomes) if hit is not None]
        found[name] = Rate(sum(applicable), len(applicable))
    return found
