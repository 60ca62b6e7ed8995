"""The scanner on a small grammar: text, reasoning and regions, for any chunk sizes, in linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.pipeline.response.tool_call_scanner import (
    CallFound,
    Piece,
    ReasoningPiece,
    TextPiece,
    ToolCallScanner,
    scanner_config,
)


class Tag:
    """`<call>name</call>`; a name in capitals can't be read, one with a space is none."""

    openers = ("<call>",)

    def open(self, opener: str) -> Tag:
        return Tag()

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> int:
        joined = self._tail + text
        at = joined.find("</call>")
        if at >= 0:
            return at + 7 - len(self._tail)
        self._tail = joined[-6:]
        return -1

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        name = text.removeprefix("<call>").removesuffix("</call>")
        if " " in name or not name:
            return RegionResult()
        if name.isupper():
            return RegionResult(problem=f"{name} can't be read")
        return RegionResult((ParsedCall(name, "{}", text, closed=complete),))


def nothing(*_: object) -> str:
    return ""


DIALECT = Dialect("small", (Tag(),), nothing, nothing, nothing, dropped=("<|end|>",))
CONFIG = scanner_config([DIALECT], {})


def scanned(pieces: list[str], *, thinking: bool = False) -> list[Piece]:
    scanner = ToolCallScanner(CONFIG, starts_in_reasoning=thinking)
    found = [piece for text in pieces for piece in scanner.feed(text)] + scanner.close()
    joined: list[Piece] = []
    for piece in found:
        last = joined[-1] if joined else None
        if isinstance(piece, TextPiece) and isinstance(last, TextPiece):
            joined[-1] = TextPiece(last.text + piece.text)
        elif isinstance(piece, ReasoningPiece) and isinstance(last, ReasoningPiece):
            joined[-1] = ReasoningPiece(last.text + piece.text)
        else:
            joined.append(piece)
    return joined


def summary(pieces: list[Piece]) -> list[object]:
    """Calls as names, the rest as it is."""
    return [[call.name for call in piece.parsed.calls] if isinstance(piece, CallFound) else piece for piece in pieces]


