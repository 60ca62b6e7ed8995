"""What a chat template tells: how calls are written, if it has a place for tools, what it refuses, how thoughts are marked.

Jinja as Hugging Face and llama.cpp have it, Go as Ollama has it. Nothing is run: a family is known by its markers.
"""

from __future__ import annotations

import re

import msgspec

# A dialect and the markers that must all be there; the first row that fits counts, so the particular stand before the general.
MARKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("kimi_k3", ("<|open|>", "<|sep|>")),
    ("minimax_m3", ("]<]minimax[>[",)),
    ("muse_glimmer", ("<atem:",)),
    ("inkling", ("<|content_invoke_tool_json|>",)),
    ("deepseek_v32", ("DSML", "function_calls>")),
    ("deepseek_v4", ("DSML",)),
    ("step3", ("steptml:",)),
    ("deepseek_v3", ("tool▁sep", "```json")),
    ("deepseek_v31", ("tool▁sep",)),
    ("kimi_k2", ("<|tool_calls_section_begin|>",)),
    ("longcat", ("<longcat_tool_call>",)),
    ("seed_oss", ("<seed:tool_call>",)),
    ("minimax_m2", ("<minimax:tool_call>",)),
    ("dots", ("<dots_function_call>",)),
    ("apertus", ("<|tools_prefix|>",)),
    ("cohere_command4", ("<|START_ACTION|>", "<|START_TEXT|>")),
    ("cohere_command3", ("<|START_ACTION|>",)),
    ("gigachat3", ("<|function_call|>",)),
    ("gigachat3", ("function call<|role_sep|>",)),
    ("internlm2", ("<|action_start|>",)),
    ("lfm2", ("<|tool_call_start|>",)),
    ("lfm2", ("<|tool_list_start|>",)),
    ("functiongemma", ("<start_function_call>",)),
    ("gemma4", ("<|tool_call>",)),
    ("harmony", ("<|channel|>", "<|message|>")),
    ("hunyuan_v3", ("<tool_sep>",)),
    ("nemotron_v2", ("<TOOLCALL>",)),
    ("anthropic_xml", ("<function_calls>", "<invoke name=")),
    ("olmo3", ("<function_calls>",)),
    ("tool_request", ("[TOOL_REQUEST]",)),
    ("tool_use_xml", ("<tool_use>",)),
    ("qwen_agent", ("✿FUNCTION✿",)),
    ("granite_20b_fc", ("<function_call>",)),
    ("phi4_mini", ("functools[",)),
    ("phi4_mini", ("<|tool|>", "<|/tool|>")),
    ("granite3", ("<|tool_call|>",)),
    ("granite4", ("<|start_of_role|>", "<tool_call>")),
    ("mistral", ("[TOOL_CALLS]",)),
    ("minicpm5_xml", ("<function name=", "<param name=")),
    ("glm45", ("\n<arg_key>",)),
    ("glm45", ("\\n<arg_key>",)),
    ("glm47", ("<arg_key>",)),
    ("qwen3_coder", ("<function=", "<parameter=")),
    ("functionary_v32", (">>>all",)),
    ("functionary_v31", ("<function=",)),
    ("hunyuan_a13b", ("<tool_calls>", "<answer>")),
    ("jamba", ("<tool_calls>",)),
    ("ernie45", ("<tool_call>", "<response>")),
    ("hermes", ("<tool_call>",)),
    ("llama4_pythonic", ("<|python_start|>",)),
    ("pythonic", ("[func_name1(",)),
    ("llama3_json", ("<|python_tag|>",)),
    ("llama3_json", ('"parameters": dictionary',)),
    ("tool_code", ("```tool_code",)),
    ("fenced_json", ("Action:", "```json")),
    ("react", ("Action Input:",)),
    ("llama3_json", ("<|start_header_id|>", '"parameters":')),
)

