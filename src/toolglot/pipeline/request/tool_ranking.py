"""Rank tools by how well they match the conversation, for models that can't handle all of them.

BM25 over the words of a tool's name, description and parameters. Stop words and a light English stem are fine here, because
this only ranks: no call is accepted, rejected or changed by it. Tools that the caller names, or that were called before,
come first. The tools stay the same from one question to the next.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset

_WORD = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ings", "ing", "es", "ed", "s")  # city and cities, file and files are the same word
_STOP_WORDS = frozenset(
    _WORD.findall("""
    about all also am an and any are as at be been but by can could do does for from get give had has have he her his how if in
    into is it its know like me my need no not of on one or our out please she should so some that the their them then there
    these they this to up us use used using want was we were what when where which who will with would you your
    """)
)

_K1, _B = 1.5, 0.75  # saturation of repeated words, and penalty of long texts
_NAME, _ABOUT, _PARAMETERS = 3.0, 1.0, 0.5  # the weight of a word by its place
_TOOL_TEXT = 8000  # characters indexed per tool
_MESSAGES = 8  # the number of latest messages that count
_MESSAGE_TEXT = 8000  # characters that count per text
_DECAY = 0.8  # weight of each older message


def most_relevant(
    tools: tuple[Tool, ...], most: int, messages: tuple[Message, ...], choice: Choice | None
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """The tools to keep, in their order, and those to leave out. Server tools stay, and are not counted."""
    ours = [at for at, tool in enumerate(tools) if tool.kind != "server"]
    if len(ours) <= most:
        return tools, ()
    messages = _up_to_question(messages)
    scores = _scores(tools, messages)
    by_score = sorted(scores, key=lambda at: (-scores[at], at))
    ranked = [at for at in dict.fromkeys((*by_score, *ours)) if tools[at].kind != "server"]
    called = {part.full_name for message in messages for part in message.parts if isinstance(part, ToolCall)}
    wanted = set(choice.names) if choice is not None else set()
    for names in (called, wanted):
        if names:
            ranked.sort(key=lambda at: names.isdisjoint((tools[at].name, tools[at].full_name)))
    left_out = set(ranked[most:])
    kept = Toolset(tool for at, tool in enumerate(tools) if at not in left_out)
    return kept, tuple(tool for at, tool in enumerate(tools) if at in left_out)


def search(tools: tuple[Tool, ...], query: str, most: int) -> tuple[Tool, ...]:
    """The tools that share a word with the query, the best first. A tool that it names comes before all others."""
    if not tools:
        return ()
    question = Message("user", (Text(query),))
    scores = _scores(tools, (question,))
    named = {at for at, tool in enumerate(tools) if query.strip() in (tool.name, tool.full_name)}
    ranked = sorted(scores.keys() | named, key=lambda at: (at not in named, -scores.get(at, 0.0), at))
    return tuple(tools[at] for at in ranked[:most])


def _up_to_question(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The conversation up to the last question: what the model does then does not change its tools, which would change the
    start of the prompt with every step. A user message right after results belongs to them.
    """
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user" and (not at or messages[at - 1].role != "tool"):
            return messages[: at + 1]
    return messages


def _scores(tools: tuple[Tool, ...], messages: tuple[Message, ...]) -> dict[int, float]:
    """Position of a tool to its score; only tools that share a word with the conversation."""
    index = cached_for_toolset(tools, "BM25 index", _index)
    scores: defaultdict[int, float] = defaultdict(float)
    for word, weight in _query(messages).items():
        for at, score in index.get(word, ()):
            scores[at] += weight * score
    return scores


def _query(messages: tuple[Message, ...]) -> dict[str, float]:
    """The words of the latest messages with their weights, newer messages first."""
    weights: dict[str, float] = {}
    weight = 1.0
    for message in reversed([one for one in messages if one.role in ("user", "assistant")][-_MESSAGES:]):
        for part in message.parts:
            if isinstance(part, Text):
                for word in _words(part.text[:_MESSAGE_TEXT]):
                    weights.setdefault(word, weight)
        weight *= _DECAY
    return weights


def _index(tools: tuple[Tool, ...], _: str) -> dict[str, list[tuple[int, float]]]:
    """Each word with the tools that have it and its BM25 score there."""
    counts = [_counts(tool) for tool in tools]
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / len(tools) or 1.0
    tools_with = Counter(word for count in counts for word in count)
    index: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for at, (count, length) in enumerate(zip(counts, lengths, strict=True)):
        damping = _K1 * (1 - _B + _B * length / average)
        for word, times in count.items():
            rarity = math.log(1 + (len(tools) - tools_with[word] + 0.5) / (tools_with[word] + 0.5))
            index[word].append((at, rarity * times * (_K1 + 1) / (times + damping)))
    return dict(index)


def _counts(tool: Tool) -> dict[str, float]:
    """How often each word is in the tool, by the weight of where it is."""
    counts: defaultdict[str, float] = defaultdict(float)
    for text, weight in _texts(tool):
        for word in _words(text):
            counts[word] += weight
    return counts


def _texts(tool: Tool) -> Iterator[tuple[str, float]]:
    yield tool.full_name, _NAME
    yield (tool.description or "")[:_TOOL_TEXT], _ABOUT
    space = _TOOL_TEXT
    for text in _parameter_texts(tool.schema):
        yield text[:space], _PARAMETERS
        space -= len(text) + 1
        if space <= 0:
            return


def _parameter_texts(schema: object) -> Iterator[str]:
    """Names, descriptions and enumerated values of parameters, at any depth."""
    left = [schema]
    while left:
        found = left.pop()
        if isinstance(found, list):
            left += reversed(found)
        elif isinstance(found, dict):
            properties, description, enum = found.get("properties"), found.get("description"), found.get("enum")
            if isinstance(properties, dict):
                yield from properties
                left += reversed(properties.values())
            if isinstance(description, str):
                yield description
            if isinstance(enum, list):
                yield from (one for one in enum if isinstance(one, str))
            left += reversed([one for key, one in found.items() if key != "properties"])


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(_CAMEL.sub(" ", text).lower()):
        if word not in _STOP_WORDS:
            yield _stem(word)


def _stem(word: str) -> str:
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    stem = word.removesuffix(ending)
    return f"{stem[:-1]}i" if stem.endswith("y") else stem.removesuffix("e") if len(stem) > 3 else stem
