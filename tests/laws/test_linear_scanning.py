"""Law 7 for scanning: work is linear in the length of the text, for any text. Counted, not timed.

Two counts: the characters that the scanner passes to its markers and regions; and the lines of Python that run, including
parsing and repair, which sees every loop, but not the work inside a regex.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from tests.for_each import for_each
from tests.laws.dialect_cases import shared_tools
from toolglot import StreamExtractor, parse_arguments
from toolglot.core.messages import ToolCall
from toolglot.dialects import find_dialect
from toolglot.errors import CallerError
from toolglot.evaluation.counted import lines_run
from toolglot.io.json_codec import dumps
from toolglot.pipeline.response import tool_call_scanner
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.tool_call_scanner import ToolCallScanner
from toolglot.schema.coerce_text import typed_value
from toolglot.schema.relaxed_json import read_object

SIZE = 300
STEADY = 2.2  # at most, where the text is twice as long
STEEP = 6.0  # at most, where a flood is four times as long: regions that give up at some length cost more up to it
CUTS = (0, 1, 7)

SOURCE = 'def f(x):\n    """It\'s <b>so</b>."""\n    return {\'a\': [x, "y"]} if x < 3 else \'</p>\'\n'


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] if size else [text]


def scanned(text: str, dialect: str, size: int) -> ToolCallScanner:
    scanner = ToolCallScanner(scanner_for(shared_tools(), dialect, "balanced"))
    for piece in pieces(text, size):
        scanner.feed(piece)
    scanner.close()
    return scanner


def extracted(text: str, dialect: str, size: int) -> StreamExtractor:
    extractor = StreamExtractor(shared_tools(), dialect=dialect)
    for piece in pieces(text, size):
        extractor.feed(piece)
    extractor.close()
    return extractor


# -- calls as they should be


