"""`toolglot eval`: puts questions with known answers to a model: how often are its calls right, and whose merit is that?"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import msgspec

from toolglot.cli.completing import complete_models, complete_ways
from toolglot.cli.eval_asking import Asker
from toolglot.cli.named_options import key_by_name, named_options
from toolglot.cli.telling import changing, told_all
from toolglot.client.carriers import Carriers
from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.figures import Judged, figures, judge
from toolglot.evaluation.files import load, own_questions
from toolglot.evaluation.kept import Keeper, Kept, Setting, mark, read_kept, still_good
from toolglot.evaluation.plot import as_svg
from toolglot.evaluation.questions import Question
from toolglot.evaluation.report import as_object, as_text
from toolglot.evaluation.running import Progress, chosen, put_all
from toolglot.text.json_text import encode, shown

EXAMPLES = """\b
Examples:
  toolglot eval -m ollama/qwen3:8b                               our 108 questions
  toolglot eval -m local/smollm2 --limit 12                      twelve of them, of each kind alike
  toolglot eval -m vllm/my-model --ask native --only parallel    one way of asking, one kind of question
  toolglot eval -m openai/gpt-5 --resume gpt5.jsonl --concurrency 8 --plot gpt5.svg
  toolglot eval --score gpt5.jsonl --wrong                       judge again what was answered, and ask nothing
  toolglot eval -m llamacpp/any --questions mine.jsonl --questions BFCL_v4_parallel.json
  toolglot eval -m ollama/qwen3:8b --min-right 0.8 --json        for CI: exit code 1 below 80 %

\b
Exit codes: 0 done (and as good as --min-right asks), 1 not so or no answer at all, 2 wrong use.
"""
DEFAULTS: dict[str, Any] = {"temperature": 0, "max_tokens": 1024}
OWN = "own"
POLICIES = ("strict", "balanced", "eager")
_PLAIN_WAYS = ("auto", "native", "constrained")
_MINUTE = 60


@click.command("eval", epilog=EXAMPLES)
@click.option("-m", "--model", envvar="TOOLGLOT_MODEL", help="provider/model", shell_complete=complete_models)
@click.option(
    "--questions",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="A file of ours or of BFCL's; `own` is ours. May be repeated.",
)
@click.option("--only", multiple=True, metavar="TAG", help="Questions with this tag or id; may be repeated.")
@click.option("--limit", type=click.IntRange(1), help="At most so many, of each kind alike, always the same ones.")
@click.option(
    "--ask",
    default="auto",
    show_default=True,
    help="auto, native, constrained, or a dialect's name.",
    shell_complete=complete_ways,
)
@click.option("--policy", type=click.Choice(POLICIES), default="balanced", show_default=True, help="What the guard lets pass.")
@click.option("--save", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="Keep each answer in a new file.")
@click.option(
    "--resume", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="As --save; go on if there is such a file."
)
@click.option(
    "--score", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="Ask nothing: judge the answers of a file."
)
@click.option("--plot", metavar="FILE", type=click.Path(path_type=Path), help="Draw the figures: .svg, or .png with cairosvg.")
@click.option("--min-right", type=click.FloatRange(0, 1), help="Exit with 1 if the share of right answers is below.")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Questions at a time.")
@click.option(
    "-o", "--option", "pairs", multiple=True, metavar="NAME=VALUE", help="As in OpenAI Chat; null takes a default away."
)
@click.option("--base-url", help="Where the server is, if not at its usual address.")
@click.option("--api-key", metavar="env:NAME", help="The variable that holds the key, if not the provider's usual one.")
@click.option("--tags", "all_tags", is_flag=True, help="Figures of every tag, not only of each kind of question.")
@click.option("--wrong", is_flag=True, help="List what was not right: the calls that were due, and those that came.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, all_tags: bool, wrong: bool, **given: Any) -> None:
    """Put questions with known answers to a model: are its calls valid, right, and made only where one is due?

    Each figure is given twice, with its 95 % interval: for the calls as the model wrote them, and as they left toolglot. What
    lies between is the layer's doing. Questions are put as an agent puts them: a call that is refused
    goes back to the model with the reason. In loops the tools give the results that the question has.
    """
    try:
        _check_plot(given["plot"])
        questions = chosen(_questions(given["files"]), given["only"], given["limit"])
        setting, judged = _scored(given, questions) if given["score"] else asyncio.run(_asked(given, questions))
        if given["plot"] is not None:
            _draw(given["plot"], as_svg(setting, judged))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except UpstreamError as error:
        click.echo(f"error: {given['model']}: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        file = given["resume"] or given["save"]
        click.echo(f"\nstopped; --resume {file} goes on" if file else "\nstopped", err=True)
        sys.exit(1)
    text = encode(as_object(setting, judged)) if as_json else as_text(setting, judged, all_tags=all_tags, wrong=wrong)
    click.echo(text)
    sys.exit(_verdict(judged, given["min_right"]))


def _verdict(judged: Sequence[Judged], least: float | None) -> int:
    right = figures(judged).left.overall["right"]
    if least is None or (right.share or 0.0) >= least:
        return 0
    click.echo(f"{right.hits} of {right.of} are right, which is less than {least:.0%}", err=True)
    return 1


# -- what was given


def _questions(files: Sequence[str]) -> list[Question]:
    found: list[Question] = []
    for file in files or (OWN,):
        found += own_questions() if file == OWN else load(file)
    return found


def _way(ask: str) -> str:
    """A dialect's name may stand alone."""
    return ask if ask in _PLAIN_WAYS or ":" in ask else f"dialect:{ask}"


