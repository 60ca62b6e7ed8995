"""The calls alone, as each family writes them: small factories for the common shapes, a function for each odd one.

Written from `dialects.md` and not from any parser of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from gold import Call
from pens import Pen, expression, quoted_by

Block = Callable[[Sequence[Call], Pen], str]
Keys = tuple[str, str]
ARGUMENTS: Keys = ("name", "arguments")
PARAMETERS: Keys = ("name", "parameters")


def each_json(opener: str, closer: str, between: str = "\n", keys: Keys = ARGUMENTS) -> Block:
    """One JSON object for each call, each between its own markers."""

    def block(calls: Sequence[Call], pen: Pen) -> str:
        return between.join(opener + pen.object({keys[0]: call.name, keys[1]: call.arguments}) + closer for call in calls)

    return block


def one_array(opener: str, closer: str, keys: Keys = ARGUMENTS) -> Block:
    """All calls in one JSON array between one pair of markers."""

    def block(calls: Sequence[Call], pen: Pen) -> str:
        return opener + pen.object([{keys[0]: call.name, keys[1]: call.arguments} for call in calls]) + closer

    return block


def tags(call_open: str, call_close: str, value_open: str, value_close: str, line: str = "\n") -> Callable[[Call, Pen], str]:
    """One call as tags with raw values; `{}` in an opening tag is the name, `line` stands between the tags."""

    def one(call: Call, pen: Pen) -> str:
        values = [
            value_open.replace("{}", key) + pen.value(call, key) + value_close.replace("{}", key) for key in call.arguments
        ]
        return line.join([call_open.replace("{}", call.name), *values, call_close])

    return one


def each(opener: str, one: Callable[[Call, Pen], str], closer: str, between: str = "\n") -> Block:
    return lambda calls, pen: between.join(opener + one(call, pen) + closer for call in calls)


def wrapped(opener: str, one: Callable[[Call, Pen], str], closer: str, between: str = "\n") -> Block:
    return lambda calls, pen: opener + between.join(one(call, pen) for call in calls) + closer


def python_list(opener: str = "[", closer: str = "]", between: str = ", ") -> Block:
    return wrapped(opener, expression, closer, between)


def glm(head: str, line: str, opener: str = "<tool_call>") -> Block:
    """GLM's keys and values; `head` stands after the name, `line` between the tags."""

    def one(call: Call, pen: Pen) -> str:
        pairs = [f"<arg_key>{key}</arg_key>{line}<arg_value>{pen.value(call, key)}</arg_value>{line}" for key in call.arguments]
        start = head if pairs else head.rstrip("\n")
        return f"{opener}{call.name}{start}{''.join(pairs)}</tool_call>"

    return lambda calls, pen: "\n".join(one(call, pen) for call in calls)


def hunyuan_v3(calls: Sequence[Call], pen: Pen) -> str:
    return f"<tool_calls>\n{glm('<tool_sep>' + chr(10), chr(10))(calls, pen)}\n</tool_calls>"


def poolside(calls: Sequence[Call], pen: Pen) -> str:
    if pen.rng.random() < 0.3:
        return "\n".join(f"<tool_call>{call.name}\n{pen.object(call.arguments)}</tool_call>" for call in calls)
    return glm("\n", "\n")(calls, pen)


def mistral(calls: Sequence[Call], pen: Pen) -> str:
    """Before v11 one array with ids of nine characters; from v11 a token for each call, and no end marker."""
    kind = pen.rng.choices(("array", "args", "call_id", "bare"), (4, 4, 1, 1))[0]
    if kind == "array":
        items: list[dict[str, Any]] = [{"name": call.name, "arguments": call.arguments} for call in calls]
        if pen.rng.random() < 0.5:
            items = [{**one, "id": "".join(pen.rng.choices("abcdefghijkmnpqrstuvwxyz23456789", k=9))} for one in items]
        return pen.rng.choice(("[TOOL_CALLS]", "[TOOL_CALLS] ")) + pen.object(items)
    start = {"args": "[ARGS]", "call_id": "[CALL_ID]8fk2mz1qx[ARGS]", "bare": ""}[kind]
    return "".join(f"[TOOL_CALLS]{call.name}{start}{pen.object(call.arguments)}" for call in calls)


