"""Schemas and arguments that cost time or memory, and schemas that could let a call pass unchecked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from target import CHAT, Answer, Gateway, chat, send

RIGHT = "right"
Schema = dict[str, Any]


async def _call(gateway: Gateway, schema: Schema, arguments: Any, *, words: str | None = None, count: int = 1) -> Answer:
    """The model calls `f` with these arguments, natively or in its text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    calls = [{"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": text}} for at in range(count)]
    message: dict[str, Any] = {"role": "assistant", "content": words, **({"tool_calls": calls} if words is None else {})}
    finish = "tool_calls" if words is None else "stop"
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()

    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 200, body)

    gateway.upstream.reply = reply
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": schema}},
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}},
    ]
    return await gateway.ask("POST", CHAT, chat(tools=tools))


def _rejected(answer: Answer, *codes: str) -> str:
    if answer.status != 200:
        return f"status {answer.status}: {answer.body[:200]!r}"
    if answer.json["choices"][0]["message"].get("tool_calls"):
        return "the call passed"
    given = answer.headers.get("x-toolglot-decisions", "")
    return RIGHT if any(code in given for code in codes) else f"the decisions are {given!r}"


def _object(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


def _nested(depth: int, bottom: Any) -> Any:
    for _ in range(depth):
        bottom = {"a": bottom}
    return bottom


async def nested_unions(gateway: Gateway) -> str:
    branch = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"]}
    node = {"anyOf": [branch, {**branch, "required": ["a", "b"]}, {"type": "string"}]}
    schema = {**_object(v={"$ref": "#/$defs/n"}), "$defs": {"n": node}}
    return _rejected(await _call(gateway, schema, {"v": _nested(48, [3, 4])}), "rejected_schema", "rejected_limit")


async def mutual_unions(gateway: Gateway) -> str:
    definitions = {
        f"d{at}": {
            "allOf": [{"$ref": f"#/$defs/d{other}"} for other in range(at + 1, 12)]
            + [{"properties": {"a": {"$ref": f"#/$defs/d{other}"}}} for other in range(12)]
        }
        for at in range(12)
    }
    schema = {**_object(v={"$ref": "#/$defs/d0"}), "required": ["w"], "$defs": definitions}
    return _rejected(await _call(gateway, schema, {"v": _nested(20, 3)}), "rejected_schema", "rejected_limit")


async def shared_definitions(gateway: Gateway) -> str:
    links: Schema = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(60)}
    schema = {**_object(v={"$ref": "#/$defs/d0"}), "$defs": {**links, "d60": {"type": "string"}}}
    return _rejected(await _call(gateway, schema, {"v": [3, 4]}), "rejected_schema", "rejected_limit")


async def long_all_of(gateway: Gateway) -> str:
    schema = {"type": "object", "allOf": [_object(**{f"k{at}": {"type": "string"}}) for at in range(8000)]}
    return _rejected(await _call(gateway, schema, {"k1": {}}), "rejected_schema", "rejected_unsupported_keyword")


async def large_patterns(gateway: Gateway) -> str:
    """Each would take 14 ms to compile."""
    schema = _object(**{f"k{at}": {"type": "string", "pattern": rf"^[\p{{L}}\p{{N}}_]{{1,{at + 30}}}$"} for at in range(500)})
    return _rejected(await _call(gateway, schema, {"k1": "?"}), "rejected_unsupported_keyword")


async def largest_schema(gateway: Gateway) -> str:
    """64,000 branches."""
    schema = {"type": "object", "allOf": [_object(**{f"k{at}": {"type": "string"}}) for at in range(64_000)]}
    return _rejected(await _call(gateway, schema, {"k1": {}}), "rejected_unsupported_keyword")


async def floats_for_strings(gateway: Gateway) -> str:
    schema = _object(v={"type": "array", "items": {"type": "string"}}, w={"type": "integer"})
    arguments = {"v": [at + 0.5 for at in range(20_000)], "w": "x"}
    return _rejected(await _call(gateway, schema, arguments), "rejected_schema", "rejected_limit")


async def many_choices(gateway: Gateway) -> str:
    words = [f"Choice_{at}" for at in range(8000)]
    schema = _object(v={"type": "array", "items": {"enum": words}}, w={"type": "integer"})
    return _rejected(
        await _call(gateway, schema, {"v": [word.lower() for word in words], "w": "x"}), "rejected_schema", "rejected_limit"
    )


async def many_keys(gateway: Gateway) -> str:
    schema = {**_object(**{f"some_key_{at}": {"type": "string"} for at in range(8000)}), "required": ["other"]}
    arguments = {f"Some-Key-{at}": "x" for at in range(8000)}
    return _rejected(await _call(gateway, schema, arguments), "rejected_schema", "rejected_limit")


