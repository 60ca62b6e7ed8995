"""Which vectors an adapter passes. Each function asks what a vector needs and says what is wrong, or None."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from conformance.adapter import Adapter, UnsupportedError
from conformance.facts import HISTORY, WIRES, expected, facts
from conformance.vectors import Row, vectors

Wrong = str | None
Verdict = tuple[str, Wrong]  # what was tried, and what is wrong


def extracted(adapter: Adapter, row: Row, dialect: str, cut: int | None = None) -> Row:
    given = {key: row[key] for key in ("policy", "starts_in_reasoning") if key in row}
    return adapter.ask(
        "extract", text=row["reply"], tools=row["tools"], messages=row.get("messages", []), dialect=dialect, cut=cut, **given
    )


def is_same(found: Any, wanted: Any) -> bool:
    """Equal as JSON: numbers by value, true is not 1."""
    if isinstance(wanted, bool) or isinstance(found, bool) or type(found) is not type(wanted):
        return found is wanted or (_is_number(found) and _is_number(wanted) and found == wanted)
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(is_same(found[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(is_same, found, wanted))
    return bool(found == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differs(answer: Row, row: Row) -> Wrong:
    """In the calls, the text that is left or the reasoning; the last two only where the vector and the answer have them."""
    found = [{"name": call["name"], "arguments": call["arguments"]} for call in answer.get("calls", ())]
    wanted = row["expect"]["calls"]
    if "error" not in answer and (is_same(found, wanted) or (row["expect"].get("or_none") and found == [])):
        return _words_differ(answer, row["expect"])
    return answer.get("error") or f"calls {json.dumps(found)[:300]} instead of {json.dumps(wanted)[:300]}"


def _words_differ(answer: Row, expect: Row) -> Wrong:
    """White space apart; the reasoning may go on."""
    for key in ("text", "reasoning"):
        wanted = expect.get(key, "").split()
        found = str(answer.get(key, expect.get(key, ""))).split()
        if key in expect and (found if key == "text" else found[: len(wanted)]) != wanted:
            return f"{key} {answer[key]!r:.300} instead of {expect[key]!r:.300}"
    return None


def judge_text(adapter: Adapter, group: str, *, auto: bool, cuts: tuple[int, ...]) -> Iterator[Verdict]:
    """Calls in a reply: whole, and in pieces, which must give what the whole gives."""
    for row in vectors(group):
        dialect = "auto" if auto else row.get("dialect", "auto")
        try:
            whole = extracted(adapter, row, dialect)
            wrong = differs(whole, row)
            for cut in cuts if wrong is None else ():
                pieces = extracted(adapter, row, dialect, cut)
                if pieces.get("calls") != whole["calls"] or pieces.get("text") != whole.get("text"):
                    wrong = f"in pieces of {cut}: {json.dumps(pieces)[:300]}"
                    break
        except UnsupportedError:
            continue
        yield row["id"], wrong


def judge_arguments(adapter: Adapter) -> Iterator[Verdict]:
    for row in vectors("arguments"):
        try:
            answer = adapter.ask("arguments", text=row["text"], schema=row.get("schema"))
        except UnsupportedError:
            continue
        if "error" in row["expect"]:
            yield row["id"], None if "error" in answer else f"{answer} instead of an error"
        else:
            wanted = row["expect"]["arguments"]
            is_right = is_same(answer.get("arguments"), wanted)
            yield row["id"], None if is_right else f"{json.dumps(answer)[:300]} instead of {json.dumps(wanted)[:300]}"


def judge_wires(adapter: Adapter, cuts: tuple[int, ...]) -> Iterator[Verdict]:
    """Every conversation from every API to every other."""
    rows = {(row["case"], row["kind"], row["wire"]): row for row in vectors("wires")}
    known = {key: facts(key[2], key[1], row["body"]) for key, row in rows.items()}
    for (case, kind, source), row in rows.items():
        for target in WIRES:
            if target == source:
                continue
            wanted = expected(known[case, kind, source], known[case, kind, target])
            for cut in (None, *cuts) if kind == "stream" else (None,):
                given = {"kind": kind, "source": source, "target": target, "body": row["body"], "cut": cut}
                try:
                    answer = adapter.ask("convert", **given)
                except UnsupportedError:
                    break
                wrong = _facts_differ(answer, target, kind, wanted)
                if wrong or cut is None:
                    yield f"{case}/{kind}/{source} to {target}" + (f"/{cut}" if cut else ""), wrong


def _facts_differ(answer: Row, target: str, kind: str, wanted: Row) -> Wrong:
    if "error" in answer:
        return str(answer["error"])
    try:
        found = facts(target, kind, answer["body"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        return f"not a {kind} of this API: {error!r}"
    differ = [key for key, value in wanted.items() if not is_same(_json(found[key]), _json(value))]
    return "; ".join(f"{key}: {found[key]!r:.200} instead of {wanted[key]!r:.200}" for key in differ) or None


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def judge_prefix(adapter: Adapter) -> Iterator[Verdict]:
    """What is sent for a turn begins what is sent for the next: the server's cache of the prompt stays valid."""
    for row in vectors("prefix"):
        for target in WIRES:
            try:
                given = {"kind": "request", "source": row["wire"], "target": target}
                bodies = [adapter.ask("convert", body=body, **given) for body in row["turns"]]
            except UnsupportedError:
                continue
            yield f"{row['id']} to {target}", _prefix_differs(bodies, HISTORY[target])


def _prefix_differs(answers: list[Row], key: str) -> Wrong:
    for answer in answers:
        if "error" in answer:
            return str(answer["error"])
    first, second = (answer["body"] for answer in answers)
    earlier, later = first.pop(key), second.pop(key)
    if first != second:
        return "what stands beside the messages is not the same"
    return None if later[: len(earlier)] == earlier else f"messages begin with {later[: len(earlier)]!r:.300}"


def judge(adapter: Adapter, group: str, *, auto: bool = False, cuts: tuple[int, ...] = ()) -> Iterator[Verdict]:
    """The verdicts on one group of vectors. What the adapter does not support is left out."""
    others: dict[str, Callable[[], Iterator[Verdict]]] = {
        "arguments": lambda: judge_arguments(adapter),
        "wires": lambda: judge_wires(adapter, cuts),
        "prefix": lambda: judge_prefix(adapter),
    }
    return others[group]() if group in others else judge_text(adapter, group, auto=auto, cuts=cuts)
