"""Every kind of damage by name, and the measured mix. Drift to another form is in drift.py; here, the form itself breaks.

A damage returns None where it does not apply to a case, or would leave more than one reading.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import drift
from drift import Case, Damaged
from gold import Call
from pens import Pen, expression, json_text, python_double
from render import FORMS, suits

# Broken list syntax


def broken_list(case: Case) -> Damaged | None:
    opener, closer = case.form.opener, case.form.closer
    if case.form.name in _ARRAYS:
        pen = Pen(case.rng)
        keys = ("tool_name", "parameters") if case.form.name.startswith("cohere") else ("name", "arguments")
        items = [pen.object({keys[0]: call.name, keys[1]: call.arguments}) for call in case.calls]
        table = _BROKEN_ARRAY
    else:
        items, table = case.expressions(), _BROKEN_PYTHON
        if case.form.name not in _LISTS:
            opener = closer = ""
    variant = case.pick({name: weight for name, (weight, _) in table.items()})
    body = table[variant][1](case, items)
    return Damaged(opener + body + closer, variant, case.calls) if body else None


def _if(good: bool, text: str) -> str | None:
    return text if good else None


def _given(case: Case) -> bool:
    return all(call.arguments for call in case.calls)


def _colons(case: Case, items: list[str]) -> str | None:
    inners = [", ".join(f"{key}: {python_double(value)}" for key, value in call.arguments.items()) for call in case.calls]
    written = [f"{call.name}({inner})" for call, inner in zip(case.calls, inners, strict=True)]
    return _if(_given(case), "[" + ", ".join(written) + "]")


def _objects(case: Case, items: list[str]) -> str | None:
    written = [f"{call.name}({json_text(call.arguments)})" for call in case.calls]
    return _if(_given(case), "[" + ", ".join(written) + "]")


def _unquoted(case: Case, items: list[str]) -> str | None:
    """`city=Paris`: a word or two, where the schema asks for text."""

    def plain(call: Call) -> bool:
        texts = [value for value in call.arguments.values() if isinstance(value, str)]
        typed = all(
            call.property(key).get("type") == "string" for key, value in call.arguments.items() if isinstance(value, str)
        )
        words = all(text.replace(" ", "").isalpha() and text.lower() not in {"true", "false", "none", "null"} for text in texts)
        scalar = not any(isinstance(value, list | dict) for value in call.arguments.values())
        return bool(texts) and typed and words and scalar

    pen = Pen(case.rng, literal=str)
    return _if(all(map(plain, case.calls)), "[" + ", ".join(expression(call, pen) for call in case.calls) + "]")


_Broken = dict[str, tuple[int, Callable[[Case, list[str]], str | None]]]
_BROKEN_PYTHON: _Broken = {
    "no_end": (16, lambda case, items: "[" + ", ".join(items)),
    "no_start": (8, lambda case, items: ", ".join(items) + "]"),
    "no_brackets": (12, lambda case, items: _if(len(items) > 1, ", ".join(items))),
    "semicolons": (6, lambda case, items: _if(len(items) > 1, "; ".join(items))),
    "extra_bracket": (8, lambda case, items: "[" + ", ".join(items) + "]]"),
    "extra_parenthesis": (6, lambda case, items: "[" + ", ".join(items) + ")]"),
    "no_parenthesis": (7, lambda case, items: _if(bool(case.calls[-1].arguments), "[" + ", ".join(items)[:-1] + "]")),
    "trailing_comma": (8, lambda case, items: "[" + ", ".join(items) + ",]"),
    "no_comma": (6, lambda case, items: _if(len(items) > 1, "[" + " ".join(items) + "]")),
    "nested": (5, lambda case, items: "[" + ", ".join(f"[{one}]" for one in items) + "]"),
    "a_list_each": (6, lambda case, items: _if(len(items) > 1, "\n".join(f"[{one}]" for one in items))),
    "colons": (5, _colons),
    "objects": (4, _objects),
    "unquoted": (5, _unquoted),
    "braces": (3, lambda case, items: "{" + ", ".join(items) + "}"),
    "parentheses": (3, lambda case, items: "(" + ", ".join(items) + ")"),
}
_BROKEN_ARRAY: _Broken = {
    "no_end": (18, lambda case, items: "[" + ", ".join(items)),
    "no_start": (10, lambda case, items: ", ".join(items) + "]"),
    "no_brackets": (12, lambda case, items: _if(len(items) > 1, ", ".join(items))),
    "extra_bracket": (12, lambda case, items: "[" + ", ".join(items) + "]]"),
    "extra_brace": (10, lambda case, items: "[" + ", ".join(items) + "}]"),
    "no_brace": (12, lambda case, items: "[" + ", ".join(items)[:-1] + "]"),
    "trailing_comma": (12, lambda case, items: "[" + ", ".join(items) + ",]"),
    "no_comma": (8, lambda case, items: _if(len(items) > 1, "[" + " ".join(items) + "]")),
    "nested": (6, lambda case, items: f"[[{', '.join(items)}]]"),
    "doubled_braces": (6, lambda case, items: "[" + ", ".join("{" + one + "}" for one in items) + "]"),
}
_LISTS = ("pythonic", "llama4_pythonic", "lfm2")
_ARRAYS = (
    "granite3",
    "hunyuan_a13b",
    "jamba",
    "nemotron_v2",
    "phi4_mini",
    "xlam",
    "cohere_command3",
    "cohere_command4",
    "mistral",
)

# The rest: what the reports in dialects.md say


def python_literals(case: Case) -> Damaged | None:
    """JSON's place holds a Python literal: single quotes, True, None."""
    plain = case.form.block(case.calls, Pen(Random(1)))
    text = case.form.block(case.calls, Pen(Random(1), object=repr, raw=repr))
    return None if text == plain else Damaged(text, case.form.slot, case.calls)


