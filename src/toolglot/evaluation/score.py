"""Pure scoring: a question, the calls that were made, the final text -> an outcome; many outcomes -> shares by tag."""

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
    """None: the question does not ask for that. Each of the three before `false_call` is about all the calls together."""

    valid: bool | None = None  # something was called, and every call names an offered tool and satisfies its schema
    right_tool: bool | None = None  # the tools that were due were called, each as often as due, and no other
    right_arguments: bool | None = None  # and with accepted arguments
    false_call: bool | None = None  # something was called where nothing was due
    final: bool | None = None  # of a loop: the last text says what the results said
    missing: int = 0  # calls that were due and not made, whatever their arguments
    extra: int = 0  # calls that were made and not due

    @property
    def right(self) -> bool:
        return self.false_call is False if self.right_arguments is None else self.right_arguments and self.final is not False


def score(question: Question, calls: Sequence[Called], text: str = "") -> Outcome:
    """`calls` are those of all turns, as they left the guard; `text` is what the last turn said."""
    if question.no_call:
        return Outcome(false_call=bool(calls), extra=len(calls))
    tools = {tool.full_name: tool for tool in question.tools}
    due, made = question.expected, len(calls)
    named = paired(due, calls, lambda slot, call: any(call[0] == one.name for one in slot))
    exact = paired(due, calls, lambda slot, call: any(_is(call, one, tools) for one in slot))
    return Outcome(
        valid=made > 0 and all(_valid(call, tools) for call in calls),
        right_tool=named == len(due) == made,
        right_arguments=exact == len(due) == made,
        final=None if question.loop is None else says(text, question.loop.final),
        missing=len(due) - named,
        extra=made - named,
    )


def _valid(call: Called, tools: Mapping[str, Tool]) -> bool:
    name, arguments = call
    return name in tools and isinstance(arguments, dict) and checker(tools[name].schema).fits(arguments)


def _is(call: Called, gold: ExpectedCall, tools: Mapping[str, Tool]) -> bool:
    """Arguments that break the schema are never right, however near they come."""
    if call[0] != gold.name or not _valid(call, tools):
        return False
    return arguments_match(call[1], gold.arguments, gold.unordered, _defaults(tools[gold.name]))


def _defaults(tool: Tool) -> dict[str, Any]:
    properties = (tool.schema or {}).get("properties") or {}
    return {key: held["default"] for key, held in properties.items() if isinstance(held, dict) and "default" in held}


def says(text: str, wanted: Iterable[Iterable[str]]) -> bool:
    """Whether of each group one word or phrase stands in the text, whole, in any case: 7 stands neither in 17 nor in 7.5."""
    heard = _plain(text)
    return all(any(_stands(_plain(word), heard) for word in group) for group in wanted)


def _plain(text: str) -> str:
    even = unicodedata.normalize("NFKC", text).casefold().replace("−", "-").replace("’", "'").replace("*", "")
    return " ".join(_GROUPED.sub("", even).split())


def _stands(word: str, text: str) -> bool:
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else r"(?<![^\W_])" if word[:1].isalpha() else r"(?<!\w)"
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else r"(?![^\W_])"
    return re.search(before + re.escape(word) + after, text) is not None


# What is counted, and of which questions: those where it is not None.
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
        asked = [hit for hit in map(measure, outcomes) if hit is not None]
        found[name] = Rate(sum(asked), len(asked))
    return found
