"""`toolglot demo`: the gateway with the embedded model, and a client with two tools that talks to it over HTTP."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from toolglot.client.embedded import SCHEME, embedded_names, locate
from toolglot.client.weights import LOCAL, ROWS
from toolglot.errors import ToolglotError

CONFIG = """\
[server]
log_level = "warning"  # the calls are printed here

[[upstream]]
name = "embedded"
provider = "local"

[[route]]
model = "*"
to = "embedded/{model}"
"""
ABOUT = """\
A client of the OpenAI API asks it two questions and offers two tools, get_weather and convert_distance. The model itself only
writes text: the gateway describes the tools to it, and makes valid calls of what it writes. The client runs them."""
NEXT = """\
Next: {program} chat --tools my_tools.py                   talk to it, with your own Python functions as tools
      {program} serve                                      the gateway, with a page to watch and to try it
      {program} launch claude -m ollama/qwen3-coder:30b    a coding agent with a model of yours"""
QUESTIONS = ("What is the weather in Paris?", "Convert 12 kilometers to miles.")
_START_TIMEOUT = 120  # seconds
WEATHER = {"Paris": "18 degrees, clear sky", "Rome": "24 degrees, sunny"}


def get_weather(city: str) -> str:
    """The weather in a city now.

    Args:
        city: The name of the city.
    """
    return WEATHER.get(city, "no report")


def convert_distance(kilometers: float) -> str:
    """Converts a distance from kilometers to miles.

    Args:
        kilometers: The distance in kilometers.
    """
    return f"{kilometers * 0.621371:.2f} miles"


EXIT_CODES = "Exit codes: 0 success, 1 failure (a question without a call), 2 usage error."


@click.command("demo", epilog=EXIT_CODES)
@click.option("--pairs", is_flag=True, help="Instead, translate one conversation between all 36 pairs of APIs, and check each.")
@click.option(
    "-m",
    "--model",
    type=click.Choice([f"{SCHEME}/{name}" if name != LOCAL else name for name in embedded_names()]),
    default=LOCAL,
    show_default=True,
    help="The embedded model; `local` is the best available one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(pairs: bool, model: str, as_json: bool) -> None:
    """Start the gateway on this machine with the embedded model, and run a client with two tools against it.

    Prints each call, its result and the final answer, then stops the gateway. Needs toolglot[gateway,local]. The first run
    downloads the model: 491 MB, or 98 MB if that one is not available. It is a small demo model: expect mistakes.
    """
    if pairs:
        from toolglot.cli.demo_pairs import run  # noqa: PLC0415

        run(as_json)
        return
    began = time.monotonic()
    outcomes = []
    try:
        name, _ = locate(model.removeprefix(f"{SCHEME}/"))  # downloads here, before any timeout of the gateway starts
        with _gateway(name) as address:
            _log(f"The gateway listens on {address}, with {ROWS[name].description}: a small demo model, expect mistakes.")
            _log(ABOUT)
            outcomes = [_ask(address, name, question, quiet=as_json) for question in QUESTIONS]
    except (ToolglotError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    right = sum(bool(outcome["calls"]) for outcome in outcomes)
    if as_json:
        click.echo(json.dumps({"questions": outcomes, "right": right}))
    seconds = time.monotonic() - began
    _log(f"\n{right} of {len(QUESTIONS)} questions answered with a call, in {seconds:.1f} s. The gateway is stopped.")
    if not as_json:
        _log(NEXT.format(program="toolglot" if shutil.which("toolglot") else sys.argv[0]))
    sys.exit(0 if right == len(QUESTIONS) else 1)


def _log(text: str) -> None:
    click.echo(text, err=True)


def _ask(address: str, model: str, question: str, *, quiet: bool) -> dict[str, object]:
    """Ask the gateway one question, like any OpenAI client."""
    from toolglot.agent.agent import Agent  # noqa: PLC0415

    agent = Agent(
        f"openai/{model}",
        tools=[get_weather, convert_distance],
        base_url=f"{address}/v1",
        api_key="demo",
        temperature=0,
        max_tokens=120,
        max_turns=3,
    )
    run = agent.run_sync(question)
    calls = [{"name": call.name, "arguments": call.arguments} for call in run.calls]
    results = [message["content"] for message in run.messages if message["role"] == "tool"]
    if not quiet:
        click.echo(f"\nuser    {question}")
        for call, result in zip(calls, results, strict=False):
            click.echo(f"call    {call['name']}({json.dumps(call['arguments'])})")
            click.echo(f"result  {result}")
        click.echo(f"answer  {run.text.strip()}")
        for note in dict.fromkeys(decision.message for decision in run.decisions):
            click.echo(f"        ({note})")
    return {"question": question, "calls": calls, "results": results, "answer": run.text, "end": run.end}


@contextlib.contextmanager
def _gateway(model: str) -> Iterator[str]:
    """Run `toolglot serve` in a child process; yields its address."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "toolglot.toml"
        config.write_text(CONFIG.format(model=model))
        command = [sys.executable, "-m", "toolglot.cli.main", "serve", "--config", str(config), "--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            try:
                line = process.stdout.readline() if process.stdout else ""
                if not line:
                    raise OSError(f"the gateway did not start (exit code {process.wait(_START_TIMEOUT)})")
                yield msgspec.json.decode(line)["url"]
            finally:
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
