"""`toolglot demo`: the gateway with the embedded model behind it, and a client with two tools that talks to it over HTTP."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from toolglot.errors import ToolglotError

CONFIG = """\
[[upstream]]
name = "embedded"
provider = "local"

[[route]]
model = "*"
to = "embedded/smollm2"
"""
QUESTIONS = ("What is the weather in Paris?", "Convert 12 kilometers to miles.")
_STARTS_WITHIN = 120  # seconds: the first time, the weights are fetched when the first question comes, not before
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


EXIT_CODES = "Exit codes: 0 every question got a good call, 1 one did not, or the gateway did not start, 2 wrong use."


@click.command("demo", epilog=EXIT_CODES)
@click.option("--pairs", is_flag=True, help="Carry one conversation through all 25 pairs of APIs instead, and check each.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(pairs: bool, as_json: bool) -> None:
    """Start the gateway on this machine with the embedded model, and let a client with two tools talk to it over HTTP.

    Prints each call, its result and the final answer; then the gateway is stopped. Needs toolglot[gateway,local]. The model is
    very small (135 million parameters): its words are poor, its calls are right.
    """
    if pairs:
        from toolglot.cli.demo_pairs import run  # noqa: PLC0415

        run(as_json)
        return
    began = time.monotonic()
    outcomes = []
    try:
        with _gateway() as address:
            _tell(f"The gateway listens on {address}, with the embedded model smollm2 behind it.")
            outcomes = [_asked(address, question, quiet=as_json) for question in QUESTIONS]
    except (ToolglotError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    right = sum(bool(outcome["calls"]) for outcome in outcomes)
    if as_json:
        click.echo(json.dumps({"questions": outcomes, "right": right}))
    spent = time.monotonic() - began
    _tell(f"\n{right} of {len(QUESTIONS)} questions answered with a call, in {spent:.1f} s. The gateway is stopped.")
    sys.exit(0 if right == len(QUESTIONS) else 1)


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _asked(address: str, question: str, *, quiet: bool) -> dict[str, object]:
    """One question to the gateway, as any OpenAI client would put it."""
    from toolglot.agent.agent import Agent  # noqa: PLC0415

    agent = Agent(
        "openai/smollm2",
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
def _gateway() -> Iterator[str]:
    """A gateway as a process of its own, as `toolglot serve` starts it; its address."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "toolglot.toml"
        config.write_text(CONFIG)
        command = [sys.executable, "-m", "toolglot.cli.main", "serve", "--config", str(config), "--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            try:
                line = process.stdout.readline() if process.stdout else ""
                if not line:
                    raise OSError(f"the gateway did not start (exit code {process.wait(_STARTS_WITHIN)})")
                yield msgspec.json.decode(line)["url"]
            finally:
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
