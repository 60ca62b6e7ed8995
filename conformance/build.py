"""Write the vectors that come from the fixtures of this repository, which stay their one source.

    python -m conformance.build           # writes vectors/{text,values,wires,prefix}.jsonl
    python -m conformance.build --check   # exit code 1 if they are not what is written

A value of `values` stands in a call as toolglot renders it; the fixtures show that these renderings are what models write.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from conformance.facts import HISTORY, WIRES
from conformance.vectors import Row, save, vectors

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
_SHARE = 8  # of the hard values, one in so many for each dialect; over all dialects each occurs
_LONGEST = 400  # characters of a hard value


def chat_tools(tools: list[Row]) -> list[Row]:
    """Tools in OpenAI Chat's form."""
    return [
        {"type": "function", "function": {"name": one["name"], **_described(one), "parameters": one["schema"]}} for one in tools
    ]


def _described(tool: Row) -> Row:
    return {"description": tool["description"]} if tool.get("description") else {}


def text_rows() -> Iterator[Row]:
    """Every case of every dialect."""
    folder = FIXTURES / "dialects"
    shared = json.loads((folder / "tools.json").read_text(encoding="utf-8"))
    for path in sorted(folder.glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            tools = case.get("tools", shared)
            calls = [{"name": one["name"], "arguments": _value(one["arguments"])} for one in case.get("calls", [])]
            row = {"id": f"{path.stem}/{case['name']}", "kind": case["kind"], "dialect": path.stem}
            row |= {key: case[key] for key in ("policy", "starts_in_reasoning") if key in case}
            row |= {"tools": chat_tools(_value(tools)), "reply": case["text"], "expect": {"calls": calls}}
            named = {"content": "text", "reasoning": "reasoning"}
            row["expect"] |= {named[key]: case[key] for key in named if key in case}
            yield row


def _value(given: Any) -> Any:
    return json.loads(given) if isinstance(given, str) else given


def value_rows() -> Iterator[Row]:
    """Hard values in each dialect: exactly this call, or none at all."""
    from toolglot.dialects import dialect_names  # noqa: PLC0415
    from toolglot.evaluation.hard_values import PLAIN, TOOLS, call, markup, rendered  # noqa: PLC0415

    tools = chat_tools([{"name": one.name, "description": one.description, "schema": one.schema} for one in TOOLS])
    for dialect in dialect_names():
        for name, value in (PLAIN | markup()).items():
            made = f"{dialect}/{name}"
            if len(value) > _LONGEST or int(sha256(made.encode()).hexdigest(), 16) % _SHARE:
                continue
            written = call(value, "last")
            wanted = {"name": written.name, "arguments": written.arguments}
            row = {"id": made, "kind": "value", "dialect": dialect, "tools": tools, "reply": rendered(dialect, written)}
            yield row | {"expect": {"calls": [wanted], "or_none": True}}


def wire_rows() -> Iterator[Row]:
    """Each conversation in each API: its request, its response, and the response as a stream."""
    for case in sorted(path for path in (FIXTURES / "conversations").iterdir() if path.is_dir()):
        for wire in WIRES:
            for kind, file in (("request", "request.json"), ("response", "reply.json"), ("stream", "stream")):
                data = (case / f"{wire}.{file}").read_bytes().decode()
                body = data if kind == "stream" else json.loads(data)
                yield {"id": f"{case.name}/{wire}/{kind}", "kind": kind, "case": case.name, "wire": wire, "body": body}


def prefix_rows() -> Iterator[Row]:
    """A request, and the one with the turns that follow: what is sent for the first begins what is sent for the second."""
    for row in vectors("wires"):
        if row["kind"] != "request":
            continue
        key = HISTORY[row["wire"]]
        history = row["body"][key]
        ends = [at for at, one in enumerate(history, 1) if isinstance(one, dict) and one.get("role") == "user"]
        if isinstance(history, list) and ends and ends[0] < len(history):
            turns = [row["body"] | {key: history[: ends[0]]}, row["body"]]
            yield {"id": f"{row['case']}/{row['wire']}", "kind": "prefix", "wire": row["wire"], "turns": turns}


BUILT = {"text": text_rows, "values": value_rows, "wires": wire_rows, "prefix": prefix_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for group, rows in BUILT.items():
        if check:
            stale += [group] if json.loads(json.dumps(list(rows()))) != list(vectors(group)) else []
        else:
            save(group, rows())
    if stale:
        sys.exit(f"not as the fixtures are: {', '.join(stale)}; run python -m conformance.build")


if __name__ == "__main__":
    main()