# -- answers: kept ones, and new ones


def _scored(given: dict[str, Any], questions: Sequence[Question]) -> tuple[Setting, list[Judged]]:
    for name in ("save", "resume"):
        if given[name] is not None:
            raise CallerError(f"--score asks nothing, so there is nothing to keep: leave --{name} out")
    setting, rows = read_kept(given["score"])
    judged = [judge(one, rows[one.id], setting.way) for one in questions if one.id in rows]
    if not judged:
        raise CallerError("it has no answer to any of the questions; --questions names another file", str(given["score"]))
    older = sum(rows[one.question.id].asked != mark(one.question) for one in judged)
    strange = len(rows) - len(judged)
    if older:
        click.echo(f"note: {older} answers were given to another wording of the question", err=True)
    if strange:
        click.echo(f"note: {strange} answers are to other questions, and left out", err=True)
    return setting, judged


async def _asked(given: dict[str, Any], questions: Sequence[Question]) -> tuple[Setting, list[Judged]]:
    if given["model"] is None:
        raise CallerError("which model? -m provider/model, as in ollama/qwen3:8b", "--model")
    log = logging.getLogger("toolglot")
    disabled, log.disabled = log.disabled, True  # refused calls are counted: they need not be told one by one
    transport = Carriers()
    try:
        asker = Asker(
            given["model"],
            transport,
            ask=_way(given["ask"]),
            policy=given["policy"],
            base_url=given["base_url"],
            api_key=key_by_name(given["api_key"]),
            options=named_options(given["pairs"], DEFAULTS),
        )
        setting = await asker.setting()
        known, keep = _kept(given, setting, questions)
        return setting, await _put(asker, setting, questions, known, keep, given["concurrency"])
    finally:
        log.disabled = disabled
        await transport.aclose()


def _kept(
    given: dict[str, Any], setting: Setting, questions: Sequence[Question]
) -> tuple[dict[str, Kept], Callable[[Kept], None]]:
    """The answers that there are already, and where new ones go."""
    save, path = given["save"], given["resume"] or given["save"]
    if path is None:
        return {}, lambda _: None
    known: dict[str, Kept] = {}
    if path.exists() and path.stat().st_size:
        if save is not None:
            raise CallerError("it is there already: --resume goes on with it", str(save))
        before, rows = read_kept(path)
        _same(before, setting, path)
        known = still_good(rows.values(), questions)
        click.echo(f"{len(known)} of {len(questions)} are answered in {path}", err=True)
    return known, Keeper(path, setting).add


def _same(before: Setting, now: Setting, path: Path) -> None:
    old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(now)
    for name in (name for name in old if old[name] != new[name]):
        raise CallerError(f"its answers have the {name} {shown(old[name])}, and this run {shown(new[name])}", str(path))


async def _put(
    asker: Asker,
    setting: Setting,
    questions: Sequence[Question],
    known: dict[str, Kept],
    keep: Callable[[Kept], None],
    concurrency: int,
) -> list[Judged]:
    by_id = {question.id: question for question in questions}

    def told(now: Progress) -> None:
        keep(now.kept)
        right = judge(by_id[now.kept.question], now.kept, setting.way).left.right
        word = "no answer" if now.kept.error is not None else "right" if right else "wrong"
        left = f", about {_duration(now.seconds_left)} left" if now.done < now.of else ""
        changing(f"{now.done}/{now.of} {word:<9} {now.kept.question} ({now.kept.seconds:.1f} s){left}")

    due = [question for question in questions if question.id not in known]
    try:
        new = await put_all(due, asker.put, time.monotonic, concurrency=concurrency, told=told)
    finally:
        told_all()
    rows = {**known, **{row.question: row for row in new}}
    return [judge(question, rows[question.id], setting.way) for question in questions]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE else f"{seconds / _MINUTE:.0f} min"


# -- the drawing


def _check_plot(path: Path | None) -> None:
    """Before anything is asked: an hour later is too late."""
    if path is None:
        return
    if path.suffix not in (".svg", ".png"):
        raise CallerError(f"{path.name} is neither .svg nor .png", "--plot")
    if path.suffix == ".png" and find_spec("cairosvg") is None:
        raise CallerError("a .png needs the package cairosvg; .svg needs nothing", "--plot")
    if not path.parent.is_dir():
        raise CallerError(f"there is no folder {path.parent}", "--plot")


def _draw(path: Path, svg: str) -> None:
    try:
        if path.suffix == ".png":
            path.write_bytes(import_module("cairosvg").svg2png(bytestring=svg.encode(), background_color="white", scale=2))
        else:
            path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise CallerError(f"it can't be written: {error.strerror}", str(path)) from None
