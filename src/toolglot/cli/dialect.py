"""`toolglot dialect check FILE`: run all laws on a dialect that is declared in a file."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import click

from toolglot.cli.output import clear_line, show_progress
from toolglot.cli.streams import no_color, reserve_stdout
from toolglot.dialects import register
from toolglot.errors import CallerError
from toolglot.evaluation.dialect_cases import read_cases
from toolglot.evaluation.dialect_laws import LAWS
from toolglot.grammars.dialect import Dialect
from toolglot.io.json_codec import encode, preview

EXAMPLES = """\b
Examples:
  toolglot dialect check my_dialect.py                       its fixture is my_dialect.toml, beside it
  toolglot dialect check my_dialect.py --fixture cases.toml
  toolglot dialect check my_dialect.py --law calls --law cuts
  toolglot dialect check my_dialect.py --json | jq '.laws[] | select(.failures != [])'

\b
Exit codes: 0 success (all laws are kept), 1 failure (one is not), 2 usage error (no dialect in the file).
"""
_MOST = 5  # failures of a law that are printed
_WIDTH = 300  # characters of each


@click.command("dialect", epilog=EXAMPLES)
@click.argument("action", type=click.Choice(["check"]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fixture", type=click.Path(path_type=Path), help="Its cases; by default the .toml file beside FILE.")
@click.option("--law", "only", multiple=True, type=click.Choice([*LAWS]), help="Only this law; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all failures.")
@click.pass_context
def command(ctx: click.Context, action: str, file: Path, fixture: Path | None, only: tuple[str, ...], as_json: bool) -> None:
    """Run all laws on the dialect that FILE declares as DIALECT, and print what fails.

    The same laws hold for every dialect of toolglot. FILE is Python and is run.
    """
    if no_color():
        ctx.color = False
    try:
        dialect = load_dialect(file)
        cases = read_cases(fixture or file.with_suffix(".toml"))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    register(dialect)
    names = [name for name in LAWS if name in only or not only]
    found: dict[str, list[str]] = {}
    for number, name in enumerate(names, 1):
        show_progress(number, len(names), name)
        found[name] = _failures(name, dialect.name, cases)
    clear_line()
    if as_json:
        rows = [{"law": name, "states": LAWS[name].states, "failures": failures} for name, failures in found.items()]
        click.echo(encode({"dialect": dialect.name, "cases": len(cases), "laws": rows}))
    else:
        _print(found)
    sys.exit(1 if any(found.values()) else 0)


def load_dialect(file: Path) -> Dialect:
    """DIALECT of a Python file."""
    spec = spec_from_file_location(file.stem, file) if file.suffix == ".py" else None
    if spec is None or spec.loader is None:
        raise CallerError("expected a Python file that declares DIALECT", str(file))
    if not file.is_file():
        raise CallerError("there is no such file", str(file))
    module = module_from_spec(spec)
    try:
        with reserve_stdout():  # the file may print
            spec.loader.exec_module(module)
    except Exception as error:
        raise CallerError(f"it can't be loaded: {type(error).__name__}: {error}", str(file)) from error
    dialect = getattr(module, "DIALECT", None)
    if not isinstance(dialect, Dialect):
        raise CallerError("it declares no DIALECT: a toolglot.plugin.Dialect", str(file))
    return dialect


def _failures(name: str, dialect: str, cases: object) -> list[str]:
    try:
        return list(LAWS[name].failures(dialect, cases))  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001  (of the dialect's own code)
        return [f"it raises {type(error).__name__}: {error}"]


def _print(found: dict[str, list[str]]) -> None:
    for name, failures in found.items():
        state = click.style("FAIL", fg="red", bold=True) if failures else click.style("ok", fg="green")
        click.echo(f"{state:4}  {click.style(name, bold=True)}: {LAWS[name].states}")
        for failure in failures[:_MOST]:
            click.echo(f"        {preview(failure, _WIDTH)}")
        if len(failures) > _MOST:
            click.echo(f"        and {len(failures) - _MOST} more (--json prints all)")
    failed = sum(bool(failures) for failures in found.values())
    click.echo(f"{len(found) - failed} of {len(found)} laws are kept")