def deepseek_v3(calls: Sequence[Call], pen: Pen) -> str:
    inner = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call.name}\n```json\n{pen.object(call.arguments)}\n```<｜tool▁call▁end｜>"
        for call in calls
    )
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def deepseek_v31(calls: Sequence[Call], pen: Pen) -> str:
    inner = "".join(
        f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{pen.object(call.arguments)}<｜tool▁call▁end｜>" for call in calls
    )
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def dsml(outer: str) -> Block:
    def one(call: Call, pen: Pen) -> str:
        lines = [f'<｜DSML｜invoke name="{call.name}">']
        for key in call.arguments:
            text = isinstance(call.arguments[key], str)
            value = call.arguments[key] if text else pen.raw(call.arguments[key])
            lines.append(f'<｜DSML｜parameter name="{key}" string="{str(text).lower()}">{value}</｜DSML｜parameter>')
        return "\n".join([*lines, "</｜DSML｜invoke>"])

    return wrapped(f"<｜DSML｜{outer}>\n", one, f"\n</｜DSML｜{outer}>")


def kimi_k2(calls: Sequence[Call], pen: Pen) -> str:
    prefix = pen.rng.choices(("functions.", ""), (4, 1))[0]
    inner = "".join(
        f"<|tool_call_begin|>{prefix}{call.name}:{at}<|tool_call_argument_begin|>{pen.object(call.arguments)}<|tool_call_end|>"
        for at, call in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


_XTML = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array", type(None): "null"}


def kimi_k3(calls: Sequence[Call], pen: Pen) -> str:
    parts = ["<|open|>tools<|sep|>"]
    for at, call in enumerate(calls, 1):
        parts.append(f'<|open|>call tool="{escape(call.name)}" index="{at}"<|sep|>')
        for key, value in call.arguments.items():
            text = value if isinstance(value, str) else pen.raw(value)
            parts.append(
                f'<|open|>argument key="{escape(key)}" type="{_XTML[type(value)]}"<|sep|>{text}<|close|>argument<|sep|>'
            )
        parts.append("<|close|>call<|sep|>")
    return "".join([*parts, "<|close|>tools<|sep|><|close|>message<|sep|>"])


def llama3_json(calls: Sequence[Call], pen: Pen) -> str:
    typed = {"type": "function"} if pen.rng.random() < 0.25 else {}
    written = [pen.object({**typed, "name": call.name, "parameters": call.arguments}) for call in calls]
    tag = pen.rng.random() < 0.4
    return "".join(f"<|python_tag|>{one}" for one in written) if tag else "; ".join(written)


def gemma(opener: str, mark: str, closer: str) -> Block:
    write = quoted_by(mark)
    return lambda calls, pen: "".join(f"{opener}call:{call.name}{write(call.arguments)}{closer}" for call in calls)


def harmony(calls: Sequence[Call], pen: Pen) -> str:
    head = pen.rng.choices(
        (
            "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>",
            " to=functions.{}<|channel|>commentary <|constrain|>json<|message|>",
            "<|channel|>commentary to=functions.{}<|message|>",
        ),
        (3, 1, 1),
    )[0]
    ends = ["<|call|>"] * (len(calls) - 1) + [pen.rng.choices(("<|call|>", ""), (3, 1))[0]]
    parts = [head.replace("{}", call.name) + pen.object(call.arguments) + end for call, end in zip(calls, ends, strict=True)]
    return "<|start|>assistant".join(parts)


def minimax_m3(calls: Sequence[Call], pen: Pen) -> str:
    mark = "]<]minimax[>["

    def tag(key: str, value: Any) -> str:
        if isinstance(value, dict):
            inside = "".join(tag(inner, items) for inner, items in value.items())
        elif isinstance(value, list):
            inside = "".join(tag("item", items) for items in value)
        else:
            inside = value if isinstance(value, str) else pen.raw(value)
        return f"{mark}<{key}>{inside}{mark}</{key}>"

    parts = [
        f'{mark}<invoke name="{call.name}">' + "".join(tag(*pair) for pair in call.arguments.items()) + f"{mark}</invoke>\n"
        for call in calls
    ]
    return f"{mark}<tool_call>\n{''.join(parts)}{mark}</tool_call>"


def apertus(calls: Sequence[Call], pen: Pen) -> str:
    return f"<|tools_prefix|>{pen.object([{call.name: call.arguments} for call in calls])}<|tools_suffix|>"


def cohere(calls: Sequence[Call], pen: Pen) -> str:
    lines = ",\n".join(
        "    " + pen.object({"tool_call_id": str(at), "tool_name": call.name, "parameters": call.arguments})
        for at, call in enumerate(calls)
    )
    return f"<|START_ACTION|>[\n{lines}\n]<|END_ACTION|>"


def gigachat3(calls: Sequence[Call], pen: Pen) -> str:
    opener = pen.rng.choices(("<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n"), (3, 1))[0]
    return opener + pen.object({"name": calls[0].name, "arguments": calls[0].arguments})


_INVOKE = tags('<invoke name="{}">', "</invoke>", '<parameter name="{}">', "</parameter>", "")


def dots(calls: Sequence[Call], pen: Pen) -> str:
    opener, closer = "<dots_function_call>", "</dots_function_call>"
    if pen.rng.random() < 0.3:
        return each_json(opener, closer)(calls, pen)
    return opener + "".join(_INVOKE(call, pen) for call in calls) + closer


_ATEM = tags('<atem:invoke name="{}">', "</atem:invoke>", '<atem:parameter name="{}">', "</atem:parameter>")


def muse_glimmer(calls: Sequence[Call], pen: Pen) -> str:
    return "<|start|>assistant".join(
        f" to={call.name}<|message|><atem:function_calls>\n{_ATEM(call, pen)}\n</atem:function_calls><|eom|>" for call in calls
    )


def inkling(calls: Sequence[Call], pen: Pen) -> str:
    return "".join(
        f"<|message_model|>{call.name}<|content_invoke_tool_json|>"
        f"{pen.object({'name': call.name, 'args': call.arguments})}<|end_message|>"
        for call in calls
    )


def functionary_v32(calls: Sequence[Call], pen: Pen) -> str:
    """The first `>>>` is in the prompt; render.py puts it there where text stands before."""
    return "\n>>>".join(f"{call.name}\n{pen.object(call.arguments)}" for call in calls)


def bare_json(calls: Sequence[Call], pen: Pen) -> str:
    keys = pen.rng.choice((ARGUMENTS, PARAMETERS))
    written = [{keys[0]: call.name, keys[1]: call.arguments} for call in calls]
    if len(calls) > 1 and pen.rng.random() < 0.5:
        return "\n".join(map(pen.object, written))
    return pen.object(written if len(calls) > 1 or pen.rng.random() < 0.25 else written[0])


def fenced_json(calls: Sequence[Call], pen: Pen) -> str:
    if len(calls) > 1 and pen.rng.random() < 0.5:
        return one_array("```json\n", "\n```")(calls, pen)
    return each_json("```json\n", "\n```", "\n\n")(calls, pen)


def tool_code(calls: Sequence[Call], pen: Pen) -> str:
    """Gemini's and Gemma's habit: plain, through `default_api`, or printed."""
    kind = pen.rng.choice(("{}", "print({})", "print(default_api.{})", "default_api.{}"))
    return "```tool_code\n" + "\n".join(kind.replace("{}", expression(call, pen)) for call in calls) + "\n```"


def cline_xml(calls: Sequence[Call], pen: Pen) -> str:
    return "\n\n".join(tags("<{}>", f"</{call.name}>", "<{}>", "</{}>")(call, pen) for call in calls)


def react(calls: Sequence[Call], pen: Pen) -> str:
    return "\n".join(f"Action: {call.name}\nAction Input: {pen.object(call.arguments)}" for call in calls)