def opener_missing(case: Case) -> Damaged | None:
    text = case.form.block(case.calls, Pen(case.rng))
    cut = text.replace(case.form.opener, "", 1)
    return None if cut == text else Damaged(cut.lstrip(" "), "first", case.calls)


def orphan_closer(case: Case) -> Damaged | None:
    text, closer = case.form.block(case.calls, Pen(case.rng)), case.form.closer.strip()
    variant = case.pick({"twice": 5, "before": 2, "think": 3 if case.form.think and "</" in case.form.think[1] else 0})
    if variant == "twice":
        return Damaged(f"{text}\n{closer}", variant, case.calls)
    if variant == "before" and not closer.startswith(("```", "~~~")):
        return Damaged(f"{closer}\n{text}", variant, case.calls)
    if variant == "think" and case.form.think:
        return Damaged(f"{case.form.think[1].strip()}\n\n{text}", variant, case.calls)
    return None


def stringified_values(case: Case) -> Damaged | None:
    whole = case.form.slot == "json" and case.rng.random() < 0.3
    changed = [_stringified(call, case.rng) for call in case.calls]
    if not any(changed) and not whole:
        return None
    if whole:
        if case.form.name in _WHOLE_ONLY:
            return None
        changed_calls = [Call(call.name, json.dumps(call.arguments), call.schema) for call in case.calls]  # type: ignore[arg-type]
    else:
        changed_calls = [replace(call, arguments=new or call.arguments) for call, new in zip(case.calls, changed, strict=True)]
    return Damaged(case.form.block(changed_calls, Pen(case.rng)), "arguments" if whole else "values", case.calls)


# Their arguments stand alone after the name: a string there would be no object at all.
_WHOLE_ONLY = {"mistral", "deepseek_v3", "deepseek_v31", "kimi_k2", "harmony", "functionary_v31", "functionary_v32", "react"}


