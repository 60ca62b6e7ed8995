"""`toolglot explain`: a recorded run step by step, or a request of a running gateway, with the reason for each decision."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any
from urllib.parse import quote

import click
import msgspec

from toolglot.agent.record import Entry, Record, RunStarted, as_json
from toolglot.agent.run_report import CallReport, RunReport, TurnReport, build_report
from toolglot.cli.streams import no_color
from toolglot.cli.terminal import colour, plain
from toolglot.core.reason_codes import SENTENCES
from toolglot.core.reply import Decision
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import JSON_ERRORS, decode, encode
from toolglot.renamed import REASON_CODES
from toolglot.schema.fixes import FIXES

EXAMPLES = """\b
Examples:
  toolglot explain runs.jsonl                       the latest run of a record
  toolglot explain run_5f0c... --record runs.jsonl  one run by its id; the file can also be set as TOOLGLOT_RECORD
  toolglot explain runs.jsonl --list                list the runs
  toolglot explain req_8a1f...                      a request of the gateway on this machine, by its x-request-id
  toolglot explain runs.jsonl --json | jq '.turns[].refused'

\b
Exit codes: 0 success, 1 failure, 2 usage error (or no such run).
"""
GATEWAY = "http://127.0.0.1:8484"
KEY = "TOOLGLOT_KEY"  # the variable with its API key
_LONG = 300
_NO_ACCESS = (401, 403)


@click.command("explain", epilog=EXAMPLES)
@click.argument("run", type=click.Path())
@click.option(
    "--record", metavar="FILE", type=click.Path(), envvar="TOOLGLOT_RECORD", help="The record with RUN, if RUN is an id."
)
@click.option(
    "--gateway", metavar="URL", default=GATEWAY, show_default=True, help="The gateway to ask, if RUN is a request id."
)
@click.option("--key-env", metavar="NAME", default=KEY, show_default=True, help="The variable with the gateway's API key.")
@click.option("--list", "only_list", is_flag=True, help="Only list the runs.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context, run: str, record: str | None, gateway: str, key_env: str, only_list: bool, in_json: bool
) -> None:
    """Show why each call of RUN was rescued, fixed or rejected, or why there was none.

    RUN is a record file (its latest run), the id of a run in a record (--record), or the id of a request to a running
    gateway. A gateway stores reason codes only, unless it is configured to record.
    """
    if no_color():
        ctx.color = False
    try:
        if record is None and not os.path.isfile(os.path.expanduser(run)) and not only_list:
            if run in REASON_CODES:
                raise CallerError(f"{run} is an old reason code; it is {REASON_CODES[run]} now", "RUN")
            request = _fetch_request(run, gateway, key_env)
            click.echo(_json(request) if in_json else "\n".join(_request_lines(request)))
            return
        source, run_id = _find(run, record)
        if only_list:
            reports = [build_report(entries) for entries in _by_run(source)]
            click.echo(_json([_head(report) for report in reports]) if in_json else "\n".join(map(_summary, reports)))
            return
        report = build_report(source.entries(run_id))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    click.echo(_json(report) if in_json else "\n".join(_lines(report)))


def _find(run: str, record: str | None) -> tuple[Record, str]:
    """The record and the run's id: the latest run if RUN is a file, else the one with this id or unique prefix."""
    if os.path.isfile(os.path.expanduser(run)):
        source = Record(run)
        runs = source.runs()
        if not runs:
            raise CallerError(f"{run} has no runs", "RUN")
        return source, runs[-1]
    if record is None:
        raise CallerError(f"{run} is not a file; if it is an id, name its record with --record", "RUN")
    source = Record(record)
    matches = [one for one in source.runs() if one == run] or [one for one in source.runs() if one.startswith(run)]
    if len(matches) != 1:
        raise CallerError(f"{record} has {'no run' if not matches else f'{len(matches)} runs'} {run}", "RUN")
    return source, matches[0]


