"""What a chat template shows: the dialect of calls, whether it takes tools, what it rejects, how reasoning is marked.

Jinja templates (Hugging Face, llama.cpp) and Go templates (Ollama). Nothing is executed: a dialect is detected by the markers
in its declaration.
"""

from __future__ import annotations

import re

import msgspec

from toolglot.catalog.profiles import families_of_template
from toolglot.dialects import all_dialects, find_dialect
from toolglot.grammars.dialect import TemplateMarkers

# Markers of a reasoning format, with its opener and closer.
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
_RAISED = re.compile(r"raise_exception\(\s*(?P<quote>['\"])(?P<message>.*?)(?P=quote)", re.DOTALL)
_ROLE_SHOWN = re.compile(r"\{\{-?\s*(?:\.Role\b|[^{}]*\brole\b)(?![^{}]*\bif\b)")
_NO_SYSTEM = re.compile(r"system (?:role|messages?|prompts?)[^.]*not supported|(?:does not|doesn't|can't) support[^.]*system")
# Qwen3.5 and later: "System message must be at the beginning."; Mistral: "... an initial optional system message"
_SYSTEM_FIRST = re.compile(
    r"system messages? (?:must|should) be (?:at the beginning|the? ?first)|initial (?:optional )?system message"
)
_TOOL_ROLE = re.compile(r"['\"](?:tool|ipython|tool_results?|observation|function)['\"]")
_SYSTEM = re.compile(r"['\"]system['\"]|\.System\b")


class Template(msgspec.Struct, frozen=True):
    """`refuses`: what it raises an exception for or leaves out: system, late_system, tool, alternation."""

    dialect: str | None
    takes_tools: bool
    refuses: tuple[str, ...] = ()
    reasoning: tuple[str, str] | None = None
    marker: str = ""  # by which the dialect was detected
    families: tuple[str, ...] = ()  # the catalog rows whose templates have its texts


def read_template(text: str) -> Template:
    text = _without_comments(text)
    dialect, marker = _dialect(text)
    takes_tools = _TOOLS.search(text) is not None
    return Template(dialect, takes_tools, _refuses(text), _reasoning(text, dialect), marker, families_of_template(text))


def _without_comments(text: str) -> str:
    """Linear time: a comment without an end stays, and ends the search."""
    for opener, closer in _COMMENTS:
        kept, at = [], 0
        for found in opener.finditer(text):
            if found.start() < at:
                continue
            end = text.find(closer, found.end())
            if end < 0:
                break
            kept.append(text[at : found.start()])
            at = end + len(closer)
        text = "".join([*kept, text[at:]])
    return text


def _dialect(text: str) -> tuple[str | None, str]:
    for name, markers in _markers():
        if all(marker in text for marker in markers):
            return name, " and ".join(markers)
    return None, ""


def _markers() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Dialects with their alternatives, the longest first; all markers before all hints."""
    markers = [(one.name, one.template_markers) for one in all_dialects()]
    hints = [(one.name, one.template_hints) for one in all_dialects()]
    return (*_longest_first(markers), *_longest_first(hints))


def _longest_first(declared: list[tuple[str, TemplateMarkers]]) -> list[tuple[str, tuple[str, ...]]]:
    every = [(name, texts) for name, alternatives in declared for texts in alternatives]
    return sorted(every, key=lambda one: -sum(map(len, one[1])))


def _reasoning(text: str, dialect: str | None) -> tuple[str, str] | None:
    """From the table above, else from the dialect's declaration."""
    declared = find_dialect(dialect) if dialect is not None else None
    of_dialect = [((pair[0],), pair) for pair in declared.reasoning] if declared is not None else []
    return next((pair for markers, pair in (*REASONING, *of_dialect) if all(marker in text for marker in markers)), None)


def _refuses(text: str) -> tuple[str, ...]:
    raised = " ".join(found["message"].lower() for found in _RAISED.finditer(text))
    alternation = "alternate" in raised
    few = alternation or "only user and assistant" in raised
    any_role = not few and _ROLE_SHOWN.search(_RAISED.sub("", text)) is not None  # it renders any role by its name
    no_system = _NO_SYSTEM.search(raised) is not None or not (any_role or _SYSTEM.search(text))
    refused = {
        "system": no_system,
        "late_system": not no_system and _SYSTEM_FIRST.search(raised) is not None,
        "tool": not (any_role or _TOOL_ROLE.search(text)),
        "alternation": alternation,
    }
    return tuple(name for name, is_refused in refused.items() if is_refused)
