"""Regions that stream calls while they arrive: what is emitted, when, and where they stop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.grammars.tool_openers import openers_of
from toolglot.core.tools import Tool
from toolglot.grammars.call_objects import Keys
from toolglot.grammars.call_streaming import CallStart, Step
from toolglot.grammars.gemma import Gemma
from toolglot.grammars.marked_tags import marked_tags
from toolglot.grammars.nested_tags import ToolTags
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.pythonic import MarkedPython
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml, from_cdata
from toolglot.io.json_codec import decode

ANY: dict[str, Any] = {}
TEXT = {"type": "string"}
TOOLS: Tools = {
    "f": Tool("f", schema={"type": "object", "properties": {"a": TEXT, "b": TEXT, "n": ANY, "o": {"type": "object"}}}),
    "g": Tool("g", schema={"type": "object", "properties": {}}),
}
PYTHON = MarkedPython("<s>", "<e>")
GEMMA = Gemma("<s>", "<e>", "<q>")
NESTED = marked_tags("@@")
NAMED = TaggedJson(("<s>",), ("<e>",), Keys(name_is_key=True))
OBJECTS = TaggedJson(("<s>",), ("<e>",))


def streamed(grammar: Any, text: str, size: int = 1, tools: Tools = TOOLS) -> list[tuple[int, str, str]]:
    """The calls as they were streamed: number, name, and the JSON text so far."""
    opener = next(one for one in openers_of(grammar, tools) if text.startswith(one))
    region = grammar.open(opener)
    stream = region.stream_calls(tools)
    found: list[tuple[int, str, str]] = []
    for at in range(len(opener), len(text), size):
        piece = text[at : at + size]
        end = region.feed(piece)
        steps: list[Step] = stream.feed(piece if end < 0 else piece[:end])
        for step in steps:
            if isinstance(step, CallStart):
                found.append((step.at, step.name, ""))
            else:
                number, name, so_far = found.pop()
                found.append((number, name, so_far + step.text))
        if end >= 0:
            break
    return found


def whole(grammar: Any, text: str, tools: Tools = TOOLS) -> list[tuple[int, str, Any]]:
    """The calls that were streamed to their end; they are the same in every split."""
    first = streamed(grammar, text, 1, tools)
    for size in (2, 3, 7, 1000):
        assert streamed(grammar, text, size, tools) == first
    return [(at, name, decode(arguments)) for at, name, arguments in first]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"a\tb\\n\"\x41\u00e9\U0001f600\101\0\q"', 'a\tb\\n"A\u00e9\U0001f600A\0\\q'),
        (r'"\ud83d\ude00 \ud83d."', "\U0001f600 \ufffd."),
        ('"line\nand\\\n more"', "line\nand more"),
        ("'it\\'s \"so\"'", 'it\'s "so"'),
        ('"""a "b" ""c\n"""', 'a "b" ""c\n'),
        ("'''\\''''", "'"),
        ('""', ""),
        ('"one" \'two\' + "three"', "onetwothree"),
        ('r"\\d"', "\\d"),
        ("3", 3),
        ("-1_000.5e3", -1000500.0),
        ("None", None),
        ("true", True),
        ('[1, "], (", {"k": (2, \'}\')}, # so\n True]', [1, "], (", {"k": [2, "}"]}, True]),
        ("other(x, 'y')", "other(x, 'y')"),
    ],
)
def test_python_values(written: str, value: Any) -> None:
    text = f"<s>[f( a = {written} , # why, (not)\n n=1,), g(), f(a='x')]<e>"
    assert whole(PYTHON, text) == [(0, "f", {"a": value, "n": 1}), (1, "g", {}), (2, "f", {"a": "x"})]


def test_python_forms() -> None:
    assert whole(PYTHON, '<s>g()\nf(n={}, **{"odd key": [1], "b": "c"})<e>') == [
        (0, "g", {}),
        (1, "f", {"n": {}, "odd key": [1], "b": "c"}),
    ]
    assert whole(PYTHON, "<s>anything.at-all(a=1)<e>", {}) == [(0, "anything.at-all", {"a": 1})]
    tagged = TaggedPython("<s>", "<e>")
    assert whole(tagged, '<s> f.call(a="x < y")<e>') == [(0, "f", {"a": "x < y"})]
    assert whole(tagged, '<s>[f(a="]"), g()]<e>') == [(0, "f", {"a": "]"}), (1, "g", {})]
    after_lead = TaggedPython("<s>", "<e>", lead="call:")
    assert whole(after_lead, '<s>call:f(a="x")<e>') == [(0, "f", {"a": "x"})]


@pytest.mark.parametrize(
    ("text", "so_far"),
    [
        ('<s>[f(a="I "am" here")]<e>', '{"a": "I '),  # the string may continue
        ('<s>[f(a="x", b")]<e>', '{"a": "x'),
        ('<s>[f(a="x" + b)]<e>', '{"a": "x'),
        ('<s>[f(a="x", b=no quotes)]<e>', '{"a": "x'),
        ('<s>[f(a="x", a="y")]<e>', '{"a": "x'),
        ('<s>[f(a="x", **3)]<e>', '{"a": "x'),
        ('<s>[f(a="x\\u00', '{"a": "x'),
        ('<s>[f(a="x"', '{"a": "x'),
        ('<s>[f(a="x", n=[1, 2', '{"a": "x'),
        ('<s>[f(a="x", n=[1}, b=2)]<e>', '{"a": "x'),
    ],
)
def test_python_stops_at_the_first_uncertainty(text: str, so_far: str) -> None:
    for size in (1, 2, 1000):
        assert streamed(PYTHON, text, size) == [(0, "f", so_far)]


@pytest.mark.parametrize(
    "text",
    [
        '<s>[f("x")]<e>',
        "<s>[f(n=[1)]<e>",
        "<s>[f(a==1)]<e>",
        "<s>[f(n=1 2)]<e>",
        '<s>[h(a="x")]<e>',
        '<s>[{"name": "f"}]<e>',
        "<s>[[g()]]<e>",
        '<s>see f(a="x")<e>',
        "<s>f" + "f" * 400,
    ],
)
def test_python_that_is_not_streamed(text: str) -> None:
    assert streamed(PYTHON, text) == streamed(PYTHON, text, 1000) == []


def test_a_name_that_is_too_long_is_rejected() -> None:
    text = f"<s>[{'f' * 400}(a=1)]<e>"
    assert streamed(PYTHON, text, 1, {}) == streamed(PYTHON, text, 1000, {}) == []


def test_gemma() -> None:
    text = '<s>call:f{a:<q>t "x" <e> } <q,\\n<q>, "b" : "\\u003cq> \\"}",o:{k:[<q>}],<q>,-1.5,null],<q>y z<q>:{}},n:True}<e>'
    value = {"a": 't "x" <e> } <q,\\n', "b": '<q> "}', "o": {"k": ["}],", -1.5, None], "y z": {}}, "n": True}
    assert whole(GEMMA, text) == [(0, "f", value)]
    assert whole(GEMMA, "<s>g{}<e>") == [(0, "g", {})]
    quoted = Gemma("<s>", "<e>", '<"|>')  # its mark contains a quote
    assert whole(quoted, '<s>call:f{n:[<"|>a"]<"|>, "b"]}<e>') == [(0, "f", {"n": ['a"]', "b"]})]


@pytest.mark.parametrize(
    ("text", "so_far"),
    [
        ("<s>call:f{a:<q>x}<e>", '{"a": "x'),  # a mark is missing
        ("<s>call:f{a:<q>x<q>,b:no quotes}<e>", '{"a": "x"'),
        ("<s>call:f{a:<q>x<q>,a:<q>y<q>}<e>", '{"a": "x"'),
        ("<s>call:f{a:<q>x<q>,b:'y'}<e>", '{"a": "x"'),
        ("<s>call:f{a:<q>x<q>,n:[no quotes]}<e>", '{"a": "x"'),
        ("<s>call:f{a:<q>x<", '{"a": "x'),
        ("<s>call:f{a:<q>x<q>,n:[<q>y}<e>", '{"a": "x"'),
    ],
)
def test_gemma_stops_at_the_first_uncertainty(text: str, so_far: str) -> None:
    for size in (1, 2, 1000):
        assert streamed(GEMMA, text, size) == [(0, "f", so_far)]


def test_gemma_that_is_not_streamed() -> None:
    for text in (
        "<s>call:h{a:<q>x<q>}<e>",
        "<s>call:f{" + "a" * 500 + ":1}<e>",
        "<s>call:f{n:1]<e>",
        "<s>" + " " * 500 + "f{}<e>",
    ):
        assert [call for call in streamed(GEMMA, text) if call[2] != '{"n": 1'] == []
        assert streamed(GEMMA, text) == streamed(GEMMA, text, 1000)


def nested(inside: str) -> str:
    return f'@@<tool_call>\n@@<invoke name="f">{inside}@@</invoke>@@<invoke name="g">@@</invoke>\n@@</tool_call>'


def test_nested_tags() -> None:
    text = nested("@@<a> <i>@ @@x</a>\n@@</a>\n@@<o>@@<k>1@@</k>@@<l>@@<item>2@@</item>@@</l>@@</o>@@<n>[1]@@</n>")
    value = {"a": " <i>@ @@x</a>\n", "o": {"k": 1, "l": [2]}, "n": [1]}
    assert whole(NESTED, text) == [(0, "f", value), (1, "g", {})]
    assert whole(NESTED, nested("@@<o>@@<k>1@@</o>")) == [(0, "f", {"o": {"k": 1}}), (1, "g", {})]


@pytest.mark.parametrize(
    ("inside", "so_far"),
    [
        ("@@<a>x@@<b>y@@</b>@@</a>", '{"a": "x'),
        ("@@<a>x@@</a>@@<a>y@@</a>", '{"a": "x"'),
        ("@@<a>x", '{"a": "x'),
        ("@@<a>x@@<" + "y" * 500 + ">@@</a>", '{"a": "x'),
    ],
)
def test_nested_tags_stop_at_the_first_uncertainty(inside: str, so_far: str) -> None:
    for size in (1, 2, 1000):
        assert streamed(NESTED, nested(inside), size) == [(0, "f", so_far)]


CDATA_TAGS = TaggedXml(Tags(("<f n=", "</f>"), {"<p n=": "</p>"}, ATTRIBUTE, BROKEN, cdata=True), ATTRIBUTE, read=from_cdata)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", ""),
        (" \n", " \n"),
        (" \n x", " \n x"),
        (" <![CDAT", " <![CDAT"),
        ("x <![CDATA[<b>]]>", "x <![CDATA[<b>]]>"),
        ("\n<![CDATA[</p>]] > &]]>\n", "</p>]] > &"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
    ],
)
def test_cdata(written: str, value: str) -> None:
    text = f'<f n="f"><p n="a">{written}</p><p n="n">[1]</p></f>'
    assert whole(CDATA_TAGS, text) == [(0, "f", {"a": value, "n": [1]})]
    assert whole(CDATA_TAGS, '<f n="g"></f>') == [(0, "g", {})]


def test_text_between_the_tags_of_a_tool_is_not_a_call() -> None:
    grammar = ToolTags().for_tools(TOOLS)
    assert whole(grammar, "<f>\n<a>v</a>\n</f>") == [(0, "f", {"a": "v"})]
    for size in (1, 6, 1000):  # 6: the first piece has only the opening tag of the value
        assert streamed(grammar, "<f>xyz<a>v</a></f>", size) == []


def test_streaming_stops_at_text_after_cdata() -> None:
    for size in (1, 2, 1000):
        assert streamed(CDATA_TAGS, '<f n="f"><p n="a"><![CDATA[x]]> y</p></f>', size) == [(0, "f", '{"a": "x')]


@pytest.mark.parametrize(
    ("grammar", "started", "floods"),
    [
        (PYTHON, '<s>[f(a="', ["\\", "\\\\", "\\u", "\\u00", "\\ud83d", "\\7", "'", "<e", "x"]),
        (PYTHON, "<s>[f(a='''", ["'x", "''x", "\\'", '"""']),
        (GEMMA, "<s>call:f{a:<q>", ["<", "<q", "}", "}<", "}<e", "{", "x"]),
        (NESTED, '@@<tool_call>@@<invoke name="f">@@<a>', ["@", "@@", "@@ <", "@@</", "@@</x>y", "<", "x"]),
        (CDATA_TAGS, '<f n="f"><p n="a"><![CDATA[', ["]", "]]", "]]]", "<![CDATA[", "x"]),
    ],
)
def test_buffers_stay_short(grammar: Any, started: str, floods: list[str]) -> None:
    """Text that waits for more is scanned again, so it must be short."""
    for flood in floods:
        sizes = [len(streamed(grammar, started + (flood * 800)[:size])[0][2]) for size in range(40, 800, 40)]
        assert all(after > before for before, after in pairwise(sizes)), flood