def _stringified(call: Call, rng: Random) -> dict[str, Any] | None:
    new = {}
    for key, value in call.arguments.items():
        strict = call.property(key).get("type") in {"integer", "number", "boolean", "array", "object"}
        simple = not isinstance(value, list | dict) or rng.random() < 0.5
        new[key] = json.dumps(value, ensure_ascii=False) if strict and simple and value is not None else value
    return new if new != call.arguments else None


def unescaped_quotes(case: Case) -> Damaged | None:
    """A string with quotes (or a line break) inside that the model forgot to escape. The gold gets the same quotes."""
    newline = case.rng.random() < 0.25
    marked = _quoted(case.calls[0], case.rng, newline=newline)
    if marked is None or any(set(drift.texts(call.arguments)) & set('"\\\n') for call in case.calls):
        return None
    changed_calls = [marked, *case.calls[1:]]

    def careless(value: Any) -> str:
        return json_text(value).replace('\\"', '"').replace("\\n", "\n")

    def careless_python(value: Any) -> str:
        return python_double(value).replace('\\"', '"').replace("\\n", "\n")

    text = case.form.block(changed_calls, Pen(case.rng, object=careless, literal=careless_python))
    return Damaged(text, "newline" if newline else "quotes", changed_calls)


def _quoted(call: Call, rng: Random, *, newline: bool) -> Call | None:
    """An inner word in quotes, or a line break in place of a space: not at an end, where it could be read two ways."""
    for key, value in call.arguments.items():
        free = call.property(key).get("type") == "string" and "enum" not in call.property(key)
        words = value.split(" ") if free else []
        if len(words) >= 3 and all(word.isalnum() for word in words):
            at = rng.randrange(1, len(words) - 1)
            words[at] = f"\n{words[at]}" if newline else f'"{words[at]}"'
            text = " ".join(words).replace(" \n", "\n")
            return replace(call, arguments={**call.arguments, key: text})
    return None


def cut_short(case: Case) -> Damaged | None:
    """The text ends inside the last value, or inside the name: nothing may come of it."""
    if len(case.calls) > 1 or not case.calls[0].arguments:
        return None
    call, seed = case.calls[0], case.rng.random()
    key, value = list(call.arguments.items())[-1]
    other = replace(call, arguments={**call.arguments, key: _unlike(value)})
    text = case.form.block([call], Pen(Random(seed)))
    twin = case.form.block([other], Pen(Random(seed)))
    start = _shared(text, twin)
    end = len(text) - _shared(text[::-1], twin[::-1])
    where = "value"
    if case.form.opener and case.form.marked and case.rng.random() < 0.15:
        where, start = "name", text.index(call.name) + 1
        end = start + len(call.name) - 2
    at = case.rng.randrange(start, max(start + 1, end))
    lead = ">>>" if case.form.name == "functionary_v32" else ""
    return Damaged(lead + text[:at], where, case.calls, cut=True)


