"""Damage by drift: the model was asked for one form and wrote another. Most of what fails in the field is of this kind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import prose
from gold import Call
from pens import Pen, expression, json_compact, json_pretty, json_text, python_double, python_json
from render import BY_NAME, Form, suits


@dataclass(frozen=True)
class Case:
    form: Form  # what was asked for
    calls: list[Call]
    tools: list[dict[str, Any]]
    rng: Random

    def pick(self, table: dict[str, int]) -> str:
        return self.rng.choices(list(table), list(table.values()))[0]

    def lead(self, share: float) -> str:
        """Now and then a sentence before it that says the call is being made."""
        if self.rng.random() >= share:
            return ""
        return self.rng.choice(prose.MAKING).replace("{}", self.calls[0].name) + "\n\n"

    def expressions(self) -> list[str]:
        pen = Pen(self.rng, literal=self.rng.choices((python_double, repr), (3, 2))[0])
        return [expression(call, pen) for call in self.calls]


@dataclass(frozen=True)
class Damaged:
    text: str
    variant: str
    calls: list[Call]
    starts_in_reasoning: bool = False
    cut: bool = False  # no call may come of it
    dialect: str = ""  # where it is not the one that was asked for


# fenced Python


def fenced_python(case: Case) -> Damaged | None:
    variant = case.pick(
        {"list": 45, "lines": 25, "tall_list": 10, "tall_call": 7, "comment": 5, "json_words": 4, "position": 4}
    )
    body = _python_body(case, variant)
    if body is None:
        return None
    label = case.pick({"python": 85, "py": 10, "Python": 5})
    end = "" if case.rng.random() < 0.04 else "\n```"
    return Damaged(f"{case.lead(0.15)}```{label}\n{body}{end}", variant + ("" if end else "+unclosed"), case.calls)


def _python_body(case: Case, variant: str) -> str | None:
    written = case.expressions()
    if variant == "list":
        return f"[{', '.join(written)}]"
    if variant == "tall_list":
        return "[\n" + ",\n".join(f"    {one}" for one in written) + "\n]"
    if variant == "tall_call":
        return "\n".join(_tall(call) for call in case.calls)
    if variant == "comment":
        comment = case.rng.choice(
            ("# Call the function", "# Get what the user asked for", "# using the given values", "# tool call")
        )
        return comment + "\n" + "\n".join(written)
    if variant == "json_words":
        pen = Pen(case.rng, literal=python_json)
        text = [expression(call, pen) for call in case.calls]
        return "\n".join(text) if any(word in one for one in text for word in ("=true", "=false", "=null")) else None
    if variant == "position":
        return "\n".join(_by_position(call) for call in case.calls) if all(map(_one_required, case.calls)) else None
    return "\n".join(written)


def _tall(call: Call) -> str:
    inner = "".join(f"    {key}={python_double(value)},\n" for key, value in call.arguments.items())
    return f"{call.name}(\n{inner})" if inner else f"{call.name}()"


def _one_required(call: Call) -> bool:
    """Only the first parameter is given, so its place says its name."""
    return list(call.arguments) == list(call.schema.get("properties", {}))[:1]


def _by_position(call: Call) -> str:
    return f"{call.name}({', '.join(python_double(value) for value in call.arguments.values())})"


# JSON in place of what was asked for

_NAMED = {
    "name/arguments": ("name", "arguments"),
    "name/parameters": ("name", "parameters"),
    "function/arguments": ("function", "arguments"),
    "function/parameters": ("function", "parameters"),
    "tool/arguments": ("tool", "arguments"),
    "tool_name/parameters": ("tool_name", "parameters"),
    "tool/tool_input": ("tool", "tool_input"),
    "action/action_input": ("action", "action_input"),
    "function_name/arguments": ("function_name", "arguments"),
}
_SHAPES = {
    "name/arguments": 40,
    "name/parameters": 16,
    "function/arguments": 5,
    "function/parameters": 5,
    "tool/arguments": 4,
    "tool_name/parameters": 3,
    "tool/tool_input": 2,
    "action/action_input": 2,
    "function_name/arguments": 3,
    "typed": 4,
    "openai": 4,
    "openai_string": 4,
    "by_key": 5,
    "tool_calls": 2,
    "flat": 1,
}


def _json_shape(call: Call, shape: str) -> dict[str, Any] | None:
    if shape in _NAMED:
        name, shaped = _NAMED[shape]
        return {name: call.name, shaped: call.arguments}
    if shape == "typed":
        return {"type": "function", "name": call.name, "parameters": call.arguments}
    if shape in {"openai", "tool_calls"}:
        return {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    if shape == "openai_string":
        return {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    if shape == "by_key":
        return {call.name: call.arguments}
    return {"name": call.name, **call.arguments} if call.arguments and "name" not in call.schema["properties"] else None


def json_body(case: Case) -> tuple[str, str] | None:
    """The calls as JSON in one of the shapes that models know, and the shape's name."""
    shape = case.pick(_SHAPES)
    shaped = [_json_shape(call, shape) for call in case.calls]
    if None in shaped:
        return None
    write = case.rng.choices((json_text, json_pretty, json_compact), (4, 4, 1))[0]
    if shape == "tool_calls":
        return write({"tool_calls": shaped}), shape
    if len(shaped) > 1:
        return (write(shaped), shape) if case.rng.random() < 0.75 else ("\n".join(map(write, shaped)), shape + "+lines")
    return (write(shaped[0]), shape) if case.rng.random() < 0.7 else (write(shaped), shape + "+array")


