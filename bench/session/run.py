"""What each turn of a growing conversation costs: a coding agent's session of 100 turns, 500 KB at the end.

    python bench/session/run.py                # the gateway, and the floor of bench/gateway, in turn
    python bench/session/run.py --sessions 3   # fewer: rough figures
    python bench/session/run.py --write        # also the table of docs/reference/gateway-speed.md

The agent sends its whole history with every turn, as Claude Code does: each turn adds an answer with a call, and the call's
result, a piece of this package's source. CPU is that of the server process in all its threads, by the scheduler's own count in
nanoseconds. Every session has other texts, so that no server knows a message before the turn that brings it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "gateway"))  # it knows where the other benches are

import figures
import replies
import servers
from servers import OUT, Server

import payloads
from toolglot.speed import as_chat

TURNS = 100
RESULT = 4900  # characters of a tool result
PAIRS = ((replies.CHAT, replies.TO_CHAT), (replies.CHAT, replies.TO_ANTHROPIC), (replies.ANTHROPIC, replies.TO_CHAT))
GROUPS = ((1, 10), (11, 25), (26, 50), (51, 75), (76, 100))  # turns that are averaged

Body = dict[str, Any]


def source() -> str:
    """Real text with everything that source code has: quotes, brackets, line breaks."""
    folder = servers.ROOT / "src" / "toolglot"
    return "".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py")))[: 2 * TURNS * RESULT]


def turn(wire: str, tag: str, at: int, result: str) -> list[Body]:
    """The messages that the turn adds."""
    call_id, text, arguments = f"call_{tag}_{at}", f"Now the next part, {tag}.", {"path": f"src/{tag}.py", "start": at}
    if wire == replies.CHAT:
        function = {"name": "read_file", "arguments": as_chat.compact(arguments)}
        call = {"id": call_id, "type": "function", "function": function}
        answer: Body = {"role": "assistant", "content": text, "tool_calls": [call]}
        return [answer, {"role": "tool", "tool_call_id": call_id, "content": result}]
    blocks = [{"type": "text", "text": text}, {"type": "tool_use", "id": call_id, "name": "read_file", "input": arguments}]
    given = [{"type": "tool_result", "tool_use_id": call_id, "content": result}]
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": given}]


def bodies(wire: str, model: str, tag: str, text: str) -> list[bytes]:
    """The session's requests, one a turn."""
    body = json.loads(as_chat.chat_request() if wire == replies.CHAT else payloads.anthropic_request())
    body["model"] = model
    body["messages"] = [one for one in body["messages"] if one["role"] == "system"]
    body["messages"].append({"role": "user", "content": f"Session {tag}: read the whole package and say what it does."})
    found = []
    for at in range(TURNS):
        body["messages"] += turn(wire, tag, at, f"{tag}:{at}\n{text[at * RESULT : (at + 1) * RESULT]}")
        found.append(as_chat.compact(body).encode())
    return found


def cpu(server: Server) -> float:
    """Seconds, of all threads that live."""
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9


def session(server: Server, wire: str, model: str, tag: str, text: str) -> list[float]:
    """Microseconds of CPU for each turn."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    costs = []
    for body in bodies(wire, model, tag, text):
        before = cpu(server)
        connection.request("POST", replies.PATHS[wire], body, {"content-type": "application/json"})
        response = connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise RuntimeError(data[:500].decode(errors="replace"))
        costs.append((cpu(server) - before) * 1e6)
    connection.close()
    return costs


def measured(sessions: int) -> dict[str, list[float]]:
    """For each server and pair of wires, the least that each turn took."""
    text = source()
    rows: dict[str, list[list[float]]] = {}
    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.upstream_files(OUT), None, 0)
        floor, ours = servers.floor(stack, behind, None), servers.toolglot(stack, behind, None)
        for number in range(sessions + 1):  # the first warms up
            for server, pairs in ((floor, PAIRS[:1]), (ours, PAIRS)):
                for at, (wire, model) in enumerate(pairs):
                    costs = session(server, wire, model, os.urandom(4).hex(), text[(7 * number + at) * 1000 :])
                    if number:
                        rows.setdefault(f"{server.name} {wire} > {model}", []).append(costs)
        print(f"memory of toolglot at the end: {ours.memory():.0f} MB")
    return {name: [min(each) for each in zip(*runs, strict=True)] for name, runs in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=5, help="sessions of each kind; of each turn, the least counts")
    parser.add_argument("--write", action="store_true", help="the table, into the docs")
    asked = parser.parse_args()
    rows = measured(asked.sessions)
    lines = [
        "| CPU us a turn |" + "".join(f" {first} to {last} |" for first, last in GROUPS),
        "| --- |" + " --: |" * len(GROUPS),
    ]
    floor = next(iter(rows.values()))
    for name, turns in rows.items():
        means = [(statistics.fmean(turns[a - 1 : b]), statistics.fmean(floor[a - 1 : b])) for a, b in GROUPS]
        lines.append(f"| {name} |" + "".join(f" {mean:,.0f} ({mean / least:.2f}x) |" for mean, least in means))
    print("\n".join(lines))
    if asked.write:
        figures.put("session", "\n".join(lines))


if __name__ == "__main__":
    main()
