"""Timings and their figures, with a fake clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from toolglot.speed import figures, timing
from toolglot.speed.exchanges import Exchange, Exchanges
from toolglot.speed.figures import measured
from toolglot.speed.parts import PARTS, Part
from toolglot.speed.report import Setting, as_object, as_text, table
from toolglot.speed.subject import Subject
from toolglot.speed.timing import Case, Timing, calibration, measure


class Clock:
    now = 0.0

    def work(self, *seconds: float) -> Callable[[], None]:
        """Takes these in turn, and the last from then on."""
        left = list(seconds)

        def run() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


@pytest.fixture(name="clock")
def _clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "process_time", lambda: clock.now)
    monkeypatch.setattr(timing, "calibration", clock.work(100e-6))
    monkeypatch.setattr(timing, "_repeats", lambda case, seconds: 1)
    return clock


def test_the_best_round_counts_and_every_round_is_reported(clock: Clock) -> None:
    rounds: list[int] = []
    found = measure([Case("one", clock.work(9e-6, 3e-6, 5e-6), 1), Case("many", clock.work(40e-6), 4)], 3, 0.01, rounds.append)
    assert rounds == [0, 1, 2, 3]
    assert found["one"].rounds == pytest.approx((9, 3, 5))
    assert (found["one"].best, found["one"].us) == pytest.approx((3, 5))
    assert found["many"].best == pytest.approx(10)
    assert found[timing.CALIBRATION].best == pytest.approx(100)


def test_a_run_is_repeated_until_it_takes_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(timing, "process_time", lambda: clock.now)
    assert timing._repeats(Case("one", clock.work(1e-4)), 0.01) == 100
    assert timing._repeats(Case("long", clock.work(5.0)), 0.01) == 1
    assert timing._repeats(Case("long at first", clock.work(5.0, 1e-4)), 0.01) == 100
    assert calibration() > 0


def test_a_figure_is_for_one_unit_and_against_its_floor(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    floor = Case("floor of both", clock.work(2e-6), 1)
    subjects = [
        Subject("a", clock.work(6e-6), "request", floor=floor),
        Subject("b", clock.work(5e-6), "request", floor=floor),
        Subject("c", clock.work(80e-6), "delta", 4, 1000),
    ]
    monkeypatch.setitem(PARTS, "validate", Part("Guarding", "by hand", lambda: subjects))
    found = measured(["validate"], 2, lambda _: None)
    assert found.calibration_us == pytest.approx(100)
    a, b, c = found.parts["validate"]
    assert [a.us, a.floor_us, a.ratio] == pytest.approx([6, 2, 3])
    assert a.mb_s is None
    assert b.ratio == pytest.approx(2.5)
    assert [c.us, c.mb_s] == pytest.approx([20, 12.5])
    assert (c.floor_us, c.ratio) == (None, None)
    setting = Setting("1.2.3", 2, None)
    assert as_object(setting, found, [])["validate"] == [
        {"name": "a", "unit": "request", "us": a.us, "floor_us": a.floor_us, "ratio": a.ratio},
        {"name": "b", "unit": "request", "us": b.us, "floor_us": b.floor_us, "ratio": b.ratio},
        {"name": "c", "unit": "delta", "us": c.us, "mb_s": c.mb_s},
    ]
    text = as_text(setting, found, [], str.upper)
    assert text.startswith("toolglot 1.2.3, ")
    assert text.splitlines()[0].endswith("CPU time, the best of 2 rounds; one calibration loop takes 100 us")
    assert text.splitlines()[2:] == [
        "GUARDING: by hand",
        "   OF A       US  FLOOR US  RATIO  MB/S",
        "a  request   6.0       2.0   3.00",
        "b  request   5.0       2.0   2.50",
        "c  delta    20.0                   12.5",
    ]


def test_a_floor_that_several_share_is_run_once_in_a_round(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    floor = Case("floor", partial(ran.append, "floor"))
    subjects = [Subject(name, clock.work(1e-6), "request", floor=floor) for name in "ab"]
    monkeypatch.setitem(PARTS, "validate", Part("", "", lambda: subjects))
    monkeypatch.setattr(figures, "measure", lambda cases, *_: [case.run() for case in cases] and _timings(cases))
    measured(["validate"], 1, lambda _: None)
    assert ran == ["floor"]


def _timings(cases: list[Case]) -> dict[str, Timing]:
    return {name: Timing(1, 1, (1,)) for name in [timing.CALIBRATION, *(case.name for case in cases)]}


def test_requests_to_a_model_are_reported_by_their_median() -> None:
    exchanges = [Exchange(0.1, 0.2, 1.0, 10, 0.01), Exchange(0.3, None, 4.0, 20, 0.02), Exchange(0.2, 0.4, 2.0, 30, 0.03)]
    figures = Exchanges("in words", exchanges).figures
    assert figures == pytest.approx(
        {
            "first_event_ms": 200,
            "first_delta_ms": 300,
            "end_ms": 2000,
            "events": 20,
            "events_s": 10,
            "own_cpu_ms": 20,
            "own_share": 0.01,
        }
    )
    empty = Exchanges("in words", exchanges[1:2])
    text = as_text(Setting("1.2.3", 1, "vllm/m"), figures_of_nothing(), [empty], str)
    assert text.splitlines()[0] == "Asking vllm/m: the median of 1 request each, after one warm-up request"
    assert text.splitlines()[2].split() == ["in", "words", "300.0", "-", "4000.0", "20", "5", "20.00", "0.5%"]


def figures_of_nothing() -> figures.Figures:
    return figures.Figures(0.0, {})


def test_words_are_left_aligned_and_numbers_right_aligned() -> None:
    assert table([("", "OF", "US"), ("a long one", "x", "1000.0")], left=2) == "            OF      US\na long one  x   1000.0"