def _by_run(record: Record) -> list[list[Entry]]:
    """The entries of each run. Reads the file once."""
    found: dict[str, list[Entry]] = {}
    for entry in record.entries():
        if isinstance(entry, RunStarted) or entry.run in found:
            found.setdefault(entry.run, []).append(entry)
    return list(found.values())


def _json(value: Any) -> bytes:
    return encode(msgspec.to_builtins(value, enc_hook=as_json))


def _head(report: RunReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in ("run", "at", "model", "question", "end", "why", "seconds")}


def _summary(report: RunReport) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(report.at))
    return f"{click.style(report.run, bold=True)}  {when}  {report.model}  {report.end}  {plain(report.question, 60)}"


# -- a recorded run


def _lines(report: RunReport) -> list[str]:
    lines = [_summary(report), f"  tools: {', '.join(report.tools) or 'none'}"]
    for turn in report.turns:
        lines += ["", *_turn(turn)]
    ok = report.end == "finished"
    end = click.style(report.end, fg="green" if ok else "red", bold=True)
    turns = "1 turn" if len(report.turns) == 1 else f"{len(report.turns)} turns"
    return [*lines, "", f"{end}: {plain(report.why)} ({turns}, {report.seconds:.1f} s)"]


def _turn(turn: TurnReport) -> list[str]:
    cost = f"{turn.seconds:.1f} s"
    if turn.usage is not None and turn.usage.input is not None:
        cost += f", {turn.usage.input} tokens in, {turn.usage.output or 0} out"
    lines = [click.style(f"turn {turn.number}", bold=True) + f"  {cost}"]
    if turn.text.strip():
        lines.append(f"  text: {plain(turn.text, _LONG)}")
    for report in turn.calls:
        lines += _call(report)
    for decision in turn.refused:
        lines.append(f"  {click.style('rejected', fg='red', bold=True)} {_decision(decision)}")
        if decision.call is not None and decision.call.raw.strip():
            lines.append(f"      as written: {plain(decision.call.raw, _LONG)}")
    if turn.why_none is not None:
        lines.append(f"  {click.style('no call', bold=True)}: {plain(turn.why_none, _LONG)}")
    lines += [f"  {_decision(decision)}" for decision in turn.others]
    lines += [click.style(f"  note: {plain(note, _LONG)}", fg="bright_black") for note in turn.notes]
    return lines


def _call(report: CallReport) -> list[str]:
    call = report.call
    source = "native tool call" if call.source == "native" else f"parsed from text, dialect {call.source}"
    name = click.style(plain(call.full_name), fg="green", bold=True)
    lines = [f"  {click.style('call', bold=True)} {name}({plain(call.arguments_json, _LONG)})  {source}"]
    lines += [f"      {_decision(decision)}" for decision in report.decisions]
    if call.fixes:
        lines.append(f"      as written: {plain(call.raw, _LONG)}")
    if not report.decisions:
        lines.append("      valid as written")
    if report.run is None:
        lines.append("      not run, or not finished")
    else:
        word = click.style("error", fg="red") if report.run.error is not None else "result"
        took = "from the cache" if report.run.cached else f"{report.run.seconds:.2f} s"
        lines.append(f"      {word}: {plain(report.run.result.text, _LONG)} ({took})")
    return lines


def _decision(decision: Decision) -> str:
    return f"{click.style(decision.code, fg=colour(decision.code))}  {plain(decision.message, _LONG)}"


# -- a request of a gateway, and a code


async def explain_request(request_id: str, gateway: str) -> str:
    """A request of a running gateway, without colours."""
    request = await _fetch(request_id, gateway, os.environ.get(KEY, ""))
    return click.unstyle("\n".join(_request_lines(request)))


def explain_code(code: str) -> str:
    """What a reason code means; empty for anything else."""
    return _sentence(code)


def _fetch_request(request_id: str, gateway: str, key_variable: str) -> dict[str, Any]:
    """The gateway's record of a request."""
    return asyncio.run(_fetch(request_id, gateway.rstrip("/"), os.environ.get(key_variable, "")))