def bare_json(case: Case) -> Damaged | None:
    written = json_body(case)
    return written and Damaged(*written, case.calls)


def fenced_json(case: Case) -> Damaged | None:
    written = json_body(case)
    if written is None:
        return None
    label = case.pick({"json": 9, "JSON": 1})
    return Damaged(f"{case.lead(0.2)}```{label}\n{written[0]}\n```", written[1], case.calls)


# other fences


def other_fences(case: Case) -> Damaged | None:
    variant = case.pick({"none": 35, "tool_code": 20, "tool_call": 15, "xml": 10, "text": 8, "javascript": 6, "tilde": 6})
    body = _fence_body(case, variant)
    if body is None:
        return None
    label = {"none": "", "text": case.rng.choice(("text", "plaintext")), "tilde": case.rng.choice(("json", "python", ""))}
    if variant == "tool_call":
        label[variant] = case.pick({"tool_call": 3, "tool_calls": 1, "function_call": 1, "tool": 1})
    mark = "~~~" if variant == "tilde" else "```"
    return Damaged(f"{case.lead(0.15)}{mark}{label.get(variant, variant)}\n{body}\n{mark}", variant, case.calls)


def _fence_body(case: Case, variant: str) -> str | None:
    written = case.expressions()
    if variant == "tool_code":
        around = case.rng.choice(("{}", "print({})", "print(default_api.{})"))
        return "\n".join(around.replace("{}", one) for one in written)
    if variant == "xml":
        form = BY_NAME[case.rng.choice(("hermes", "qwen3_coder", "minimax_m2", "minicpm5_xml"))]
        return form.block(case.calls, Pen(case.rng)) if suits(form, case.calls) else None
    if variant == "javascript":
        return "\n".join(f"{call.name}({_javascript(call.arguments)});" for call in case.calls)
    if case.rng.random() < 0.5:
        written_json = json_body(case)
        return written_json and written_json[0]
    return f"[{', '.join(written)}]" if case.rng.random() < 0.6 else "\n".join(written)


def _javascript(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {_javascript(inner)}" for key, inner in value.items()) + " }" if value else ""
    return json_text(value)


# lists of strings


def lists_of_strings(case: Case) -> Damaged | None:
    variant = case.pick({"other_quotes": 45, "escaped": 20, "json": 15, "unescaped": 10, "fenced": 10})
    if variant in {"json", "escaped"}:
        inner = case.expressions()
        if variant == "json":
            inner = [json_text({"name": call.name, "arguments": call.arguments}) for call in case.calls]
        return Damaged(json_text(inner), variant, case.calls)
    plain = all(not set(texts(call.arguments)) & set("'\"\\\n") for call in case.calls)
    if not plain:
        return None
    double = [expression(call, Pen(case.rng, literal=python_double)) for call in case.calls]
    single = [expression(call, Pen(case.rng, literal=repr)) for call in case.calls]
    if variant == "unescaped":
        return Damaged("[" + ", ".join(f'"{one}"' for one in double) + "]", variant, case.calls)
    mark, inner = case.rng.choice((('"', single), ("'", double)))
    body = "[" + ", ".join(f"{mark}{one}{mark}" for one in inner) + "]"
    if variant == "fenced":
        body = f"```{case.rng.choice(('python', 'json', ''))}\n{body}\n```"
    return Damaged(body, variant, case.calls)


def texts(value: Any) -> str:
    """All characters of all strings inside."""
    if isinstance(value, dict):
        return "".join(map(texts, value.values()))
    if isinstance(value, list):
        return "".join(map(texts, value))
    return value if isinstance(value, str) else ""


# prose around

# Their frames leave no room for loose prose before them.
FRAMED = {"muse_glimmer", "harmony", "inkling", "kimi_k3", "functionary_v32"}


def prose_around(case: Case) -> Damaged | None:
    variant = case.pick({"own_form": 45, "list": 20, "lines": 10, "json": 20, "sentence": 5})
    if case.form.name in FRAMED and variant == "own_form":
        variant = "json"
    body = _said_body(case, variant)
    if body is None:
        return None
    if variant == "sentence":
        return Damaged(_sentence(case, body), variant, case.calls)
    weak = variant != "own_form" or not case.form.marked
    lead = case.rng.choice(prose.MAKING if weak else prose.BEFORE + prose.MAKING).replace("{}", case.calls[0].name)
    tail = "\n\n" + case.rng.choice(prose.AFTER) if case.rng.random() < 0.6 else ""
    gap = case.rng.choices(("\n\n", "\n"), (3, 1))[0]
    return Damaged(f"{lead}{gap}{body}{tail}", variant + ("+after" if tail else ""), case.calls)


def _said_body(case: Case, variant: str) -> str | None:
    written = case.expressions()
    if variant == "own_form":
        return case.form.block(case.calls, Pen(case.rng))
    if variant == "json":
        made = json_body(case)
        return made and made[0]
    if variant == "sentence":
        return written[0] if len(written) == 1 else None
    return f"[{', '.join(written)}]" if variant == "list" else "\n".join(written)


def _sentence(case: Case, body: str) -> str:
    text = case.rng.choice(
        (
            "I'll run {} now and then tell you what it says.",
            "To find out, I'm calling {} right away.",
            "Sure. Executing {} now.",
            "Let me use `{}` to get this for you.",
            "Okay! I am now invoking {} to answer your question.",
        )
    )
    return text.replace("{}", body)
