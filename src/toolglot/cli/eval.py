"""`toolglot eval`: ask a model questions with known answers, and measure its calls with and without toolglot."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import msgspec

from toolglot.cli.completion import complete_models, complete_modes
from toolglot.cli.eval_runner import EvalRunner
from toolglot.cli.named_options import key_by_name, named_options
from toolglot.cli.output import clear_line, replace_line
from toolglot.client.transports import Transports
from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.figures import Judged, figures, judge
from toolglot.evaluation.files import builtin_questions, load
from toolglot.evaluation.plot import as_svg
from toolglot.evaluation.questions import Question
from toolglot.evaluation.report import as_object, as_text
from toolglot.evaluation.running import Progress, chosen, put_all
from toolglot.evaluation.saved_answers import AnswerFile, SavedAnswer, Setting, mark, read_saved, still_good
from toolglot.io.json_codec import encode, preview

EXAMPLES = """\b
Examples:
  toolglot eval -m ollama/qwen3:8b                               our 108 questions
  toolglot eval -m local/smollm2 --limit 12                      twelve of them, evenly over the kinds
  toolglot eval -m vllm/my-model --ask native --only parallel    one tool mode, one kind of question
  toolglot eval -m openai/gpt-5 --resume gpt5.jsonl --concurrency 8 --plot gpt5.svg
  toolglot eval --score gpt5.jsonl --wrong                       score saved answers again, without asking
  toolglot eval -m llamacpp/any --questions mine.jsonl --questions BFCL_v4_parallel.json
  toolglot eval -m ollama/qwen3:8b --min-right 0.8 --json        for CI: exit code 1 below 80 %

