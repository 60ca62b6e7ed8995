"""`toolglot explain`: a recorded run, step by step, or a request of the running gateway, and why."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click
import msgspec

from toolglot.agent.record import Begun, Entry, Record, as_json
from toolglot.agent.story import CallStory, Story, Turn, tell
from toolglot.cli.asking_view import colour, plain
from toolglot.cli.explain_request import GATEWAY, fetched, lines
from toolglot.cli.streams import uncoloured
from toolglot.core.reply import Decision
from toolglot.errors import CallerError
from toolglot.text.json_text import encode

EXAMPLES = """\b
Examples:
  toolglot explain runs.jsonl                       the latest run of a record
  toolglot explain run_5f0c... --record runs.jsonl  one of them; TOOLGLOT_RECORD names the file too
  toolglot explain runs.jsonl --list                the runs that there are
  toolglot explain req_8a1f...                      a request of the gateway on this machine, by its x-request-id
  toolglot explain runs.jsonl --json | jq '.turns[].refused'

\b
Exit codes: 0 told, 2 wrong use, or no such run.
"""
_LONG = 300


@click.command("explain", epilog=EXAMPLES)
@click.argument("run", type=click.Path())  # most often a file
@click.option(
    "--record", metavar="FILE", type=click.Path(), envvar="TOOLGLOT_RECORD", help="Where RUN is kept, if RUN is an id."
)
@click.option(
    "--gateway", metavar="URL", default=GATEWAY, show_default=True, help="Where RUN is asked for, if it is a request's id."
)
@click.option(
    "--key-env", metavar="NAME", default="TOOLGLOT_KEY", show_default=True, help="The variable with the gateway's key."
)
@click.option("--list", "only_list", is_flag=True, help="Only list the runs.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context, run: str, record: str | None, gateway: str, key_env: str, only_list: bool, in_json: bool
) -> None:
    """Say of RUN why each call was rescued, fixed or refused, and why none was made.

    RUN is a file that was recorded to, the id of a run in it (--record), or the id of a request that a running gateway has
    answered. A gateway keeps codes only, unless it was told to record.
    """
    if uncoloured():
        ctx.color = False
    try:
        if record is None and not os.path.isfile(os.path.expanduser(run)) and not only_list:
            held = fetched(run, gateway, key_env)
            click.echo(_json(held) if in_json else "\n".join(lines(held)))
            return
        kept, wanted = _found(run, record)
        if only_list:
            stories = [tell(entries) for entries in _by_run(kept)]
            click.echo(_json([_head(story) for story in stories]) if in_json else "\n".join(map(_summary, stories)))
            return
        story = tell(kept.entries(wanted))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    click.echo(_json(story) if in_json else "\n".join(_lines(story)))


def _found(run: str, record: str | None) -> tuple[Record, str]:
    """The record and the run's id: the latest, where RUN is a file; else that of this id, or the only one that begins so."""
    if os.path.isfile(os.path.expanduser(run)):
        kept = Record(run)
        runs = kept.runs()
        if not runs:
            raise CallerError(f"{run} holds no runs", "RUN")
        return kept, runs[-1]
    if record is None:
        raise CallerError(f"{run} is no file; if it is an id, --record says where it is kept", "RUN")
    kept = Record(record)
    same = [one for one in kept.runs() if one == run] or [one for one in kept.runs() if one.startswith(run)]
    if len(same) != 1:
        raise CallerError(f"{record} holds {'no run' if not same else f'{len(same)} runs'} {run}", "RUN")
    return kept, same[0]


def _by_run(kept: Record) -> list[list[Entry]]:
    """The file is read once, however many runs it holds."""
    found: dict[str, list[Entry]] = {}
    for entry in kept.entries():
        if isinstance(entry, Begun) or entry.run in found:
            found.setdefault(entry.run, []).append(entry)
    return list(found.values())


def _json(value: Any) -> bytes:
    return encode(msgspec.to_builtins(value, enc_hook=as_json))


def _head(story: Story) -> dict[str, Any]:
    return {name: getattr(story, name) for name in ("run", "at", "model", "question", "end", "why", "seconds")}


def _summary(story: Story) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(story.at))
    return f"{click.style(story.run, bold=True)}  {when}  {story.model}  {story.end}  {plain(story.question, 60)}"


# -- for people


def _lines(story: Story) -> list[str]:
    lines = [_summary(story), f"  tools: {', '.join(story.tools) or 'none'}"]
    for turn in story.turns:
        lines += ["", *_turn(turn)]
    ok = story.end == "finished"
    end = click.style(story.end, fg="green" if ok else "red", bold=True)
    turns = "1 turn" if len(story.turns) == 1 else f"{len(story.turns)} turns"
    return [*lines, "", f"{end}: {plain(story.why)} ({turns}, {story.seconds:.1f} s)"]


def _turn(turn: Turn) -> list[str]:
    spent = f"{turn.seconds:.1f} s"
    if turn.usage is not None and turn.usage.input is not None:
        spent += f", {turn.usage.input} tokens in, {turn.usage.output or 0} out"
    lines = [click.style(f"turn {turn.number}", bold=True) + f"  {spent}"]
    if turn.text.strip():
        lines.append(f"  said: {plain(turn.text, _LONG)}")
    for story in turn.calls:
        lines += _call(story)
    for held in turn.refused:
        lines.append(f"  {click.style('refused', fg='red', bold=True)} {_decision(held)}")
        if held.call is not None and held.call.raw.strip():
            lines.append(f"      as written: {plain(held.call.raw, _LONG)}")
    if turn.why_none is not None:
        lines.append(f"  {click.style('no call', bold=True)}: {plain(turn.why_none, _LONG)}")
    lines += [f"  {_decision(held)}" for held in turn.others]
    lines += [click.style(f"  note: {plain(note, _LONG)}", fg="bright_black") for note in turn.notes]
    return lines


def _call(story: CallStory) -> list[str]:
    call = story.call
    way = "as the provider's own call" if call.source == "native" else f"read out of the text, in the form {call.source}"
    name = click.style(plain(call.full_name), fg="green", bold=True)
    lines = [f"  {click.style('call', bold=True)} {name}({plain(call.arguments_json, _LONG)})  {way}"]
    lines += [f"      {_decision(held)}" for held in story.decisions]
    if call.fixes:
        lines.append(f"      as written: {plain(call.raw, _LONG)}")
    if not story.decisions:
        lines.append("      it satisfied its schema as it was")
    if story.run is None:
        lines.append("      it was not run, or not to its end")
    else:
        word = click.style("error", fg="red") if story.run.error is not None else "result"
        took = "from the cache" if story.run.cached else f"{story.run.seconds:.2f} s"
        lines.append(f"      {word}: {plain(story.run.result.text, _LONG)} ({took})")
    return lines


def _decision(held: Decision) -> str:
    return f"{click.style(held.code, fg=colour(held.code))}  {plain(held.message, _LONG)}"
