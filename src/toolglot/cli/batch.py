"""`toolglot batch`: the calls in files of recorded replies."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from time import perf_counter
from typing import Any, BinaryIO, NoReturn

import click

from toolglot import __version__
from toolglot.bulk.chunks import Chunk, kind_of, open_input
from toolglot.bulk.cluster import Cluster
from toolglot.bulk.job import Done, Job
from toolglot.bulk.output import Output, made_of
from toolglot.bulk.processes import run_in_processes
from toolglot.bulk.rows import RowOptions, RowParser
from toolglot.cli.completion import complete_dialects
from toolglot.cli.convert import check_schemas, read_json
from toolglot.cli.streams import describe_error, is_dumb
from toolglot.errors import CallerError, JobFailedError
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot batch replies.jsonl calls.jsonl --tools tools.json
  toolglot batch replies.parquet calls.parquet --tools tools.json --field completion
  toolglot batch replies.jsonl calls.parquet --tools tools.json --ray auto     on the Ray cluster of this machine
  toolglot batch replies.jsonl calls.jsonl --json | jq .decisions

\b
Exit codes: 0 success (with or without bad rows), 1 failure (run it again to continue), 2 usage error.
"""
Run = Callable[[Job, Iterator[Chunk]], Iterator[Done]]


@click.command("batch", epilog=EXAMPLES)
@click.argument("source", metavar="IN", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False))
@click.option("--tools", type=click.File("rb"), help="The registered tools, in the format of any API; a row's own tools win.")
@click.option(
    "--dialect",
    default="auto",
    show_default=True,
    help="How the model writes calls; template:FILE takes it from a checkpoint's response_template.",
    shell_complete=complete_dialects,
)
@click.option("--policy", type=click.Choice(["strict", "balanced", "eager"]), default="balanced", show_default=True)
@click.option("--starts-in-reasoning", is_flag=True, help="The opening think tag was in the prompt.")
@click.option("--field", help="The field with the text or the response; default: response, text, or the whole row.")
@click.option("--max-row-bytes", type=click.IntRange(1), default=RowOptions().max_row_bytes, show_default=True)
@click.option("--workers", type=click.IntRange(1), help="Processes; default: one for each core.")
@click.option("--ray", metavar="ADDRESS", help="Run on a Ray cluster: its address, auto, or local for a new one here.")
@click.option("--overwrite", is_flag=True, help="Start anew: discard OUT or an unfinished run.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(source: str, target: str, workers: int | None, ray: str | None, as_json: bool, **options: Any) -> None:
    """Extract the calls from the recorded replies in IN into OUT, both .jsonl or .parquet.

    A row of IN is a text, or an object with a text or a provider's response, and perhaps the request's tools and messages. OUT
    has a row for each, in the same order: line, id, calls, text, reasoning, decisions, dialect, error. A run that was killed
    continues where it stopped.
    """
    try:
        summary = _run(source, target, workers, ray, options)
    except CallerError as error:
        _fail(str(error), 2)
    except OSError as error:
        _fail(describe_error(error) if error.strerror else str(error), 1)
    except JobFailedError as error:
        _fail(str(error), 1)
    except BrokenProcessPool:
        _fail("a worker process was killed, perhaps for lack of memory; run it again to continue", 1)
    except KeyboardInterrupt:
        _fail("stopped; run it again to continue", 1)
    click.echo(encode(summary) if as_json else _as_text(summary, target))


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def _run(source: str, target: str, workers: int | None, ray: str | None, options: dict[str, Any]) -> dict[str, Any]:
    overwrite = options.pop("overwrite")
    source = os.path.abspath(source)  # a worker on a cluster has another working directory
    if os.path.exists(target) and os.path.samefile(source, target):
        raise CallerError("IN and OUT are the same file", target)
    job = Job(source, encode(_row_options(kind_of(target), **options)))
    made = made_of(job, __version__)
    rows = open_input(source)
    with closing(Output(target, made, overwrite=overwrite)) as output, _runner(workers, ray) as (run, cores):
        begin = perf_counter()
        if output.resumed:
            click.echo(f"continues behind {output.resumed:,} rows", err=True)
        with _progress(rows.size, output.progress.begin) as show:
            for done in run(job, rows.chunks(output.progress.begin, output.progress.line)):
                output.add(done)
                show(done.chunk.end - done.chunk.begin)
        output.finish(made_of(job, __version__))
        seconds = perf_counter() - begin
    counts = output.progress.counts
    rate = (counts.rows - output.resumed) / seconds
    return {
        "rows": counts.rows,
        "resumed_rows": output.resumed,
        "calls": counts.calls,
        "rejected": counts.rejected,
        "errors": counts.errors,
        "decisions": dict(sorted(counts.decisions.items())),
        "seconds": round(seconds, 3),
        "workers": cores,
        "rows_per_second": round(rate, 1),
        "rows_per_second_per_core": round(rate / cores, 1),
    }


def _row_options(kind: str, tools: BinaryIO | None, dialect: str, **options: Any) -> RowOptions:
    """Checked here, before anything runs."""
    form, _, path = dialect.partition(":")
    template = None
    if form == "template":
        with open(path, "rb") as file:
            template = read_json(file, path)
        dialect = "auto"
    known = read_json(tools, f"--tools: {tools.name}") if tools else ()
    if tools:
        check_schemas(known if isinstance(known, list) else [known])
    arguments: Any = "text" if kind == "parquet" else "object"
    found = RowOptions(known, dialect, template, arguments=arguments, **options)
    RowParser(found)
    return found


@contextmanager
def _runner(workers: int | None, ray: str | None) -> Iterator[tuple[Run, int]]:
    """How chunks are run, and on how many cores."""
    if ray is None:
        cores = workers or _cores()
        yield lambda job, chunks: run_in_processes(job, chunks, cores), cores
        return
    with closing(Cluster(ray, workers)) as cluster:
        yield cluster.run, cluster.workers


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _progress(size: int, begin: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, else nothing."""
    if not sys.stderr.isatty() or is_dumb():
        yield lambda _: None
        return
    with click.progressbar(length=size, file=sys.stderr, show_eta=True) as bar:
        bar.update(begin)
        yield bar.update


def _as_text(summary: dict[str, Any], target: str) -> str:
    counted = ", ".join(f"{summary[name]:,} {name}" for name in ("rows", "calls", "rejected", "errors"))
    codes = [f"  {code}  {number:,}" for code, number in summary["decisions"].items()]
    speed = f"{summary['seconds']:.1f} s, {summary['rows_per_second_per_core']:,.0f} rows a second and core"
    return "\n".join([f"{target}: {counted}", *codes, f"{speed}, {summary['workers']} workers"])