def test_names_as_keys() -> None:
    text = '<s>[{"f": {"a": "x}"}}, {"g": {}, "f": {"n": [1]}}]<e>'
    assert whole(NAMED, text) == [(0, "f", {"a": "x}"}), (1, "g", {}), (2, "f", {"n": [1]})]
    for other in ('<s>[{"h": {}}]<e>', '<s>[{"name": {}}]<e>', '<s>[{"f": "{}"}]<e>', '<s>[{"f": null}]<e>'):
        assert streamed(NAMED, other) == []
    assert streamed(NAMED, '<s>[{"name": {}}]<e>', 1, {}) == []


def test_objects_without_arguments_keep_their_number() -> None:
    text = '<s>[{"name": "g", "id": "1"}, {"type": "function", "name": "f", "arguments": {"n": 1}}]<e>'
    assert whole(OBJECTS, text) == [(0, "g", {}), (1, "f", {"n": 1})]
    assert streamed(OBJECTS, '<s>[{"name": "f", "a": "x"}, {"name": "g"}]<e>') == []  # arguments next to the name


def test_objects_with_arguments_twice_are_started_once() -> None:
    assert streamed(OBJECTS, '<s>{"name": "f", "arguments": {"n": 1}, "arguments": {"n": 2}}<e>') == [(0, "f", '{"n": 1}')]
