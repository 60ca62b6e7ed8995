"""Which calls in text are quoted, by their place and what follows."""

from __future__ import annotations

import pytest

from toolglot import StreamExtractor, extract

TOOLS = [
    {"name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}},
]
MARKED = '<tool_call>\n{"name": "find", "arguments": {"q": "x"}}\n</tool_call>'
JSON = '{"name": "find", "arguments": {"q": "x"}}'


def calls(text: str, dialect: str = "auto") -> int:
    return len(extract(text, TOOLS, dialect=dialect).calls)


@pytest.mark.parametrize("dialect", ["auto", "hermes"])
@pytest.mark.parametrize("above", ["Models write it so:", "\u4f8b\uff1a", "Shall I send this?", "a" * 200 + ":"])
def test_a_marked_call_in_a_fence_between_a_colon_and_more_text_is_an_example(above: str, dialect: str) -> None:
    assert calls(f"{above}\n\n```\n{MARKED}\n```\n\nThen it runs.", dialect) == 0
    assert calls(f"{above}\n\n```\n{MARKED}\n```", dialect) == 1
    assert calls(f"Now I look.\n\n```\n{MARKED}\n```\n\nPlease wait.", dialect) == 1


def test_a_fenced_form_may_stand_behind_a_colon_but_not_between_a_question_and_more_text() -> None:
    fenced = f"```json\n{JSON}\n```"
    assert calls(f"Now I look:\n{fenced}\nPlease wait.") == 1
    assert calls(f"Do you want this?\n{fenced}") == 1
    assert calls(f"Do you want this?\n{fenced}\nI wait for you.") == 0


@pytest.mark.parametrize("weak", [JSON, 'find(q="x")'])
def test_a_weak_form_that_continues_a_quotation_is_quoted(weak: str) -> None:
    assert calls(f">>> show()\n{weak}") == 0
    assert calls(f"> They asked.\n\n{weak}") == 1
    assert calls(f"> They asked.\n```json\n{JSON}\n```") == 1
    assert calls(f"> They asked.\n{MARKED}") == 1


@pytest.mark.parametrize("weak", [JSON, f"[{JSON}]", 'find(q="x")'])
@pytest.mark.parametrize("closer", ["</TOOLCALL>", "</longcat_tool_call>", "\n</function_calls>"])
def test_the_closing_tag_of_a_lost_opener_is_not_text(weak: str, closer: str) -> None:
    assert calls(weak + closer) == 1


def test_the_closing_tag_of_something_else_is_text() -> None:
    assert calls('Like this\n<code>\nfind(q="x")</code>') == 0


@pytest.mark.parametrize("tag", ["thinking", "reasoning"])
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("dialect", ["auto", "hermes"])
def test_a_call_in_reasoning_tags_counts_only_at_their_end(tag: str, size: int, dialect: str) -> None:
    texts = {
        f"<{tag}>\nI look.\n{MARKED}\n</{tag}>\nThe answer is 4.": 0,
        f"Hm.\n<{tag}>I look.\n{MARKED}\nThen I go on.\n</{tag}>": 0,
        f"<{tag}>I look.\n{MARKED}</{tag}>\n": 1,
        f"<{tag}>I look.\n{MARKED}": 1,
        f"<{tag}>I look.</{tag}>\n{MARKED}\nI found it.": 1,
        f"I close my <{tag}> first.\n{MARKED}\nI found it.": 1,  # not at the start of a line
    }
    for text, count in texts.items():
        extractor = StreamExtractor(TOOLS, dialect=dialect)
        for at in range(0, len(text), size):
            extractor.feed(text[at : at + size])
        extractor.close()
        assert len(extractor.result().calls) == count, text


def test_a_list_of_calls_may_stand_behind_a_colon_on_its_line() -> None:
    assert calls('I do both: [find(q="x"), find(q="y")]') == 2
    assert calls('A list [find(q="x")]') == 0
    assert calls('I do both: [find(q="x")] and more') == 0


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "The `<think>` tag opens reasoning.",
        "It ends with `<|im_end|>` or `<|eot_id|>`.",
        "`<|call|>` is a stop token.",
        "- (`<think>`)",
    ],
)
def test_a_marker_explained_in_a_code_span_is_text(text: str, size: int) -> None:
    stream = StreamExtractor()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.close()
    assert (stream.result().text, stream.result().reasoning) == (text, "")


@pytest.mark.parametrize("text", ["Use `f()`", "```\nx\n```", "`a` and ``b``"])
def test_a_token_behind_a_code_span_or_fence_is_dropped(text: str) -> None:
    assert extract(f"{text}<|im_end|>").text == text
