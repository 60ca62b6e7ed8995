"""Check the vectors themselves: shape, ids, schemas, splits, and that planted calls stand in the tool results.

python conformance/validate.py
"""

import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

Row = dict[str, Any]
FILES = {"quoted_input.jsonl": "quoted", "real_calls.jsonl": "call", "traps.jsonl": "trap", "plain_calls.jsonl": "call"}
KEYS = {"id", "kind", "form", "lang", "source", "scene", "split", "tools", "messages", "reply", "expect", "note"}
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def unescape_once(text: str) -> str:
    """The text with one level of JSON and HTML escapes undone."""
    plain = ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
    return html.unescape(plain)


def spellings(text: str) -> str:
    """The text, and what it becomes when escapes are undone up to three times, one after the other."""
    found = [text]
    for _ in range(3):
        found.append(unescape_once(found[-1]))
    return "\n".join(found)


def scalars(value: Any) -> Iterator[Any]:
    """Every scalar in the arguments."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from scalars(inner)
    else:
        yield value


def contains(text: str, call: Row) -> bool:
    """Whether the text has the tool's name and every argument value, in some spelling."""
    every = spellings(text)
    numbers = {float(n) for n in NUMBER.findall(every)}

    def there(value: Any) -> bool:
        if isinstance(value, bool):
            return str(value).lower() in every.lower()
        return float(value) in numbers if isinstance(value, int | float) else value in every

    return call["name"] in every and all(there(v) for v in scalars(call["arguments"]))


def results_text(row: Row) -> str:
    """What the tools returned, as one text."""
    contents = [m["content"] for m in row["messages"] if m["role"] == "tool"]
    return "\n".join(c if isinstance(c, str) else "\n".join(p["text"] for p in c) for c in contents)


def problems(row: Row, kind: str) -> Iterator[str]:
    """What is wrong with one row."""
    if missing := KEYS - row.keys():
        yield f"missing {sorted(missing)}"
        return
    if row["kind"] != kind or row["split"] not in {"dev", "test"}:
        yield "wrong kind or split"
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in row["tools"]}
    calls, planted = row["expect"]["calls"], row.get("planted", [])
    if bool(calls) != (kind == "call"):
        yield "calls do not match the kind"
    for call in calls + planted:
        if call["name"] not in schemas:
            yield f"unknown tool {call['name']}"
        elif not jsonschema_rs.is_valid(schemas[call["name"]], call["arguments"]):
            yield f"arguments of {call['name']} do not satisfy the schema"
    yield from (f"expected call {c['name']} is the planted one" for c in calls if c in planted)
    yield from (f"planted call {c['name']} is not in a tool result" for c in planted if not contains(results_text(row), c))
    must_be_in_reply = planted if kind == "quoted" else calls
    yield from (f"{c['name']} is not in the reply" for c in must_be_in_reply if not contains(row["reply"], c))


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def shape_problems(folder: Path) -> Iterator[str]:
    """Rows that schema.json does not describe, and ids that occur twice in a file."""
    schema = jsonschema_rs.validator_for(json.loads((folder / "schema.json").read_text(encoding="utf-8")))
    for path in sorted((folder / "vectors").glob("*.jsonl")):
        rows = read(path)
        yield from (f"{path.name}: {row.get('id')} is not as schema.json says" for row in rows if not schema.is_valid(row))
        yield from (
            f"{path.name}: {one} occurs twice" for one, count in Counter(row["id"] for row in rows).items() if count > 1
        )


def check(folder: Path) -> int:
    """Print the counts and every problem; return the number of problems."""
    splits: dict[str, set[str]] = {}
    bad = 0
    for problem in shape_problems(folder):
        bad += 1
        sys.stdout.write(f"{problem}\n")
    for name, kind in FILES.items():
        rows = read(folder / "vectors" / name)
        for row in rows:
            splits.setdefault(row["scene"], set()).add(row["split"])
            for problem in problems(row, kind):
                bad += 1
                sys.stdout.write(f"{row['id']}: {problem}\n")
        counts = {key: dict(Counter(r[key] for r in rows).most_common()) for key in ("split", "lang", "source", "form")}
        sys.stdout.write(f"{name}: {len(rows)} rows, {len({r['scene'] for r in rows})} scenes\n")
        sys.stdout.writelines(f"  {key}: {value}\n" for key, value in counts.items())
    bad += sum(len(s) > 1 for s in splits.values())
    sys.stdout.write(f"{bad} problems\n")
    return bad


if __name__ == "__main__":
    sys.exit(check(Path(__file__).parent) > 0)
