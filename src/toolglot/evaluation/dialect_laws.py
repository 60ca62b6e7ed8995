"""The laws for a dialect. `toolglot dialect check` runs them on anyone's, our own tests on all that are built in.

A law is a function of the dialect's name and its cases. It yields a line for each failure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import msgspec

from toolglot.core.event_order import first_order_error
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.core.tools import Toolset
from toolglot.evaluation.counted import lines_run
from toolglot.evaluation.dialect_cases import NEEDED, Case, shared_tools
from toolglot.evaluation.hard_values import PLAIN, SHAPES, TOOLS, around, call, declared, is_raw, markup, own_marks, rendered
from toolglot.grammars.call_rules import CallForm
from toolglot.io.json_codec import dumps
from toolglot.pipeline.response.extract import StreamExtractor, extract
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.tool_call_scanner import ToolCallScanner

Cases = tuple[Case, ...]
Failures = Iterator[str]
Mode = Literal["hold", "pass"]

_CUTS = (1, 2, 3, 5, 11)
_LONG = 1000  # longer values are not streamed in small pieces
_DAMAGES = 20  # of each case
_SIZE = 300  # characters of a value
_STEADY = 2.2  # how much more work there may be, at most, where the text is twice as long
_BREAKS = ("", '"', "}", "{", "<", "\\", "\n", "'", "</", "``")
_CALLS = (
    ToolCall("get_weather_0", "get_weather", '{"city":"Zürich","days":3}'),
    ToolCall("get_time_1", "get_time", "{}"),
    ToolCall(
        "search_2",
        "search",
        '{"query":"a \\"b\\" <c> & {d}\\nnext, line","limit":-2,"tags":["x","y z"],"exact":true,'
        '"filters":{"k":[1,2.5],"n":null}}',
    ),
)


class Law(msgspec.Struct, frozen=True):
    states: str
    failures: Callable[[str, Cases], Failures]


LAWS: dict[str, Law] = {}


def law(name: str, states: str) -> Callable[[Callable[[str, Cases], Failures]], Callable[[str, Cases], Failures]]:
    def registered(function: Callable[[str, Cases], Failures]) -> Callable[[str, Cases], Failures]:
        LAWS[name] = Law(states, function)
        return function

    return registered


def parsed(
    text: str,
    tools: Toolset,
    dialect: str,
    size: int | None = None,
    *,
    policy: str = "balanced",
    calls: Mode = "hold",
    starts: bool = False,
) -> Extraction:
    """What comes out, fed in pieces of this size."""
    extractor = StreamExtractor(tools, dialect=dialect, policy=policy, calls=calls, starts_in_reasoning=starts)  # type: ignore[arg-type]
    step = size or max(1, len(text))
    for at in range(0, len(text), step):
        extractor.feed(text[at : at + step])
    extractor.close()
    return extractor.result()


def of_case(case: Case, dialect: str, size: int | None = None, calls: Mode = "hold") -> Extraction:
    return parsed(
        case.text,
        case.toolset,
        dialect,
        size,
        policy=case.policy,
        calls=calls,
        starts=case.starts_in_reasoning,
    )


def called(found: Extraction) -> list[tuple[str, Any]]:
    return [(one.full_name, one.arguments) for one in found.calls]


# -- the fixture


@law("fixture", "it has a fixture, with cases of every kind that is needed")
def _fixture(dialect: str, cases: Cases) -> Failures:
    if missing := sorted(NEEDED - {case.kind for case in cases}):
        yield f"no case of kind {', '.join(missing)}"


@law("calls", "each case gives its calls, its text, its reasoning and its ids")
def _calls(dialect: str, cases: Cases) -> Failures:
    for case in cases:
        found = of_case(case, dialect)
        if called(found) != case.wanted:
            yield f"{case.name}: expected {case.wanted}, got {called(found)}"
        if case.content is not None and found.text.split() != case.content.split():
            yield f"{case.name}: expected the text {case.content!r}, got {found.text!r}"
        if case.reasoning is not None and not found.reasoning.strip().startswith(case.reasoning.strip()):
            yield f"{case.name}: expected the reasoning {case.reasoning!r}, got {found.reasoning!r}"
        if case.ids is not None and [one.id for one in found.calls] != case.ids:
            yield f"{case.name}: expected the ids {case.ids}, got {[one.id for one in found.calls]}"
        if case.kind == "truncated" and not case.wanted and not found.decisions:
            yield f"{case.name}: a call that was cut short has no decision"


@law("auto", "the same calls without naming the dialect")
def _auto(dialect: str, cases: Cases) -> Failures:
    for case in cases:
        if case.policy != "strict" and (found := called(of_case(case, "auto"))) != case.wanted:
            yield f"{case.name}: expected {case.wanted}, got {found}"


# -- streams


@law("cuts", "the same result however the text is cut")
def _cuts(dialect: str, cases: Cases) -> Failures:
    for case in cases:
        whole = of_case(case, dialect)
        yield from (f"{case.name}: in pieces of {size}" for size in _CUTS if of_case(case, dialect, size) != whole)


@law("events", "events are in order, and fold to the result")
def _events(dialect: str, cases: Cases) -> Failures:
    for case in cases:
        extractor = StreamExtractor(case.toolset, dialect=dialect, starts_in_reasoning=case.starts_in_reasoning)
        events = [*extractor.feed(case.text), *extractor.close()]
        if error := first_order_error(events):
            yield f"{case.name}: {error}"
        reply, result = fold(events), extractor.result()
        if (reply.calls, reply.text, reply.reasoning) != (result.calls, result.text, result.reasoning):
            yield f"{case.name}: the fold of the events is not the result"


@law("pass", 'with calls="pass" every cut folds to the same, and no call leaves that "hold" rejects')
def _pass(dialect: str, cases: Cases) -> Failures:
    for case in cases:
        whole, checked = of_case(case, dialect, None, "pass"), of_case(case, dialect)
        yield from (f"{case.name}: in pieces of {size}" for size in (1, 3, 11) if of_case(case, dialect, size, "pass") != whole)
        if more := [one for one in called(whole) if one not in called(checked)]:
            yield f"{case.name}: {more} left, and would be rejected"
        if whole.text != checked.text:
            yield f"{case.name}: the text is {whole.text!r}, with hold {checked.text!r}"


# -- writing


@law("render", "rendered calls are parsed back, under every policy, as this dialect's")
def _render(dialect: str, cases: Cases) -> Failures:
    for count in (1, 2, 3):
        text = declared(dialect).render_calls(_CALLS[:count])
        wanted = [(one.name, one.arguments, dialect) for one in _CALLS[:count]]
        for policy in ("eager", "strict"):
            calls = parsed(text, shared_tools(), dialect, policy=policy).calls
            if (found := [(one.full_name, one.arguments, one.source) for one in calls]) != wanted:
                yield f"{count} calls, {policy}: expected {wanted}, got {found}"


@law("prompt", "the prompt names every tool")
def _prompt(dialect: str, cases: Cases) -> Failures:
    prompt = declared(dialect).render_tools(tuple(shared_tools()))
    yield from (f"{tool.name} is missing" for tool in shared_tools() if tool.name not in prompt)


@law("grammar", "the grammar of constrained decoding accepts the calls of the fixture (if it has one)")
def _grammar(dialect: str, cases: Cases) -> Failures:
    from toolglot.evaluation.dialect_grammars import rejected_calls  # noqa: PLC0415  (it imports from here)

    if isinstance(declared(dialect).render_calls, CallForm):
        yield from rejected_calls(dialect, cases)


# -- contents


def is_exact(found: Extraction, value: str, shape: str) -> bool | None:
    """False: it was rejected, with a reason. None: something else came out, which is a failure."""
    whole = [(one.name, one.arguments) for one in found.calls if one.sealed]
    if whole:
        return True if whole == [("write_file", SHAPES[shape](value))] else None
    return False if any(one.code.startswith("rejected_") for one in found.decisions) else None


@law("values", "hard values (quotes, markup, other dialects' calls) come back exactly")
def _values(dialect: str, cases: Cases) -> Failures:
    ends = all(tag in around(dialect)[1] for tag in ("</content>", "</write_file>"))  # a tag of the argument's name
    own = {"closing tags of the arguments"} if ends else set()
    for name, value in (PLAIN | markup()).items():
        for shape in ("last", "first"):
            text = rendered(dialect, call(value, shape))
            for size in (None, 11) if shape == "last" and len(value) <= _LONG else (None,):
                exact = is_exact(parsed(text, TOOLS, dialect, size), value, shape)
                if exact is None or (not exact and name not in own):
                    yield f"{name}, argument {shape}" + (f", in pieces of {size}" if size else "")


@law("marks", "its own marks in a value come back exactly, or the call is rejected (if it has no escapes); never another call")
def _marks(dialect: str, cases: Cases) -> Failures:
    raw = is_raw(dialect)
    for name, value in own_marks(dialect).items():
        for shape in SHAPES:
            text = rendered(dialect, call(value, shape))
            whole = is_exact(parsed(text, TOOLS, dialect), value, shape)
            if whole is None or not (whole or raw):
                yield f"{name}, argument {shape}"
            yield from (
                f"{name}, argument {shape}, in pieces of {size}"
                for size in (1, 7)
                if is_exact(parsed(text, TOOLS, dialect, size), value, shape) != whole
            )
            others: dict[str, Extraction] = {
                "auto": parsed(text, TOOLS, "auto"),
                "strict": parsed(text, TOOLS, dialect, policy="strict"),
                "eager": parsed(text, TOOLS, dialect, policy="eager"),
                "pass": parsed(text, TOOLS, dialect, 7, calls="pass"),
            }
            yield from (
                f"{name}, argument {shape}, {how}" for how, one in others.items() if is_exact(one, value, shape) is None
            )


# -- damage and work


@law("damage", "damaged text never raises, keeps the order of events, and all cuts agree")
def _damage(dialect: str, cases: Cases) -> Failures:
    choose = random.Random(dialect)  # noqa: S311
    for case in cases:
        for _ in range(_DAMAGES):
            text = _damaged(case.text, choose)
            cuts = sorted({0, len(text), *(choose.randint(0, len(text)) for _ in range(5))})
            for named in (dialect, "auto"):
                yield from (
                    f"{case.name}, {named}: {problem} for {text!r}" for problem in _disagreements(text, case, named, cuts)
                )


def _damaged(text: str, choose: random.Random) -> str:
    for _ in range(choose.randint(1, 3)):
        at, size = choose.randint(0, max(0, len(text) - 1)), choose.randint(0, 8)
        text = text[:at] + choose.choice((*_BREAKS, text[:9])) + text[at + size :]
    return text


def _disagreements(text: str, case: Case, dialect: str, cuts: list[int]) -> Failures:
    try:
        whole = extract(text, case.toolset, dialect=dialect)
        extractor = StreamExtractor(case.toolset, dialect=dialect)
        events = [event for a, b in pairwise(cuts) for event in extractor.feed(text[a:b])] + extractor.close()
    except Exception as error:  # noqa: BLE001  (that is what must not be)
        yield repr(error)
        return
    if problem := first_order_error(events):
        yield problem
    if extractor.result() != whole:
        yield f"cut at {cuts} it differs"


@law("work", "a call twice as long is twice the work, counted in characters scanned and lines run")
def _work(dialect: str, cases: Cases) -> Failures:
    for named in (dialect, "auto"):
        texts = [_long_call(dialect, _SIZE * times) for times in (1, 2, 4)]
        for size in (None, 1, 7):
            steps = [_scanned(text, named, size) for text in texts]
            if any(later > _STEADY * before for before, later in pairwise(steps)):
                yield f"{named}, in pieces of {size}: {steps} characters scanned"
            if steps[-1] > 16 * len(texts[-1]):  # a handful of regions share an opener
                yield f"{named}, in pieces of {size}: {steps[-1]} characters scanned of {len(texts[-1])}"
        lines = [lines_run(partial(parsed, text, shared_tools(), named, 4)) for text in texts]
        if any(later > _STEADY * before for before, later in pairwise(lines)):
            yield f"{named}: {lines} lines run"


@law("floods", "a flood of its marks is linear work")
def _floods(dialect: str, cases: Cases) -> Failures:
    config = scanner_for(shared_tools(), dialect, "strict")
    for mark in sorted({*config.openings, *config.ends, *config.closers}):
        texts = [mark * (length // len(mark)) for length in (4 * _SIZE, 8 * _SIZE)]  # in shorter ones, what is done once counts
        lines = [lines_run(partial(parsed, text, shared_tools(), dialect, 7)) for text in texts]
        if lines[1] > _STEADY * lines[0]:
            yield f"{mark!r}: {lines} lines run"


_SOURCE = 'def f(x):\n    """It\'s <b>so</b>."""\n    return {\'a\': [x, "y"]} if x < 3 else \'</p>\'\n'


def _long_call(dialect: str, size: int) -> str:
    query = (_SOURCE * (size // len(_SOURCE) + 1))[:size]
    return declared(dialect).render_calls((ToolCall("search_0", "search", dumps({"query": query})),))


def _scanned(text: str, dialect: str, size: int | None) -> int:
    scanner = ToolCallScanner(scanner_for(shared_tools(), dialect, "balanced"))
    step = size or max(1, len(text))
    for at in range(0, len(text), step):
        scanner.feed(text[at : at + step])
    scanner.close()
    return scanner.examined
