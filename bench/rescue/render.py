"""Every dialect as one row: its block of calls, and how it carries text and reasoning around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import blocks as b
import prose
from gold import Call
from pens import Pen, usual_pen

Frame = Callable[[str], str]
THINK = ("<think>", "</think>")


@dataclass(frozen=True)
class Form:
    name: str
    block: b.Block
    opener: str = ""  # what a model forgets, or writes once too often
    closer: str = ""
    say: Frame | None = "{}\n\n".format  # text before the calls; None where the dialect has none
    think: tuple[str, str] | None = None
    gap: str = "\n\n"  # between the reasoning's end and what follows
    prompted: bool = True  # the opening think tag may stand in the prompt, so that the text starts inside
    unclosed: bool = False  # the call may come with the reasoning still open
    after: bool = False
    between: bool = False
    many: bool = True
    slot: str = "json"  # what the arguments are written in: json, raw (text between tags), python, gemma
    marked: bool = True  # False: a weak form, that only the message around it makes a call
    flat: bool = False  # only arguments whose every inner type the schema names


def _framed(opener: str, closer: str) -> Frame:
    return lambda text: f"{opener}{text}{closer}"


_XML_CALL = b.tags("<function={}>", "</function>", "<parameter={}>\n", "\n</parameter>")
_SEED_CALL = b.tags("<function={}>", "</function>", "<parameter={}>", "</parameter>")
_INVOKE = b.tags('<invoke name="{}">', "</invoke>", '<parameter name="{}">', "</parameter>")
_STEP_CALL = b.tags(
    '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{}">',
    "</steptml:invoke><｜tool_call_end｜>",
    '<steptml:parameter name="{}">',
    "</steptml:parameter>",
    "",
)
_MINICPM = b.tags('<function name="{}">', "</function>", '<param name="{}">', "</param>", "")

_QWEN = Form(
    "qwen3_coder",
    b.each("<tool_call>\n", _XML_CALL, "\n</tool_call>"),
    "<tool_call>\n",
    "\n</tool_call>",
    think=THINK,
    gap="\n",
    unclosed=True,
    after=True,
    between=True,
    slot="raw",
)
_HERMES = Form(
    "hermes",
    b.each_json("<tool_call>\n", "\n</tool_call>"),
    "<tool_call>\n",
    "\n</tool_call>",
    think=THINK,
    between=True,
    after=True,
)
_GLM = Form(
    "glm45",
    b.glm("\n", "\n"),
    "<tool_call>",
    "</tool_call>",
    think=THINK,
    gap="\n",
    between=True,
    slot="raw",
)
_DSML = Form(
    "deepseek_v32",
    b.dsml("function_calls"),
    "<｜DSML｜function_calls>\n",
    "\n</｜DSML｜function_calls>",
    think=THINK,
    slot="raw",
)
_TOOL_CALLS = ("<tool_calls>", "</tool_calls>")
_DEEPSEEK = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
_COHERE = Form(
    "cohere_command3",
    b.cohere,
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    say=None,
    think=("<|START_THINKING|>", "<|END_THINKING|>"),
    gap="",
)

FORMS: tuple[Form, ...] = (
    _HERMES,
    Form("longcat", b.each_json("<longcat_tool_call>", "</longcat_tool_call>"), "<longcat_tool_call>", "</longcat_tool_call>"),
    Form("granite3", b.one_array("<|tool_call|> ", ""), "<|tool_call|> ", say=None),
    replace(_HERMES, name="granite4", think=None),
    Form("granite_20b_fc", b.each_json("<function_call> ", ""), "<function_call> "),
    _QWEN,
    Form(
        "step3",
        b.wrapped("<｜tool_calls_begin｜>", _STEP_CALL, "<｜tool_calls_end｜>", ""),
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        slot="raw",
    ),
    replace(_QWEN, name="step3p5", think=("<think>\n", "\n</think>"), unclosed=False, between=False, after=False),
    replace(
        _QWEN,
        name="seed_oss",
        block=b.each("<seed:tool_call>\n", _SEED_CALL, "\n</seed:tool_call>"),
        opener="<seed:tool_call>\n",
        closer="\n</seed:tool_call>",
        think=("<seed:think>", "</seed:think>"),
        unclosed=False,
    ),
    _GLM,
    replace(_GLM, name="glm47", block=b.glm("", "")),
    replace(_GLM, name="poolside_v1", block=b.poolside, unclosed=True),
    Form("hunyuan_v3", b.hunyuan_v3, "<tool_calls>\n", "\n</tool_calls>", think=THINK, slot="raw"),
    Form("hunyuan_a13b", b.one_array(*_TOOL_CALLS), *_TOOL_CALLS, think=THINK),
    Form("jamba", b.one_array(*_TOOL_CALLS), *_TOOL_CALLS),
    Form("nemotron_v2", b.one_array("<TOOLCALL>", "</TOOLCALL>"), "<TOOLCALL>", "</TOOLCALL>", think=THINK, gap="\n"),
    Form("mistral", b.mistral, "[TOOL_CALLS]", think=("[THINK]", "[/THINK]"), gap="", prompted=False),
    Form("deepseek_v3", b.deepseek_v3, *_DEEPSEEK, think=THINK),
    Form("deepseek_v31", b.deepseek_v31, *_DEEPSEEK, think=THINK, gap="", after=True),
    _DSML,
    replace(
        _DSML,
        name="deepseek_v4",
        block=b.dsml("tool_calls"),
        opener="<｜DSML｜tool_calls>\n",
        closer="\n</｜DSML｜tool_calls>",
        unclosed=True,
    ),
    Form(
        "kimi_k2", b.kimi_k2, "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", think=THINK, gap="", unclosed=True
    ),
    Form(
        "kimi_k3",
        b.kimi_k3,
        "<|open|>tools<|sep|>",
        "<|close|>tools<|sep|>",
        say=_framed("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        think=("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        gap="",
        slot="raw",
    ),
    Form("llama3_json", b.llama3_json, say=None, marked=False),
    Form("pythonic", b.python_list(), slot="python", say=None, marked=False),
    Form(
        "llama4_pythonic",
        b.python_list("<|python_start|>[", "]<|python_end|>"),
        "<|python_start|>",
        "<|python_end|>",
        slot="python",
    ),
    Form(
        "lfm2",
        b.python_list("<|tool_call_start|>[", "]<|tool_call_end|>"),
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        think=THINK,
        after=True,
        slot="python",
    ),
    Form(
        "olmo3",
        b.python_list("<function_calls>", "</function_calls>", "\n"),
        "<function_calls>",
        "</function_calls>",
        slot="python",
    ),
    Form(
        "functiongemma",
        b.gemma("<start_function_call>", "<escape>", "<end_function_call>"),
        "<start_function_call>",
        "<end_function_call>",
        between=True,
        slot="gemma",
    ),
    Form(
        "gemma4",
        b.gemma("<|tool_call>", '<|"|>', "<tool_call|>"),
        "<|tool_call>",
        "<tool_call|>",
        think=("<|channel>thought\n", "<channel|>"),
        gap="",
        prompted=False,
        slot="gemma",
    ),
    Form(
        "harmony",
        b.harmony,
        say=_framed("<|channel|>commentary<|message|>", "<|end|><|start|>assistant"),
        think=("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
        gap="",
        prompted=False,
    ),
    Form("phi4_mini", b.one_array("functools", ""), "functools", say=None),
    replace(
        _QWEN,
        name="minimax_m2",
        block=b.wrapped("<minimax:tool_call>\n", _INVOKE, "\n</minimax:tool_call>"),
        opener="<minimax:tool_call>\n",
        closer="\n</minimax:tool_call>",
        gap="\n\n",
        unclosed=False,
        between=False,
    ),
    Form(
        "minimax_m3",
        b.minimax_m3,
        "]<]minimax[>[<tool_call>\n",
        "]<]minimax[>[</tool_call>",
        say="{}".format,
        think=("<mm:think>", "</mm:think>"),
        gap="",
        prompted=False,
        slot="raw",
        flat=True,
    ),
    Form(
        "internlm2",
        b.each_json("<|action_start|><|plugin|>\n", "<|action_end|>", "\n", b.PARAMETERS),
        "<|action_start|><|plugin|>\n",
        "<|action_end|>",
    ),
    replace(
        _HERMES,
        name="ernie45",
        block=b.each_json("<tool_call>\n", "\n</tool_call>\n", ""),
        say=_framed("<response>\n", "\n</response>\n\n"),
        think=("<think>", "\n</think>"),
        between=False,
        after=False,
    ),
    Form("xlam", b.one_array("", ""), say=None, think=THINK, marked=False),
    Form(
        "apertus",
        b.apertus,
        "<|tools_prefix|>",
        "<|tools_suffix|>",
        think=("<|inner_prefix|>", "<|inner_suffix|>"),
        gap="",
        prompted=False,
        after=True,
    ),
    _COHERE,
    replace(_COHERE, name="cohere_command4"),
    Form("gigachat3", b.gigachat3, "<|function_call|>", say="{}".format, many=False),
    Form("minicpm5_xml", b.each("", _MINICPM, ""), "", "</function>", think=THINK, after=True, between=True, slot="raw"),
    Form("dots", b.dots, "<dots_function_call>", "</dots_function_call>", slot="raw"),
    Form(
        "muse_glimmer",
        b.muse_glimmer,
        "<atem:function_calls>\n",
        "\n</atem:function_calls>",
        say=_framed(" to=user<|message|>", "<|eom|><|start|>assistant"),
        think=(" to=self<|message|>", "<|eom|><|start|>assistant"),
        gap="",
        prompted=False,
        slot="raw",
    ),
    Form(
        "inkling",
        b.inkling,
        "<|message_model|>",
        "<|end_message|>",
        say=_framed("<|message_model|><|content_text|>", "<|end_message|>"),
        think=("<|message_model|><|content_thinking|>", "<|end_message|>"),
        gap="",
        prompted=False,
    ),
    Form(
        "functionary_v31",
        b.each("", lambda call, pen: f"<function={call.name}>{pen.object(call.arguments)}</function>", "", ""),
        "",
        "</function>",
    ),
    Form("functionary_v32", b.functionary_v32, say=_framed("all\n", "\n>>>")),
    Form("bare_json", b.bare_json, say=None, marked=False),
    Form("fenced_json", b.fenced_json, "```json\n", "\n```", after=True, marked=False),
    Form("tool_code", b.tool_code, "```tool_code\n", "\n```", after=True, slot="python", marked=False),
    Form(
        "call_expression",
        b.python_list("", "", "\n"),
        after=True,
        between=True,
        slot="python",
        marked=False,
    ),
    Form(
        "tagged",
        b.each_json("~~~tool_call\n", "\n~~~", "\n\n"),
        "~~~tool_call\n",
        "\n~~~",
        after=True,
        between=True,
    ),
    Form("cline_xml", b.cline_xml, after=True, slot="raw"),
    Form("react", b.react, say="Thought: {}\n".format),
)
BY_NAME = {form.name: form for form in FORMS}


@dataclass(frozen=True)
class Message:
    text: str
    starts_in_reasoning: bool = False
    shape: str = "plain"


def suits(form: Form, calls: Sequence[Call]) -> bool:
    """Whether these calls have one plain reading in this form."""
    if len(calls) > 1 and not form.many:
        return False
    return all(_readable(form, call, key) for call in calls for key in call.arguments)


def _readable(form: Form, call: Call, key: str) -> bool:
    value, schema = call.arguments[key], call.property(key)
    if form.slot == "raw" and ("type" not in schema or (isinstance(value, str) and value.strip() != value) or value == ""):
        return False
    return not form.flat or _typed(value, schema)


def _typed(value: Any, schema: dict[str, Any]) -> bool:
    """Tags alone don't tell "5" from 5: every inner value needs its type in the schema."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        return bool(value) and all(key in properties and _typed(inner, properties[key]) for key, inner in value.items())
    if isinstance(value, list):
        return bool(value) and all(_typed(inner, schema.get("items") or {}) for inner in value)
    return "type" in schema