# What shows that thoughts are marked so, and how they begin and end.
REASONING: tuple[tuple[tuple[str, ...], tuple[str, str]], ...] = (
    (("<|channel>thought",), ("<|channel>thought", "<channel|>")),
    (("<|channel|>analysis",), ("<|channel|>analysis<|message|>", "<|end|>")),
    (("<seed:think>",), ("<seed:think>", "</seed:think>")),
    (("<mm:think>",), ("<mm:think>", "</mm:think>")),
    (("<longcat_think>",), ("<longcat_think>", "</longcat_think>")),
    (("[THINK]",), ("[THINK]", "[/THINK]")),
    (("<|START_THINKING|>",), ("<|START_THINKING|>", "<|END_THINKING|>")),
    (("<|inner_prefix|>",), ("<|inner_prefix|>", "<|inner_suffix|>")),
    (("<|open|>", "think"), ("<|open|>think<|sep|>", "<|close|>think<|sep|>")),
    (("◁think▷",), ("◁think▷", "◁/think▷")),
    (("</think>",), ("<think>", "</think>")),
)

_COMMENTS = ((re.compile(r"\{#"), "#}"), (re.compile(r"\{\{-?\s{0,9}/\*"), "*/"))  # Jinja's, Go's
_TOOLS = re.compile(r"\{[{%][^{}]*?(?:(?<![\w.'\"</])(?:xml_|python_)?tools\b(?!['\"])|\.Tools\b)")
_RAISED = re.compile(r"raise_exception\(\s*(?P<quote>['\"])(?P<said>.*?)(?P=quote)", re.DOTALL)
_ROLE_SHOWN = re.compile(r"\{\{-?\s*(?:\.Role\b|[^{}]*\brole\b)(?![^{}]*\bif\b)")
_NO_SYSTEM = re.compile(r"system (?:role|messages?|prompts?)[^.]*not supported|(?:does not|doesn't|can't) support[^.]*system")
_TOOL_ROLE = re.compile(r"['\"](?:tool|ipython|tool_results?|observation|function)['\"]")
_SYSTEM = re.compile(r"['\"]system['\"]|\.System\b")


class Template(msgspec.Struct, frozen=True):
    """`refuses`: what it raises at or leaves out: system, tool, alternation."""

    dialect: str | None
    takes_tools: bool
    refuses: tuple[str, ...] = ()
    reasoning: tuple[str, str] | None = None
    marker: str = ""  # by which the dialect was known


def read_template(text: str) -> Template:
    text = _without_comments(text)
    dialect, marker = _dialect(text)
    reasoning = next((pair for shown, pair in REASONING if all(sign in text for sign in shown)), None)
    return Template(dialect, _TOOLS.search(text) is not None, _refuses(text), reasoning, marker)


def _without_comments(text: str) -> str:
    """One look at each: a comment that never ends hides nothing, and ends the search."""
    for begins, ends in _COMMENTS:
        kept, at = [], 0
        for found in begins.finditer(text):
            if found.start() < at:
                continue
            end = text.find(ends, found.end())
            if end < 0:
                break
            kept.append(text[at : found.start()])
            at = end + len(ends)
        text = "".join([*kept, text[at:]])
    return text


def _dialect(text: str) -> tuple[str | None, str]:
    for name, markers in MARKERS:
        if all(marker in text for marker in markers):
            return name, " and ".join(markers)
    return None, ""


def _refuses(text: str) -> tuple[str, ...]:
    raised = " ".join(found["said"].lower() for found in _RAISED.finditer(text))
    alternation = "alternate" in raised
    few = alternation or "only user and assistant" in raised
    any_role = not few and _ROLE_SHOWN.search(_RAISED.sub("", text)) is not None  # whatever its name
    refused = {
        "system": _NO_SYSTEM.search(raised) is not None or not (any_role or _SYSTEM.search(text)),
        "tool": not (any_role or _TOOL_ROLE.search(text)),
        "alternation": alternation,
    }
    return tuple(what for what, so in refused.items() if so)