def clean(dialect: str, size: int) -> str:
    found = find_dialect(dialect)
    assert found is not None
    query = (SOURCE * (size // len(SOURCE) + 1))[:size]
    return found.render_calls((ToolCall("search_0", "search", dumps({"query": query})),))


# -- near misses

CONFIG = scanner_for(shared_tools(), "auto", "balanced")
MARKERS = sorted({*CONFIG.openings, *CONFIG.ends, *CONFIG.closers, *CONFIG.dropped})
TOOL = next(iter(shared_tools())).full_name
FLOODS = [
    *(
        "<",
        "<tool",
        "<tool_",
        "</",
        "<|",
        "<｜",
        "]<]",
        "{",
        "[",
        "(",
        "{[(",
        "{{ ",
        '"',
        "'",
        '"""',
        "'''",
        "\\",
        '\\"',
        ",",
        ":",
    ),
    *(" ", "\n", "\t\n", "  {", "{\n", "[\n", "(\n", "}", "])}", "```\n", "```json\n", "```json\n{\n", "~~~tool_call\n"),
    *(
        "</tool_call>",
        "</function>",
        "</parameter>",
        "</arg_value>",
        "</think>",
        "<think>",
        "<think></think>",
        "<think><tool_call>",
    ),
    *("Action:\n", f"Action: {TOOL}\n", f"Action: {TOOL}\nAction Input: ", f"Action: {TOOL}\nAction Input: {{\n"),
    *('{"a":', '[{"a":', '{"name":', f'{{"name":"{TOOL}","arguments":{{', f'{{"name":"{TOOL}","arguments":{{}}}}\n'),
    *(f"{TOOL}(", f"{TOOL}(a=", f'{TOOL}(a="', f"[{TOOL}(", f"[{TOOL}(a=1),", f"{TOOL}(a=1)\n", f"{TOOL}(a=1), "),
    *(f"<{TOOL}>", f"<{TOOL}><city>", f"<{TOOL}></{TOOL}>", f"<{TOOL}/>", f"call:{TOOL}{{", f"<|tool_call>call:{TOOL}{{a:"),
    *(
        f"<tool_call>[{TOOL}(",
        "<tool_call>{",
        "<tool_call>[",
        '<tool_call>{"name":',
        "<tool_call>\n<function=f>\n<parameter=a>\n",
        "<function=f>",
    ),
    *(
        "<tool_call>f<arg_key>a</arg_key><arg_value>",
        "<tool_call><function=f>[TOOL_CALLS]",
        "<tool_call>```json\n{",
        "<think>{\n",
    ),
    *("<tool_calls:a>", "<tool_call:a>f<arg_key:a>b</arg_key:a><arg_value:a>", " to=f<|channel|>analysis<|message|>"),
    *("<tool_call><|python_start|>[TOOL_CALLS]", "<|channel|>commentary to=functions.f<|message|>{", "<![CDATA["),
]


WHOLE = sorted({*FLOODS, *MARKERS})
PARTS = sorted({marker[:-1] for marker in MARKERS if len(marker) > 2} - {*WHOLE})  # they open no region of their own


@for_each("unit", [*WHOLE, *PARTS])
def test_a_flood_of_near_misses_is_linear_work(unit: str) -> None:
    texts = [unit * (length // len(unit)) for length in (2 * SIZE, 8 * SIZE)]
    for size in CUTS:
        characters = [scanned(text, "auto", size).examined for text in texts]
        assert characters[1] <= STEEP * characters[0], size


@for_each("unit", WHOLE)
def test_the_regions_that_a_flood_opens_are_parsed_in_linear_work(unit: str) -> None:
    texts = [unit * (length // len(unit)) for length in (4 * SIZE, 8 * SIZE)]  # in shorter ones, what is done once counts
    lines = [lines_run(partial(extracted, text, "auto", 7)) for text in texts]
    assert lines[1] <= STEADY * lines[0]


@for_each("unit", WHOLE)
def test_a_character_of_a_flood_costs_little(unit: str) -> None:
    """In one piece: what is behind a marker in it must not be looked at again and again."""
    text = unit * (8 * SIZE // len(unit))
    extracted(text, "auto", 0)  # what is done once
    assert lines_run(partial(extracted, text, "auto", 0)) <= 280 * len(text)


@pytest.mark.parametrize("unit", ["<tool_call>", f"<{TOOL}>", "```json\n{", "{\n"])
def test_a_flood_opens_a_limited_number_of_regions(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    begin = ToolCallScanner._begin

    def counted(scanner: ToolCallScanner, text: str) -> str:
        opened.append(scanner._opener)
        return begin(scanner, text)

    monkeypatch.setattr(tool_call_scanner, "_MANY_REGIONS", 64)
    monkeypatch.setattr(ToolCallScanner, "_begin", counted)
    text = unit * (64 * SIZE // len(unit))
    scanned(text, "auto", 0)
    assert len(opened) <= 2 * (64 + len(text) // 16)


def test_a_call_behind_a_flood_and_prose_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_call_scanner, "_MANY_REGIONS", 64)
    text = "```json\n{" * 1000 + "\n```\n" + "word " * 4000 + "\n" + clean("hermes", 20)
    for size in CUTS:
        assert [call.name for call in extracted(text, "auto", size).result().calls] == ["search"]


LONG = [
    *(f"{TOOL}: {{\n", f'{TOOL}: {{"city": ', f"{TOOL}\n```json\n{{\n", f'{TOOL}: {{"city": "x"}}\n', f"{TOOL} with {{"),
    *("{\n", "[\n", "```json\n{\n", '{"name":\n', f'{{"name":"{TOOL}","arguments":{{\n', f"{TOOL}(a=", f"<tool_call>[{TOOL}("),
    *("<tool_call>", '<tool_call>{"name":', "<tool_call>\n<function=f>\n<parameter=a>\n", f"<{TOOL}><city>", "[TOOL_CALLS]["),
    *(
        f"Action: {TOOL}\nAction Input: {{\n",
        f"<|tool_call>call:{TOOL}{{a:",
        "<|channel|>commentary to=functions.f<|message|>{",
    ),
]


@pytest.mark.parametrize("unit", LONG)
def test_a_long_flood_is_linear_work_too(unit: str) -> None:
    """Long enough for every region to give up, and for the rescan limit to apply."""
    texts = [unit * (length // len(unit)) for length in (10_000, 40_000)]
    characters = [scanned(text, "auto", 0).examined for text in texts]
    assert characters[1] <= STEEP * characters[0]
    assert characters[1] <= 600 * len(texts[1])


# -- reading and repairing arguments

BEGINNINGS = ("", '{"a": "', '{"a": ', '{"a": ["', "a=", 'a="', "{'a': '", '{"a": "b" ', "```json\n")
BROKEN = (
    *("{", "[", "(", '"', "'", "`", '"""', "\\", '\\"', "\\u", ",", ":", "=", "}", "]", " ", "\n", "/*", "//\n", "#\n", "```"),
    *(
        '{"a":',
        '{"a":[',
        '"a":"b",',
        '"a":"b" ',
        '"a" ',
        "'a' ",
        "a=",
        "a=1,",
        'a="b",',
        "a,b,",
        "1,",
        "a:b,",
        "{{",
        "}}",
        "“a” ",
    ),
)


def readers() -> dict[str, Callable[[str], object]]:
    def arguments(text: str) -> object:
        try:
            return parse_arguments(text)
        except CallerError:
            return None

    return {"arguments": arguments, "object": read_object, "value": lambda text: typed_value(text, {"type": "object"})}


@pytest.mark.parametrize("name", readers())
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_broken_arguments_are_read_in_linear_work(name: str, beginning: str) -> None:
    read = readers()[name]
    for unit in BROKEN:
        texts = [beginning + (unit * length)[:length] for length in (2 * SIZE, 8 * SIZE)]
        lines = [lines_run(partial(read, text)) for text in texts]
        assert lines[1] <= STEEP * lines[0] + SIZE, unit
