"""How fast toolglot translates: bytes to bytes, against a hand-written walk and against LiteLLM, in one run.

python bench/translate.py [--quick] [--no-litellm] [--json] [--check]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import essence
import floor
import payloads
from litellm_env import run_side
from plot import bar_chart
from toolglot.core.interfaces import ResponseContext
from toolglot.io.json_codec import decode, encode
from toolglot.pipeline.request.route import wire_format
from toolglot.speed import as_chat
from toolglot.speed.report import table as table_of
from toolglot.speed.timing import CALIBRATION, REFERENCE_US, Case, Timing, measure, ratio
from toolglot.speed.translating import first_request, request, stream

OUT = Path(__file__).parent.parent / ".bench"

# The targets. Microseconds are those of the machine they were set on: in calibration loops they hold anywhere.
FLOOR_RATIO = 2.5
LITELLM_RATIO = 5.0
CHUNK_US = 15.0

Chat, Anthropic, Gemini = "openai-chat", "anthropic", "gemini"


@dataclass(frozen=True)
class Item:
    """One direction: both ways of doing it, and what they must agree on."""

    name: str
    ours: Callable[[], bytes]
    floor: Callable[[], bytes]
    meaning: Callable[[bytes], Any]
    units: int = 1
    targets: tuple[str, ...] = ()


# -- what a gateway does with a whole reply; requests and streams are the package's


def reply(source: str, target: str, data: bytes) -> Callable[[], bytes]:
    here, there = wire_format(source).wire, wire_format(target).wire
    context = ResponseContext(created=0)
    return lambda: encode(there.write_reply(here.read_reply(decode(data), None), context, []))


# -- the items


def items() -> list[Item]:
    chat = as_chat.chat_request()
    return [
        *_requests(Chat, Anthropic, chat, floor.chat_to_anthropic, "floor", "litellm"),
        *_requests(Chat, Gemini, chat, floor.chat_to_gemini, "floor", "litellm"),
        *_requests(Anthropic, Chat, payloads.anthropic_request(), floor.anthropic_to_chat, "floor"),
        *_requests(Gemini, Chat, payloads.gemini_request(), _gemini_to_chat, "floor", model=as_chat.CHAT_MODEL),
        _reply(Anthropic, payloads.anthropic_reply(), floor.anthropic_reply_to_chat),
        _reply(Gemini, payloads.gemini_reply(), floor.gemini_reply_to_chat),
        _stream(Anthropic, Chat, payloads.anthropic_stream(), floor.anthropic_stream_to_chat),
        _stream(Gemini, Chat, payloads.gemini_stream(), floor.gemini_stream_to_chat),
        _stream(Chat, Anthropic, as_chat.chat_stream(), floor.chat_stream_to_anthropic),
    ]


def _gemini_to_chat(data: bytes) -> bytes:
    return floor.gemini_to_chat(data, as_chat.CHAT_MODEL)


def _requests(
    source: str, target: str, data: bytes, least: Callable[[bytes], bytes], *targets: str, model: str | None = None
) -> list[Item]:
    return [
        Item(
            f"{name} {source} > {target}",
            translate(source, target, data, model),
            lambda: least(data),
            lambda out: essence.of_request(target, out),
            targets=tuple(kind for kind in targets if translate is request or kind == "floor"),
        )
        for name, translate in (("request", request), ("first request", first_request))
    ]


def _reply(source: str, data: bytes, least: Callable[[bytes], bytes]) -> Item:
    return Item(f"reply {source} > {Chat}", reply(source, Chat, data), lambda: least(data), essence.of_chat_reply)


def _stream(source: str, target: str, pieces: list[bytes], least: Callable[[Iterable[bytes]], Iterator[bytes]]) -> Item:
    return Item(
        f"chunk {source} > {target}",
        stream(source, target, pieces),
        lambda: b"".join(least(pieces)),
        lambda out: essence.of_stream(target, out),
        len(pieces),
        ("chunk",),
    )


def check_meaning(item: Item) -> None:
    """An unfair race is none: the floor must do what toolglot does."""
    ours, theirs = item.meaning(item.ours()), item.meaning(item.floor())
    if ours != theirs:
        raise AssertionError(f"{item.name}: toolglot and the floor differ:\n{ours}\n{theirs}")


# -- results


@dataclass(frozen=True)
class Row:
    name: str
    us: float
    loops: float
    floor_us: float
    to_floor: float
    litellm_us: float | None
    to_litellm: float | None
    targets: tuple[str, ...]

    def verdicts(self) -> Iterator[tuple[str, bool]]:
        """Each target as a sentence, and whether it is met."""
        if "floor" in self.targets:
            yield f"{self.name}: {self.to_floor:.2f}x the floor, at most {FLOOR_RATIO}x", self.to_floor <= FLOOR_RATIO
        if "litellm" in self.targets and self.to_litellm is not None:
            sentence = f"{self.name}: {self.to_litellm:.1f}x faster than LiteLLM, at least {LITELLM_RATIO:.0f}x"
            yield sentence, self.to_litellm >= LITELLM_RATIO
        if "chunk" in self.targets:
            most = CHUNK_US / REFERENCE_US
            yield f"{self.name}: {self.loops:.3f} calibration loops, at most {most:.3f} ({CHUNK_US:.0f} us)", self.loops <= most


def rows(measured: list[Item], timings: dict[str, Timing], side: dict[str, Any] | None) -> list[Row]:
    found = []
    for item in measured:
        ours, least = timings[item.name], timings[_floor_name(item)]
        theirs = side["cases"].get(item.name.removeprefix("first ")) if side else None
        found.append(
            Row(
                item.name,
                ours.us,
                ours.loops,
                least.us,
                ratio(ours.rounds, least.rounds),
                theirs["us"] if theirs else None,
                theirs["loops"] / ours.loops if theirs else None,  # in calibration loops of the same process
                item.targets,
            )
        )
    return found


def _floor_name(item: Item) -> str:
    return f"floor of {item.name}"


def table(found: list[Row]) -> str:
    head = ("item", "toolglot us", "x calibration", "floor us", "ratio to floor", "LiteLLM us", "LiteLLM/toolglot")
    lines = [head]
    for row in found:
        theirs = ("-", "-") if row.litellm_us is None else (f"{row.litellm_us:,.1f}", f"{row.to_litellm:.1f}")
        lines.append((row.name, f"{row.us:.1f}", f"{row.loops:.3f}", f"{row.floor_us:.1f}", f"{row.to_floor:.2f}", *theirs))
    return table_of(lines)


def results(found: list[Row], calibration: Timing, side: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "floor_codec": floor.CODEC,
        "calibration_us": calibration.us,
        "rows": [vars(row) for row in found],
        "targets": [{"target": sentence, "met": met} for row in found for sentence, met in row.verdicts()],
        "litellm": side,
    }


def chart(found: list[Row]) -> str:
    series: dict[str, list[float | None]] = {
        "floor": [row.floor_us for row in found],
        "toolglot": [row.us for row in found],
        "LiteLLM": [row.litellm_us for row in found],
    }
    return bar_chart([row.name for row in found], series, "Translation, bytes to bytes (logarithmic)", "us", log=True)


def show(found: list[Row], results: dict[str, Any]) -> None:
    side = results["litellm"]
    print(f"Python {results['python']}; the floor codes JSON with {results['floor_codec']}; CPU time, median of the rounds")
    print(f"one calibration loop: {results['calibration_us']:.1f} us", end="")
    print(f"; in LiteLLM {side['version']}'s process: {side[CALIBRATION]:.1f} us\n" if side else "; LiteLLM was not measured\n")
    print(table(found), end="\n\n")
    for name, timing in side["cases"].items() if side else ():
        if name not in {row.name for row in found}:
            print(f"LiteLLM, {name}: {timing['us']:,.1f} us ({timing['loops']:.2f} loops)")
    print()
    for target in results["targets"]:
        print(f"{'met   ' if target['met'] else 'MISSED'}  {target['target']}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a few short rounds: rough figures in seconds")
    options.add_argument("--no-litellm", action="store_true", help="neither install nor measure LiteLLM")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    options.add_argument("--check", action="store_true", help="fail where a target is missed")
    asked = options.parse_args()
    rounds, seconds = (3, 0.02) if asked.quick else (15, 0.06)
    OUT.mkdir(exist_ok=True)
    measured = items()
    for item in measured:
        check_meaning(item)
    cases = [Case(item.name, item.ours, item.units) for item in measured]
    cases += [Case(_floor_name(item), item.floor, item.units) for item in measured]
    print("measuring toolglot and the floor ...", file=sys.stderr, flush=True)
    timings = measure(cases, rounds, seconds)
    side = None if asked.no_litellm else run_side(OUT / "litellm", min(rounds, 7), seconds)
    found = rows(measured, timings, side)
    results_data = results(found, timings[CALIBRATION], side)
    (OUT / "translate.json").write_text(json.dumps(results_data, indent=1), encoding="utf-8")
    (OUT / "translate.svg").write_text(chart(found), encoding="utf-8")
    if asked.json:
        print(json.dumps(results_data, indent=1))
    else:
        show(found, results_data)
        print(f"\nwritten to {OUT.name}/translate.json and {OUT.name}/translate.svg", file=sys.stderr)
    return int(asked.check and not all(target["met"] for target in results_data["targets"]))


if __name__ == "__main__":
    sys.exit(main())