def shapes(form: Form, calls: Sequence[Call]) -> list[str]:
    """The shapes of a message that this dialect has, each as often as it should come."""
    found = ["plain"] * 4
    found += ["text_before"] * 2 if form.say else []
    found += ["reasoning"] if form.think else []
    found += ["reasoning_and_text"] if form.think and form.say else []
    found += ["text_after"] if form.after else []
    found += ["text_between"] * 2 if form.between and len(calls) > 1 else []
    found += ["open_reasoning"] if form.unclosed else []
    return found


def write(form: Form, calls: Sequence[Call], rng: Random, pen: Pen | None = None, shape: str | None = None) -> Message:
    pen = pen or usual_pen(rng)
    shape = shape or rng.choice(shapes(form, calls))
    text, hidden = "", False
    if shape.startswith("reasoning") or shape == "open_reasoning":
        text, hidden = _reasoning(form, calls, rng, closed=shape != "open_reasoning")
    if shape in {"text_before", "reasoning_and_text", "text_after"} and form.say:
        lead = prose.BEFORE if form.marked else prose.MAKING
        if shape != "text_after" or rng.random() < 0.5:
            text += form.say(rng.choice(lead).replace("{}", calls[0].name))
    elif form.name == "functionary_v32" and rng.random() < 0.5:
        text += ">>>"
    if shape == "text_between":
        middle = f"\n\n{rng.choice(prose.BETWEEN)}\n\n"
        text += middle.join(form.block([call], pen) for call in calls[:2]) + "".join(
            f"\n\n{form.block([call], pen)}" for call in calls[2:]
        )
    else:
        text += form.block(calls, pen)
    if shape == "text_after":
        text += "\n\n" + rng.choice(prose.AFTER)
    return Message(text, hidden, shape)


def _reasoning(form: Form, calls: Sequence[Call], rng: Random, *, closed: bool) -> tuple[str, bool]:
    opener, closer = form.think or THINK
    hidden = form.prompted and (not closed or rng.random() < 0.5)
    thought = rng.choice(prose.REASONING).replace("{}", calls[0].name)
    start = "" if hidden else opener
    return (f"{start}{thought}{closer}{form.gap}" if closed else f"{start}{thought}\n"), hidden