CASES: dict[str, tuple[str, list[object]]] = {
    "plain": ("hello", [TextPiece("hello")]),
    "a call": ("<call>f</call>", [["f"]]),
    "text around": ("a <call>f</call> b", [TextPiece("a "), ["f"], TextPiece(" b")]),
    "two": ("<call>f</call>\n<call>g</call>", [["f"], TextPiece("\n"), ["g"]]),
    "no call": ("see <call> here <call>f</call>", [TextPiece("see "), TextPiece("<call> here "), ["f"]]),
    "a thought": ("<think>hm</think>yes<call>f</call>", [ReasoningPiece("hm"), TextPiece("yes"), ["f"]]),
    "an end without a beginning": ("a</think>b", [TextPiece("a</think>b")]),
    "dropped": ("a<|end|>", [TextPiece("a")]),
    "kept: the text around it would form a token": ("a <|<|end|>im_start|>", [TextPiece("a <|<|end|>im_start|>")]),
    "kept: the text around it would form a marker": ("<ca<|end|>ll>f</call>", [TextPiece("<ca<|end|>ll>f</call>")]),
    "almost": ("<cal <<call <thin", [TextPiece("<cal <<call <thin")]),
    "cut": ("<call>f", [["f"]]),
    "unreadable": ("<call>F</call>x", [[], TextPiece("x")]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_what_is_found(name: str, size: int) -> None:
    text, wanted = CASES[name]
    found = summary(scanned([text[at : at + size] for at in range(0, len(text), size)]))
    flat: list[object] = []
    for piece in wanted:
        last = flat[-1] if flat else None
        if isinstance(piece, TextPiece) and isinstance(last, TextPiece):
            flat[-1] = TextPiece(last.text + piece.text)
        else:
            flat.append(piece)
    assert found == flat


def test_reasoning_that_began_in_the_prompt() -> None:
    assert scanned(["hm</think>yes"], thinking=True) == [ReasoningPiece("hm"), TextPiece("yes")]
    assert scanned(["hm"], thinking=True) == [ReasoningPiece("hm")]


PARTS = ["<call>", "</call>", "f", "F", " ", "<", "<think>", "</think>", "<|end|>", "x", "\n", "<ca", "ll>"]


@given(st.lists(st.sampled_from(PARTS), max_size=14), st.lists(st.integers(0, 60), max_size=6), st.booleans())
def test_chunk_sizes_do_not_matter_and_no_character_is_lost(parts: list[str], cuts: list[int], thinking: bool) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole = scanned([text], thinking=thinking)
    assert scanned([text[a:b] for a, b in pairwise(places)], thinking=thinking) == whole
    kept = "".join(piece.text for piece in whole if isinstance(piece, TextPiece | ReasoningPiece | CallFound))
    for marker in ("<think>", "</think>", "<|end|>"):
        kept, text = kept.replace(marker, ""), text.replace(marker, "")
    assert kept == text or sorted(kept) == sorted(text)


@given(
    st.lists(st.sampled_from(["<|", "<", "|", "end", "|>", ">", "<|end|>", "call", "im_start", "[", "X]", " "]), max_size=12)
)
def test_dropping_a_token_forms_no_other_token(parts: list[str]) -> None:
    text = "".join(parts)
    kept = "".join(piece.text for piece in scanned([text]) if isinstance(piece, TextPiece))
    for token in ("<|im_start|>", "<call>", "<|call|>", "[X]"):
        assert token in text or token not in kept


@pytest.mark.parametrize("flood", ["<", "<call>", "<call> ", "<call>F", "<think>", "x", "<call>f</call>"])
def test_work_is_linear(flood: str) -> None:
    text = flood * (30_000 // len(flood))
    for size in (1, 7, 1000):
        scanner = ToolCallScanner(CONFIG)
        for at in range(0, len(text), size):
            scanner.feed(text[at : at + size])
        scanner.close()
        assert scanner.examined <= 8 * len(text)


class UpTo:
    """A call that ends so many characters behind `<up>`, perhaps with fixes. Its name is its length."""

    openers = ("<up>",)

    def __init__(self, length: int, *fixes: str) -> None:
        self._length, self._fixes, self._seen = length, fixes, 0

    def open(self, opener: str) -> UpTo:
        return UpTo(self._length, *self._fixes)

    def feed(self, text: str) -> int:
        before, self._seen = self._seen, self._seen + len(text)
        return self._length - before if self._seen >= self._length else -1

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        return RegionResult((ParsedCall(str(self._length), "{}", text, fixes=self._fixes),))


# those that listen, in order -> the one that is believed
RIVALS: list[tuple[list[UpTo], str]] = [
    ([UpTo(20), UpTo(10)], "20"),  # the first, where it ends soon behind the other
    ([UpTo(10), UpTo(20)], "10"),
    ([UpTo(60), UpTo(10)], "10"),  # not where that is far
    ([UpTo(60), UpTo(50), UpTo(10)], "10"),
    ([UpTo(60), UpTo(10, "repaired")], "60"),  # unless the other needed repair
]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("at", range(len(RIVALS)))
def test_which_of_several_is_believed(at: int, size: int) -> None:
    rivals, name = RIVALS[at]
    scanner = ToolCallScanner(scanner_config([Dialect("rivals", tuple(rivals), nothing, nothing, nothing)], {}))
    text = "<up>" + "x" * 100
    found = [piece for start in range(0, len(text), size) for piece in scanner.feed(text[start : start + size])]
    assert summary(found + scanner.close())[0] == [name]


class Digits(Tag):
    """Shares the opener, but its body begins with a digit."""

    opened = 0

    def open(self, opener: str) -> Tag:
        type(self).opened += 1
        return Digits()

    def feed(self, text: str) -> int:
        first = text.lstrip()[:1]
        return text.index(first) + 1 if first and not first.isdigit() and not self._tail else super().feed(text)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        name = text.removeprefix("<call>").removesuffix("</call>").strip()
        return RegionResult((ParsedCall(name, "{}", text, closed=complete),)) if name[:1].isdigit() else RegionResult()


@pytest.mark.parametrize("size", [1, 3, 100])
def test_only_grammars_that_can_go_on_as_the_text_does_are_opened(size: int) -> None:
    config = scanner_config([Dialect("digits", (Digits(), Tag()), nothing, nothing, nothing)], {})
    text = "<call>f</call> <call>f</call> <call> f</call>"
    names: list[list[str]] = []
    for _ in range(3):
        before = Digits.opened
        scanner = ToolCallScanner(config)
        pieces = [piece for at in range(0, len(text), size) for piece in scanner.feed(text[at : at + size])]
        found = [piece for piece in pieces + scanner.close() if isinstance(piece, CallFound)]
        names.append([call.name for piece in found for call in piece.parsed.calls])
    assert names == [["f", "f"]] * 3  # a name with a space is not a call
    assert Digits.opened == before  # that it goes on neither with `f` nor with ` f` is known by then


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("text", ["<call>", "<call>  ", "a <call> ", "<call>" + " " * 40, "<call>" + " " * 40 + "f</call>"])
def test_an_opener_with_nothing_behind_it_is_text(text: str, size: int) -> None:
    config = scanner_config([Dialect("digits", (Digits(), Tag()), nothing, nothing, nothing)], {})
    scanner = ToolCallScanner(config)
    pieces = [piece for at in range(0, len(text), size) for piece in scanner.feed(text[at : at + size])] + scanner.close()
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == text