async def many_costly_calls(gateway: Gateway) -> str:
    either = {"anyOf": [{"type": "integer", "minimum": 10}, {"type": "boolean"}]}
    schema = _object(v={"type": "array", "items": either})
    return _rejected(await _call(gateway, schema, {"v": ["5"] * 3000}, count=100), "rejected_limit")


async def megabytes_of_values(gateway: Gateway) -> str:
    schema = _object(v={"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, w={"type": "integer"})
    arguments = '{"w":"x","v":[[' + "1," * 900_000 + "1]]}"
    return _rejected(await _call(gateway, schema, arguments), "rejected_schema", "rejected_limit")


async def backtracking_pattern(gateway: Gateway) -> str:
    schema = _object(v={"type": "array", "items": {"type": "string", "pattern": "^((a+)(?=a*))+[^a]$"}})
    answer = await _call(gateway, schema, {"v": ["a" * 200] * 2000})
    return _rejected(answer, "rejected_schema", "rejected_limit")


async def costly_text_call(gateway: Gateway) -> str:
    """The same in the text, where the scanner finds it."""
    either = {"anyOf": [{"type": "integer", "minimum": 10}, {"type": "boolean"}]}
    schema = _object(v={"type": "array", "items": either})
    call = json.dumps({"name": "f", "arguments": {"v": ["5"] * 60_000}})
    answer = await _call(gateway, schema, {}, words=f"<tool_call>{call}</tool_call>")
    return _rejected(answer, "rejected_schema", "rejected_limit")


async def python_end_of_text(gateway: Gateway) -> str:
    schema = _object(path={"type": "string", "pattern": r"^[a-z]+\.txt\Z"})
    if (outcome := _rejected(await _call(gateway, schema, {"path": "../../etc/passwd"}), "rejected_schema")) != RIGHT:
        return outcome
    good = await _call(gateway, schema, {"path": "notes.txt"})
    return RIGHT if good.json["choices"][0]["message"].get("tool_calls") else "a valid path is rejected"


async def keywords_that_do_not_compile(gateway: Gateway) -> str:
    for part in ({"pattern": "("}, {"pattern": r"^(?>a)$"}, {"$ref": "#/nowhere"}, {"type": "polygon"}, {"enum": "a"}):
        outcome = _rejected(await _call(gateway, _object(v=part), {"v": "x"}), "rejected_unsupported_keyword")
        if outcome != RIGHT:
            return f"{part}: {outcome}"
    return RIGHT


async def old_tuples(gateway: Gateway) -> str:
    schema = _object(v={"type": "array", "items": [{"type": "integer"}, {"type": "integer"}], "additionalItems": False})
    return _rejected(await _call(gateway, schema, {"v": [1, {"x": 1}, 3]}), "rejected_schema")


async def strict_schemas(gateway: Gateway) -> str:
    async with gateway.another('schemas = "strict"') as strict:
        status = (await _call(strict, _object(v={"pattern": "("}), {"v": "x"})).status
    return RIGHT if status == 400 else f"status {status}"


async def many_schemas(gateway: Gateway) -> str:
    """400 different schemas of 50 KB: after the first 200 the caches are full."""
    before = 0
    for at in range(400):
        schema = _object(**{f"k{at}_{number}": {"type": "string"} for number in range(1500)})
        await _call(gateway, schema, {})
        before = gateway.memory() if at == 200 else before
    grown = gateway.memory() - before
    return RIGHT if grown < 60e6 else f"{grown / 1e6:.0f} MB more memory"


ATTACKS = [
    ("nested unions", nested_unions),
    ("definitions that refer to each other", mutual_unions),
    ("definitions shared 60 times", shared_definitions),
    ("a long allOf", long_all_of),
    ("500 large patterns", large_patterns),
    ("an allOf of 64,000 schemas", largest_schema),
    ("20,000 floats for strings", floats_for_strings),
    ("8,000 choices, spelled differently", many_choices),
    ("8,000 keys, spelled differently", many_keys),
    ("100 costly calls in one reply", many_costly_calls),
    ("900,000 values", megabytes_of_values),
    ("a pattern that backtracks", backtracking_pattern),
    ("a costly call in the text", costly_text_call),
    (r"\Z in a pattern", python_end_of_text),
    ("keywords that can't be compiled", keywords_that_do_not_compile),
    ("items as a list", old_tuples),
    ("strict schemas", strict_schemas),
    ("400 large schemas", many_schemas),
]