\b
Exit codes: 0 success, 1 failure (below --min-right, or no answer at all), 2 usage error.
"""
DEFAULTS: dict[str, Any] = {"temperature": 0, "max_tokens": 1024}
OWN = "own"
POLICIES = ("strict", "balanced", "eager")
_MODES = ("auto", "native", "constrained")
_MINUTE = 60


@click.command("eval", epilog=EXAMPLES)
@click.option("-m", "--model", envvar="TOOLGLOT_MODEL", help="provider/model", shell_complete=complete_models)
@click.option(
    "--questions",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="A file in toolglot's or BFCL's format; `own`: the built-in questions. May be repeated.",
)
@click.option("--only", multiple=True, metavar="TAG", help="Only questions with this tag or id; may be repeated.")
@click.option("--limit", type=click.IntRange(1), help="The most questions, spread evenly over the kinds; always the same ones.")
@click.option(
    "--ask",
    default="auto",
    show_default=True,
    help="auto, native, constrained, or a dialect's name.",
    shell_complete=complete_modes,
)
@click.option("--policy", type=click.Choice(POLICIES), default="balanced", show_default=True, help="Which calls are accepted.")
@click.option("--save", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="Save each answer in a new file.")
@click.option(
    "--resume", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="Like --save, but continue if the file exists."
)
@click.option(
    "--score", metavar="FILE.jsonl", type=click.Path(path_type=Path), help="Score the answers of a file, without asking."
)
@click.option("--plot", metavar="FILE", type=click.Path(path_type=Path), help="Draw the figures: .svg, or .png with cairosvg.")
@click.option("--min-right", type=click.FloatRange(0, 1), help="Exit with 1 if the share of right answers is lower.")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Questions at a time.")
@click.option("-o", "--option", "pairs", multiple=True, metavar="NAME=VALUE", help="As in OpenAI Chat; null removes a default.")
@click.option("--base-url", help="The server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the API key, if not the provider's default.")
@click.option("--tags", "all_tags", is_flag=True, help="Figures for every tag, not only for each kind of question.")
@click.option("--wrong", is_flag=True, help="List the wrong answers: the expected calls, and the actual ones.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, all_tags: bool, wrong: bool, **options: Any) -> None:
    """Ask a model questions with known answers: are its calls valid, right, and only made where a call is expected?

    Each figure is given twice, with its 95 % interval: for the calls as the model wrote them, and as toolglot returned them.
    The difference is toolglot's effect. Questions are asked as an agent asks them: a rejected call goes back to the model with
    the reason. In loops, each tool returns the result that the question defines.
    """
    try:
        _check_plot(options["plot"])
        questions = chosen(_questions(options["files"]), options["only"], options["limit"])
        setting, judged = _score_saved(options, questions) if options["score"] else asyncio.run(_ask(options, questions))
        if options["plot"] is not None:
            _draw(options["plot"], as_svg(setting, judged))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except UpstreamError as error:
        click.echo(f"error: {options['model']}: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        file = options["resume"] or options["save"]
        click.echo(f"\nstopped; --resume {file} continues" if file else "\nstopped", err=True)
        sys.exit(1)
    text = encode(as_object(setting, judged)) if as_json else as_text(setting, judged, all_tags=all_tags, wrong=wrong)
    click.echo(text)
    sys.exit(_exit_code(judged, options["min_right"]))


def _exit_code(judged: Sequence[Judged], minimum: float | None) -> int:
    right = figures(judged).left.overall["right"]
    if minimum is None or (right.share or 0.0) >= minimum:
        return 0
    click.echo(f"{right.hits} of {right.of} are right, which is less than {minimum:.0%}", err=True)
    return 1


# -- options


def _questions(files: Sequence[str]) -> list[Question]:
    found: list[Question] = []
    for file in files or (OWN,):
        found += builtin_questions() if file == OWN else load(file)
    return found


def _mode(ask: str) -> str:
    """`tagged` is short for `dialect:tagged`."""
    return ask if ask in _MODES or ":" in ask else f"dialect:{ask}"


# -- saved and new answers


def _score_saved(options: dict[str, Any], questions: Sequence[Question]) -> tuple[Setting, list[Judged]]:
    for name in ("save", "resume"):
        if options[name] is not None:
            raise CallerError(f"--score asks nothing, so there is nothing to save: remove --{name}")
    setting, rows = read_saved(options["score"])
    judged = [judge(one, rows[one.id], setting.tool_mode) for one in questions if one.id in rows]
    if not judged:
        raise CallerError("it has no answer to any of the questions; --questions names another file", str(options["score"]))
    outdated = sum(rows[one.question.id].asked != mark(one.question) for one in judged)
    unknown = len(rows) - len(judged)
    if outdated:
        click.echo(f"note: {outdated} answers are to another wording of the question", err=True)
    if unknown:
        click.echo(f"note: {unknown} answers to other questions are ignored", err=True)
    return setting, judged


async def _ask(options: dict[str, Any], questions: Sequence[Question]) -> tuple[Setting, list[Judged]]:
    if options["model"] is None:
        raise CallerError("which model? -m provider/model, as in ollama/qwen3:8b", "--model")
    transport = Transports()
    try:
        runner = EvalRunner(
            options["model"],
            transport,
            ask=_mode(options["ask"]),
            policy=options["policy"],
            base_url=options["base_url"],
            api_key=key_by_name(options["api_key"]),
            options=named_options(options["pairs"], DEFAULTS),
        )
        setting = await runner.setting()
        saved, save = _open_saved(options, setting, questions)
        return setting, await _ask_all(runner, setting, questions, saved, save, options["concurrency"])
    finally:
        await transport.aclose()


def _open_saved(
    options: dict[str, Any], setting: Setting, questions: Sequence[Question]
) -> tuple[dict[str, SavedAnswer], Callable[[SavedAnswer], None]]:
    """The saved answers that still apply, and a function that saves a new one."""
    path = options["resume"] or options["save"]
    if path is None:
        return {}, lambda _: None
    saved: dict[str, SavedAnswer] = {}
    if path.exists() and path.stat().st_size:
        if options["save"] is not None:
            raise CallerError("the file exists; --resume continues it", str(path))
        old_setting, rows = read_saved(path)
        _check_setting(old_setting, setting, path)
        saved = still_good(rows.values(), questions)
        click.echo(f"{len(saved)} of {len(questions)} are answered in {path}", err=True)
    return saved, AnswerFile(path, setting).add


def _check_setting(old_setting: Setting, new_setting: Setting, path: Path) -> None:
    old, new = msgspec.structs.asdict(old_setting), msgspec.structs.asdict(new_setting)
    for name in (name for name in old if old[name] != new[name]):
        raise CallerError(f"its answers have the {name} {preview(old[name])}, and this run {preview(new[name])}", str(path))


async def _ask_all(
    runner: EvalRunner,
    setting: Setting,
    questions: Sequence[Question],
    saved: dict[str, SavedAnswer],
    save: Callable[[SavedAnswer], None],
    concurrency: int,
) -> list[Judged]:
    by_id = {question.id: question for question in questions}

    def report(now: Progress) -> None:
        save(now.kept)
        right = judge(by_id[now.kept.question], now.kept, setting.tool_mode).left.right
        word = "no answer" if now.kept.error is not None else "right" if right else "wrong"
        left = f", about {_duration(now.seconds_left)} left" if now.done < now.of else ""
        replace_line(f"{now.done}/{now.of} {word:<9} {now.kept.question} ({now.kept.seconds:.1f} s){left}")

    unanswered = [question for question in questions if question.id not in saved]
    try:
        new = await put_all(unanswered, runner.ask, time.monotonic, concurrency=concurrency, on_progress=report)
    finally:
        clear_line()
    rows = {**saved, **{row.question: row for row in new}}
    return [judge(question, rows[question.id], setting.tool_mode) for question in questions]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE else f"{seconds / _MINUTE:.0f} min"


# -- the plot


def _check_plot(path: Path | None) -> None:
    """Runs before the questions, which may take an hour."""
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