async def _fetch(request_id: str, gateway: str, key: str) -> dict[str, Any]:
    from toolglot.client.http import HttpTransport  # noqa: PLC0415

    transport = HttpTransport()
    try:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        answer = await transport.send("GET", f"{gateway}/toolglot/decisions/{quote(request_id, safe='')}", headers)
        try:
            body = await answer.read()
        finally:
            await answer.aclose()
    except UpstreamError as error:
        why = f"{request_id} is not a file, and no gateway answers at {gateway} ({error.message}); a run's id needs --record"
        raise CallerError(why, "RUN") from None
    finally:
        await transport.aclose()
    if answer.status in _NO_ACCESS:
        raise CallerError(f"the gateway at {gateway} needs an API key: --key-env names its variable", "RUN")
    try:
        request = decode(body)
    except JSON_ERRORS:
        request = None
    if answer.status != 200 or not isinstance(request, dict):
        raise CallerError(f"{request_id} is neither a file nor a request that the gateway at {gateway} has on record", "RUN")
    return request


_OUTCOMES = {"passed": ("green", "valid as written"), "fixed": ("cyan", "repaired"), "refused": ("red", "rejected")}


def _request_call(call: dict[str, Any]) -> list[str]:
    shade, outcome = _OUTCOMES.get(call.get("outcome", ""), ("red", str(call.get("outcome"))))
    name = click.style(plain(call.get("tool") or "a call"), fg=shade, bold=True)
    dialect = call.get("dialect")
    source = "native tool call" if dialect == "native" else f"parsed from the model's text, dialect {dialect}"
    code = call.get("code", "")
    why = f" ({code}): {_sentence(code)}" if code else ""
    lines = [f"  {name}  {source}; {outcome}{why}"]
    return [*lines, f"      as written: {plain(call['written'], _LONG)}"] if call.get("written") else lines


def _sentence(code: str) -> str:
    return FIXES[code].sentence if code in FIXES else SENTENCES.get(code, "")


def _why_no_call(request: dict[str, Any]) -> str:
    if request.get("code") or request.get("status", 200) >= 400:
        return "the request failed"
    if not request.get("tool_mode"):
        return "the request had no tools, or the model was never asked"
    codes = {one["code"] for one in request.get("decisions", [])}
    if codes & {"quoted", "quoted_input", "in_reasoning"}:
        return "what looks like one is not meant as one"
    return "the model answered with text, and nothing in it looks like a call"


def _request_lines(request: dict[str, Any]) -> list[str]:
    """The text output."""
    mode = f"mode {request['tool_mode']}" if request.get("tool_mode") else "without tools"
    lines = [
        f"{click.style(str(request.get('id', '')), bold=True)}  {request.get('model', '')} -> "
        f"{request.get('upstream', '')}/{request.get('target', '')}  "
        f"{request.get('wire', '')} -> {request.get('upstream_wire', '')}",
        f"  {mode}; status {request.get('status')}, {request.get('seconds', 0):.2f} s",
    ]
    lines += [f"  earlier attempt: {plain(one, _LONG)}" for one in request.get("tried", [])]
    if request.get("code") or request.get("error"):
        parts = [part for part in (request.get("code"), plain(request.get("error", ""), _LONG)) if part]
        lines.append(f"  {click.style('failed', fg='red', bold=True)}: {': '.join(parts)}")
    calls = request.get("calls", [])
    for call in calls:
        lines += _request_call(call)
    if not calls:
        lines.append(f"  no call: {_why_no_call(request)}")
    explained = {call.get("code") for call in calls}
    for one in request.get("decisions", []):
        if one.get("message") or one["code"] not in explained:
            text = plain(one.get("message") or _sentence(one["code"]), _LONG)
            lines.append(f"  {click.style(one['code'], fg=colour(one['code']))}  {text}".rstrip())
    lines += [click.style(f"  note: {plain(note, _LONG)}", fg="bright_black") for note in request.get("notes", [])]
    return lines