def _unlike(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "\x01"
    return {"\x01": 1} if isinstance(value, dict) else ["\x01"] if isinstance(value, list) else "\x01"


def _shared(one: str, other: str) -> int:
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at


def prefixed_names(case: Case) -> Damaged | None:
    variant = case.pick({"functions.": 5, "default_api.": 3, "tools.": 1, "<|channel|>commentary": 1})
    if any(call.name.startswith(("functions.", "default_api.", "tools.")) for call in case.calls):
        return None
    if variant.startswith("<"):
        if case.form.name not in {"hermes", "bare_json", "fenced_json", "llama3_json", "xlam"}:
            return None
        changed_calls = [replace(call, name=call.name + variant) for call in case.calls]
    else:
        changed_calls = [replace(call, name=variant + call.name) for call in case.calls]
    return Damaged(case.form.block(changed_calls, Pen(case.rng)), variant, case.calls)


# A wrapper of one dialect around the body of another.
_MIXED = (
    ("hermes", "<tool_call>\n", "list", "\n</tool_call>"),
    ("hermes", "<tool_call>\n", "lines", "\n</tool_call>"),
    ("hermes", "<tool_call>\n", "array", "\n</tool_call>"),
    ("olmo3", "<function_calls>", "array", "</function_calls>"),
    ("mistral", "[TOOL_CALLS]", "list", ""),
    ("llama3_json", "<|python_tag|>", "list", ""),
    ("nemotron_v2", "<TOOLCALL>", "list", "</TOOLCALL>"),
    ("phi4_mini", "functools", "list", ""),
    ("cohere_command3", "<|START_ACTION|>", "array", "<|END_ACTION|>"),
    ("tool_code", "```tool_code\n", "array", "\n```"),
    ("tagged", "~~~tool_call\n", "lines", "\n~~~"),
)


def two_dialects(case: Case) -> Damaged | None:
    variant = case.pick({"each_its_own": 4, "same_twice": 3, "mixed": 3})
    pen, others = Pen(case.rng), [form for form in _BOTH if form.name != case.form.name]
    other = case.rng.choice(others)
    if variant == "each_its_own" and len(case.calls) >= 2 and suits(other, case.calls):
        text = f"{case.form.block(case.calls[:1], pen)}\n{other.block(case.calls[1:2], pen)}"
        return Damaged(text, variant, case.calls[:2])
    if variant == "same_twice" and len(case.calls) == 1 and suits(other, case.calls):
        text = f"{case.form.block(case.calls, pen)}\n{other.block(case.calls, pen)}"
        return Damaged(text, variant, case.calls)
    if variant == "mixed":
        dialect, opener, kind, closer = case.rng.choice(_MIXED)
        written = case.expressions()
        body = {
            "list": f"[{', '.join(written)}]",
            "lines": "\n".join(written),
            "array": json_text([{"name": call.name, "arguments": call.arguments} for call in case.calls]),
        }[kind]
        return Damaged(opener + body + closer, f"mixed {kind}", case.calls, dialect=dialect)
    return None


_BOTH = [form for form in FORMS if form.opener and form.closer and form.marked and form.name not in drift.FRAMED]

# The mix

Kind = Callable[[Case], Damaged | None]
_ALL = [form.name for form in FORMS]
_TAGS = [form.name for form in FORMS if form.marked and form.opener and form.closer and form.slot in {"json", "raw"}]
_JSON = [form.name for form in FORMS if form.slot == "json"]


def _but(*names: str) -> list[str]:
    return [name for name in _ALL if name not in names]


# name, the damage, its share in per cent, the dialects that it falls on
MIX: tuple[tuple[str, Kind, float, list[str]], ...] = (
    ("fenced_python", drift.fenced_python, 24, _ALL),
    ("broken_list", broken_list, 19, [*_LISTS * 7, *_ARRAYS, *_but(*_ARRAYS)[::4]]),
    ("bare_json", drift.bare_json, 16, _but("bare_json", "xlam", "llama3_json")),
    ("fenced_json", drift.fenced_json, 14, _but("fenced_json", "xlam")),
    ("prose_around", drift.prose_around, 9, _ALL),
    ("other_fences", drift.other_fences, 6, _but("tool_code")),
    ("lists_of_strings", drift.lists_of_strings, 5, _ALL),
    ("python_literals", python_literals, 3, _TAGS),
    ("opener_missing", opener_missing, 4 / 7, [form.name for form in FORMS if form.opener]),
    ("orphan_closer", orphan_closer, 4 / 7, [form.name for form in FORMS if form.closer]),
    ("stringified_values", stringified_values, 4 / 7, [*_JSON, "pythonic", "lfm2", "call_expression"]),
    ("unescaped_quotes", unescaped_quotes, 4 / 7, [*_JSON, "pythonic", "lfm2", "call_expression"]),
    ("cut_short", cut_short, 4 / 7, _ALL),
    ("prefixed_names", prefixed_names, 4 / 7, _but("cline_xml", "kimi_k2", "harmony", "tool_code", "apertus", "muse_glimmer")),
    ("two_dialects", two_dialects, 4 / 7, [form.name for form in _BOTH]),
)
