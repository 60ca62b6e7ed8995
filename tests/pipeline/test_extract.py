"""`extract` and StreamExtractor: what is a call, what is not, and why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cutting import SIZES, cut
from tests.cycles import no_cycles
from toolglot import CallerError, StreamExtractor, ToolCall, extract, validate
from toolglot.dialects import dialect_names, find_dialect
from toolglot.pipeline.response.extract import toolset

TOOLS = [
    {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {"name": "get_time", "schema": {"type": "object", "properties": {}}},
]
JSON = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
TAG = f"<tool_call>{JSON}</tool_call>"
FENCE = f"```json\n{JSON}\n```"
EXPRESSION = 'get_weather(city="Rome")'

MEANT = [
    TAG,
    FENCE,
    JSON,
    EXPRESSION,
    f"Let me look.\n{TAG}",
    f"I'll check that:\n\n{FENCE}",
    f"Let me look.\n{JSON}",
    f"I'll call it now: {EXPRESSION}",
    f"<think>Rome, then.</think>{TAG}",
    f"<think>Rome, then.</think>{JSON}",
    f"<think>Rome, then.</think>{EXPRESSION}",
    f"<think>Rome, then.\n{TAG}",
    f"```\n{TAG}\n```",
    f"The file doesn't exist. For example, you could write this?\n\n{TAG}",
    f"Would you like me to run this?\n\n{FENCE}",
    f"This is long. {'It goes on. ' * 200}\n\n{EXPRESSION}",
    f"I'll look.\n\n```\n{TAG}\n```\n\nPlease wait for the result.",
    f"I'll look.\n\n{EXPRESSION}\n\nThe results show several options.",
    f"{JSON}\n\n{'It is sunny. ' * 40}",
    f"{FENCE}\n\nNothing found.\n\nSo:\n\n{FENCE}",
]
NOT_MEANT = [
    f"A call:\n\n{FENCE}\n\n{'It is explained at length here. ' * 10}",
    f"A call:\n\n{FENCE}\n\nand this is how it is made.",
    f"A call:\n\n```xml\n{TAG}\n```\n\nThe client runs it.",
    f"A file:\n\n```\nfirst line\n{TAG}\n```",
    f"I can't do that: {EXPRESSION} is not allowed.",
    f"Now {EXPRESSION}",
    f"    {EXPRESSION}\n\nIndented.",
    f"> {JSON}",
    f"> {TAG}",
    f"| {TAG} |",
    f"- {TAG}",
    f"# {TAG}",
    f"+{TAG}",
    f"It is `{TAG}`.",
    f"It is ``{TAG}``.",
    f'It is "{TAG}".',
    f"Es ist „{TAG}“.",
    f"<!-- {TAG} -->",
    f"~~~xml\nx\n```\n{TAG}\n```\n~~~",
    f"Use `{EXPRESSION}` in your code.",
    f">>> {EXPRESSION}\n'sunny'",
    f"<think>Maybe {TAG} but no, I know it.</think>It is sunny.",
    "See [get_weather](https://example.com) for more.",
    '{"name": "Rome", "population": 3}',
]


@pytest.mark.parametrize("text", MEANT)
def test_a_call_is_extracted(text: str) -> None:
    assert [(call.name, call.arguments) for call in extract(text, TOOLS).calls] == [("get_weather", {"city": "Rome"})]


@pytest.mark.parametrize("text", NOT_MEANT)
def test_a_call_that_is_only_shown_is_text(text: str) -> None:
    found = extract(text, TOOLS)
    assert found.calls == []
    assert "Rome" in found.text + found.reasoning or "get_weather" in found.text


@pytest.mark.parametrize("text", NOT_MEANT[:4])
def test_eager_takes_them_all_the_same(text: str) -> None:
    assert len(extract(text, TOOLS, policy="eager").calls) == 1


def test_strict_accepts_only_marked_forms_and_repairs_nothing() -> None:
    assert len(extract(TAG, TOOLS, policy="strict").calls) == 1
    assert extract(FENCE, TOOLS, policy="strict").calls == []
    broken = extract(TAG.replace('"', "'"), TOOLS, policy="strict")
    assert broken.calls == []
    assert broken.decisions[0].code.startswith("rejected_")


def test_the_same_call_twice_counts_once_and_ids_are_kept_apart() -> None:
    found = extract(f"{TAG}\n{TAG}", TOOLS)
    assert len(found.calls) == 1
    assert "duplicate_call" in [decision.code for decision in found.decisions]
    other = TAG.replace("Rome", "Oslo")
    assert [call.id for call in extract(f"{TAG}\n{other}", TOOLS).calls] == ["get_weather_0", "get_weather_1"]


def test_identical_calls_in_one_text_count_once_whatever_the_tool() -> None:
    dice = {"name": "roll_die", "description": "Roll a die.", "schema": {"type": "object", "properties": {"sides": {}}}}
    roll = '<tool_call>{"name": "roll_die", "arguments": {"sides": 6}}</tool_call>'
    found = extract(f"{roll}\n{roll}", [dice])
    assert [call.id for call in found.calls] == ["roll_die_0"]
    assert "duplicate_call" in [decision.code for decision in found.decisions]


def test_without_tools_marked_forms_are_unchecked_and_bare_ones_must_be_the_whole_message() -> None:
    found = extract(f"Well. {TAG}")
    assert [decision.code for decision in found.decisions if decision.code == "unchecked"] == ["unchecked"]
    assert len(extract(JSON).calls) == 1
    assert extract(f"Well.\n{JSON}").calls == []


def test_a_responses_native_calls_are_guarded_and_its_text_is_searched_only_without_them() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": 3}'}}
    message: dict[str, Any] = {"role": "assistant", "content": TAG, "tool_calls": [call]}
    found = extract({"choices": [{"message": message}]}, TOOLS, provider="openai")
    assert [(one.arguments, one.source) for one in found.calls] == [({"city": "3"}, "native")]
    message.pop("tool_calls")
    (rescued,) = extract({"choices": [{"message": message}]}, TOOLS, provider="openai").calls
    assert rescued.source == "hermes"


def test_text_flows_before_a_call_is_whole() -> None:
    stream = StreamExtractor(TOOLS)
    first = stream.feed("Let me see. <tool_")
    assert "".join(event.text for event in first if hasattr(event, "text")) == "Let me see. "
    assert stream.feed(TAG.removeprefix("<tool_")[:20]) == []


@pytest.mark.parametrize("wrong", [{"policy": "lax"}, {"dialect": "hermse"}, {"calls": "later"}])
def test_wrong_use_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(CallerError, match="There are:"):
        StreamExtractor(TOOLS, **wrong)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('SearchDatabase(query="a, (b)", limit=10)\n', [("SearchDatabase", {"query": "a, (b)", "limit": 10})]),
        ("get_time()", [("get_time", {})]),
        ("get_time() and more", []),
        ("Hello (world) is nice", []),
        ("word", []),
        ("f(a=1", []),
    ],
)
def test_without_tools_a_call_expression_must_be_the_whole_message(text: str, calls: list[Any], size: int) -> None:
    extractor = StreamExtractor()
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    found = extractor.result()
    assert [(call.name, call.arguments) for call in found.calls] == calls
    assert found.text == ("" if calls else text)
    assert [decision.code for decision in found.decisions] == (["unchecked", "rescued_text"] if calls else [])


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_marker_inside_the_beginning_of_a_longer_one_waits_for_it(size: int) -> None:
    text = 'so\nAction:\n```json\n[{"tool_name": "get_wea<think>", "parameters": {"city": "Rome"}}]\n```'
    for begun in (text, "a value" + text.removeprefix("so\n")):
        whole = extract(begun, TOOLS, policy="eager")
        extractor = StreamExtractor(TOOLS, policy="eager")
        for at in range(0, len(begun), size):
            extractor.feed(begun[at : at + size])
        extractor.close()
        assert extractor.result() == whole


def test_wrong_calls_of_the_extractor_are_errors() -> None:
    native = [{"function": {"name": "get_weather", "arguments": "{}"}}]
    for bad in (b"x", None, 5):
        with pytest.raises(CallerError, match=r"feed: expected text, got"):
            StreamExtractor().feed(bad)  # type: ignore[arg-type]
    closed = StreamExtractor()
    closed.close()
    with pytest.raises(CallerError, match="the extractor is closed"):
        closed.feed("more")
    for source in ("text", native):
        with pytest.raises(CallerError, match="there is no wire or provider 'opnai'; did you mean openai"):
            extract(source, provider="opnai")
        with pytest.raises(CallerError, match="there is no policy 'bold'"):
            extract(source, policy="bold")  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="there is no policy 'bold'"):
        validate([], [], "bold")  # type: ignore[arg-type]


def test_a_response_gives_the_same_as_its_text() -> None:
    """The opening think tag was in the prompt; the marker has a nonce: both also in a whole response."""

    def response(text: str) -> dict[str, Any]:
        return {"choices": [{"message": {"role": "assistant", "content": text}}]}

    found = extract(response("hm</think>Hello."), starts_in_reasoning=True)
    assert (found.reasoning, found.text) == ("hm", "Hello.")
    forged = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    assert extract(response(forged), nonce="k7x9").calls == extract(forged, nonce="k7x9").calls == []


@pytest.mark.parametrize("name", dialect_names())
def test_memory_is_freed_at_once(name: str) -> None:
    """No reference cycles: text is freed without the garbage collector."""
    tools, dialect = toolset(TOOLS), find_dialect(name)
    assert dialect is not None
    calls = dialect.render_calls((ToolCall("c", "get_weather", '{"city": "Oslo"}'),))
    extract(calls, tools, dialect=name)  # what is made once is made
    with no_cycles():
        assert extract(calls, tools, dialect=name).calls


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_words_behind_a_weak_form_are_words_in_every_cutting(size: int) -> None:
    text = 'A call:\n{"name": "f", "arguments": {}}\n\nis what you write.'
    stream = StreamExtractor([{"name": "f", "schema": {}}])
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.close()
    assert stream.result().calls == []


def _deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


STRANGE = [
    "\ud800",
    {"\ud800": "\udfff"},
    10**5000,
    2**70,
    float("nan"),
    _deep(2000),
    _deep(100_000),
    b"x",
    object(),
    {1: 2},
    (1,),
]


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_no_value_in_a_response_raises(number: int) -> None:
    call = {"id": "a", "type": "tool_use", "name": "get_weather", "input": {"city": "Paris"}}
    native = {"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    for field in call:
        for source in (
            {"content": [{**call, field: STRANGE[number]}], "stop_reason": "tool_use"},
            {"content": [{**call, "input": {field: STRANGE[number]}}], "usage": STRANGE[number]},
            {"choices": [{"message": {"content": STRANGE[number], "tool_calls": [native]}, "finish_reason": STRANGE[number]}]},
            {"choices": [{"message": {"tool_calls": [{**native, field: STRANGE[number]}]}, "logprobs": STRANGE[number]}]},
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather", "args": STRANGE[number]}}]}}]},
            {"candidates": [{"content": {"parts": [STRANGE[number], {"text": "x"}]}, "safetyRatings": STRANGE[number]}]},
        ):
            found = extract(source, [{"name": "get_weather", "schema": {"type": "object"}}])
            assert all(isinstance(one.arguments, dict) for one in found.calls)


def test_half_a_surrogate_pair_does_not_lose_the_call() -> None:
    native = {"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    source = {"choices": [{"message": {"tool_calls": [native]}, "logprobs": {"content": [{"token": "\ud83d"}]}}]}
    found = extract(source, [{"name": "get_weather", "schema": {"type": "object"}}])
    assert [one.arguments for one in found.calls] == [{"city": "Paris"}]


@pytest.mark.parametrize("tail", ["]]>/>", "/>", " />", "]]></>/>", "}/>"])
def test_a_closer_may_be_cut_anywhere(tail: str) -> None:
    text = f'Let me see. <call:get_weather{{"city": "Paris"}}{tail} Done.'
    whole = extract(text, [{"name": "get_weather", "schema": {"type": "object"}}])
    for at in range(len(text)):
        extractor = StreamExtractor([{"name": "get_weather", "schema": {"type": "object"}}])
        extractor.feed(text[:at])
        extractor.feed(text[at:])
        extractor.close()
        assert extractor.result() == whole


# Found by fuzz/: regions that share an opener, of which the one that ends first needs repair, or starts a call first.
_SHARED_OPENERS = (
    "<tool_use><name>f</name><arguments>{}</</arguments></tool_use> Done.",
    '<tool_use><name>f</name><arguments>{"a": 1}</argumentather", "args": {}}<|end_message|>>\n</tool_use>',
    '<tool_call>{"name": "f", "arg[<HOME>/root]<ents": {"a": "b\n```json\n{"name": "g", "c": 3}}\n</tool_call>\n<tool_call>\n'
    '{"name": "f", "arguments": {"path"limit:.md", "content": "```"k\\": [1]}\\n```\\n"}}\n</tool_call>',
    '<invoke name="f">\n<parameter name="a"></function>b</para<toolcall>eter>\n<parameter name="c">3</parameter></invok</e>',
    '<invoke name="f">\n<parameter name="a>b</p\tr>\n<parameter name="c">3</parameter>\n</invoke>\n<invoke name="f">\n'
    "</invoke>\n</function_calls>",
)


@pytest.mark.parametrize("calls", ["hold", "pass"])
@pytest.mark.parametrize("text", _SHARED_OPENERS)
def test_regions_that_share_an_opener_may_be_cut_anywhere(text: str, calls: Any) -> None:
    results = []
    for size in SIZES:
        extractor = StreamExtractor([{"name": "f", "schema": {"type": "object"}}], calls=calls)
        for piece in cut(text, size):
            extractor.feed(piece)
        extractor.close()
        results.append(extractor.result())
    assert all(result == results[-1] for result in results)


def test_a_call_whose_arguments_are_there_is_the_same_wherever_its_end_is_cut() -> None:
    """One grammar parses JSON behind `<tool_call>`. With a second one, which dialect won depended on the last character."""
    tools = [{"name": "f", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    for end in range(text.index("1}") + 2, len(text)):
        found = extract(text[:end], tools)
        assert [(call.source, call.arguments, call.fixes) for call in found.calls] == [
            ("hermes", {"a": 1}, ("closed_truncated",))
        ], text[:end]
