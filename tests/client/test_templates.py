"""Chat templates by their markers. Most are our own and minimal: the markers of the real ones, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolglot.client.detection.templates import REASONING, read_template
from toolglot.core.messages import ToolCall
from toolglot.dialects import all_dialects
from toolglot.grammars.dialect import Dialect

FIXTURES = Path(__file__).parents[2] / "fixtures" / "templates"  # real ones
LOOP = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content }}{% endfor %}"
TOOLS = "{% if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}"

# As in Gemma 2: https://huggingface.co/google/gemma-2-9b-it
GEMMA2 = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate "
    "user/assistant/...') }}{% endif %}{{ '<start_of_turn>' + role + message['content'] }}{% endfor %}"
)
# As in Mistral Small 3.1: llama.cpp models/templates
MISTRAL = (
    '{%- if messages[0]["role"] == "system" %}{%- set system = messages[0] %}{%- endif %}{%- for message in messages %}'
    '{{- raise_exception("After the optional system message, conversation roles must alternate user/assistant/...") }}'
    '{%- if tools is not none %}{{- "[AVAILABLE_TOOLS] [" }}{%- endif %}'
    '{%- elif message.tool_calls is defined %}{{- "[TOOL_CALLS] [" }}'
    '{%- elif message["role"] == "tool_results" or message["role"] == "tool" %}{{- "[TOOL_RESULTS]" }}{%- else %}'
    '{{- raise_exception("Only user and assistant roles are supported, with the exception of an initial system message!") }}'
    "{%- endif %}{%- endfor %}"
)
# As in Phi-4: roles are compared one by one, and what is none of them is left out
PHI4 = (
    "{% for message in messages %}{% if (message['role'] == 'system') %}{{'<|im_start|>system<|im_sep|>' + message['content']}}"
    "{% elif (message['role'] == 'user') %}{{'<|im_start|>user<|im_sep|>' + message['content']}}"
    "{% elif (message['role'] == 'assistant') %}{{message['content']}}{% endif %}{% endfor %}"
)
# As in DeepSeek V3.2, whose marker is put together: llama.cpp models/templates
DSML = (
    '{%- set dsml_token = "｜DSML｜" -%}'
    + TOOLS
    + "<{{ dsml_token }}function_calls>\n<{{ dsml_token }}invoke name=\"f\">{{ '</think>' }}"
    + LOOP
)
# As in Hy3 and Hy4, whose tags get a suffix: llama.cpp models/templates
HY = TOOLS + "{% set HYTK = ':6124c78e' %}{% set calls = '<tool_calls{}>'.format(HYTK) %}{% set key = '<arg_key{}>' %}" + LOOP
# As in Kimi K3, whose tags are written by a macro: llama.cpp models/templates
KIMI_K3 = (
    "{%- macro open_tag(tag) -%}{{- '<|open|>' + tag -}}{{- '<|sep|>' -}}{%- endmacro -%}{%- if tools is defined and tools -%}"
    "{{- render(tools) -}}{%- endif -%}{%- if message.role == 'tool' -%}{{- open_tag('think') -}}"
    "{%- elif message.role == 'system' -%}{%- endif -%}"
    "{{- raise_exception('messages require a role.') -}}"
)
# As in DeepSeek R1's distillates: calls of the past are shown, but no tools
R1 = (
    "{% for message in messages %}{{ '<｜tool▁sep｜>' + tool['function']['name'] + '\\n```json' }}"
    "{{ content.split('</think>')[-1] }}{% endfor %}" + LOOP
)
# As in Llama 3 Groq Tool Use: ollama server/testdata/tools
GROQ = (
    "{{- if .Messages }}{{- if or .System .Tools }}{{ .System }}{{- if .Tools }}<tool_call>\n"
    '{"name": <function-name>}\n</tool_call>{{- range .Tools }}{{ json .Function }}{{ end }}{{ end }}{{ end }}'
    "{{- range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>"
    '{{- else if eq .Role "tool" }}<tool_response>{{ .Content }}{{ end }}'
)
OLD_OLLAMA = (
    "{{ if .System }}<|system|>{{ .System }}{{ end }}{{ if .Prompt }}<|user|>{{ .Prompt }}{{ end }}<|assistant|>{{ .Response }}"
)


@pytest.mark.parametrize(
    ("text", "dialect", "takes_tools", "refuses"),
    [
        (TOOLS + LOOP + "<tool_call>\n{{ call | tojson }}\n</tool_call>", "hermes", True, ()),
        (TOOLS + LOOP + "<tool_call>\n<function=f>\n<parameter=a>\n", "qwen3_coder", True, ()),
        (TOOLS + LOOP + "<tool_call>{name}\n<arg_key>{k}</arg_key>", "glm45", True, ()),
        (TOOLS + LOOP + "<tool_call>{name}<arg_key>{k}</arg_key>", "glm47", True, ()),
        (TOOLS + LOOP + "{{ '<|python_tag|>' }}", "llama3_json", True, ()),
        (TOOLS + LOOP + "{{ '<|channel|>commentary' + '<|message|>' }}", "harmony", True, ()),
        (TOOLS + LOOP + "{{ '<|tool_calls_section_begin|>' }}", "kimi_k2", True, ()),
        (TOOLS + LOOP + "{{ '<|tool|>' + tool + '<|/tool|>' }}<|tool_call|>", "phi4_mini", True, ()),
        (TOOLS + LOOP + "<|start_of_role|><|tool_call|>", "granite3", True, ()),
        (TOOLS + LOOP + "<|start_of_role|><tool_call>", "granite4", True, ()),
        (TOOLS + LOOP + "{{ '\n<TOOLCALL>[' }}", "nemotron_v2", True, ()),
        (TOOLS + LOOP + "{{ '<｜tool▁sep｜>' + name }}", "deepseek_v31", True, ()),
        (GEMMA2, None, False, ("system", "tool", "alternation")),
        (MISTRAL, "mistral", True, ("late_system", "alternation")),
        ((FIXTURES / "qwen3.6.jinja").read_text(), "qwen3_coder", True, ("late_system",)),
        ((FIXTURES / "mistral-small-3.1.jinja").read_text(), "mistral", True, ("late_system", "alternation")),
        ((FIXTURES / "phi-3-mini.jinja").read_text(), None, False, ("tool",)),
        (PHI4, None, False, ("tool",)),
        (DSML, "deepseek_v32", True, ()),
        (DSML.replace("function_calls", "tool_calls"), "deepseek_v4", True, ()),
        (DSML.replace("function_calls", " calls").replace("invoke", " invoke"), "deepseek_v41", True, ()),
        (HY, "hy_v4", True, ()),
        (HY + "{% set separator = '<tool_sep{}>' %}", "hunyuan_v3", True, ()),
        (KIMI_K3, "kimi_k3", True, ()),
        (R1, "deepseek_v3", False, ()),
        ("{% if message.role == 'system' %}{% else %}{{ raise_exception('Unknown role') }}{% endif %}", None, False, ("tool",)),
        (GROQ, "hermes", True, ()),
        (GROQ + '{"name": "f", "parameters": {}}', "hermes", True, ()),  # Llama's tokens count less
        (TOOLS + LOOP + "<function name=f><param name=a><tool_sep>", "minicpm5_xml", True, ()),
        (OLD_OLLAMA, None, False, ("tool",)),
        (LOOP, None, False, ()),
        ("", None, False, ("system", "tool")),
    ],
)
def test_templates(text: str, dialect: str | None, takes_tools: bool, refuses: tuple[str, ...]) -> None:
    found = read_template(text)
    assert (found.dialect, found.takes_tools, found.refuses) == (dialect, takes_tools, refuses)
    assert bool(found.marker) == (dialect is not None)


@pytest.mark.parametrize(
    "text",
    [
        "{# tools: a list #}" + LOOP,
        "{{- /* if there are .Tools */ -}}" + LOOP,
        LOOP + "{% for call in message.tool_calls %}{% endfor %}",
        LOOP + "{% if message['tools'] %}{% endif %}",
        LOOP + "{{ '<tools></tools>' }}",
        LOOP + "Use tools well.",
    ],
)
def test_the_word_alone_is_no_place_for_tools(text: str) -> None:
    assert not read_template(text).takes_tools


@pytest.mark.parametrize(
    "text",
    [
        "{%- if tools is iterable and tools | length > 0 %}",
        "{% if not tools is defined %}",
        "{{- range $.Tools }}",
        "{% if xml_tools %}",
    ],
)
def test_a_place_for_tools(text: str) -> None:
    assert read_template(text).takes_tools


def test_comments_mark_nothing() -> None:
    assert read_template("{# unlike <tool_call> #}{{- /* [TOOL_CALLS] */ -}}" + LOOP).dialect is None


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (R1, ("<think>", "</think>")),
        (KIMI_K3, ("<|open|>think<|sep|>", "<|close|>think<|sep|>")),
        ("{{ '[THINK]' }}", ("[THINK]", "[/THINK]")),
        ("{%- set begin = '<seed:think>' %}", ("<seed:think>", "</seed:think>")),
        (PHI4, None),
    ],
)
def test_reasoning(text: str, pair: tuple[str, str] | None) -> None:
    assert read_template(text).reasoning == pair


def rendered(dialect: Dialect) -> str:
    return dialect.render_calls(
        (
            ToolCall(id="a", name="f", arguments_json='{"a": "x", "n": 2}'),
            ToolCall(id="b", name="g", arguments_json='{"c": [1]}'),
        )
    )


def recognizable(dialect: Dialect) -> bool:
    """Whether its calls alone have all texts of one of the alternatives that it declares."""
    every = (*dialect.template_markers, *dialect.template_hints)
    return any(all(text in rendered(dialect) for text in texts) for texts in every)


@pytest.mark.parametrize("dialect", [one for one in all_dialects() if recognizable(one)], ids=lambda one: one.name)
def test_the_calls_of_a_dialect_are_recognized(dialect: Dialect) -> None:
    assert read_template(rendered(dialect)).dialect == dialect.name


def test_most_dialects_are_recognized_by_their_calls() -> None:
    assert sum(map(recognizable, all_dialects())) >= 40


def test_reasoning_marks_are_those_of_the_dialects() -> None:
    known = {pair for dialect in all_dialects() for pair in dialect.reasoning}
    assert {pair for _, pair in REASONING} - known <= {("<|channel>thought", "<channel|>"), ("◁think▷", "◁/think▷")}
