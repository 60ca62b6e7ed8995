"""The hearer itself, on a small grammar: text, thoughts and regions, in any cutting, in linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.pipeline.hear import Found, Hearer, Piece, Said, Thought, ear


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

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        name = text.removeprefix("<call>").removesuffix("</call>")
        if " " in name or not name:
            return Parsed()
        if name.isupper():
            return Parsed(problem=f"{name} can't be read")
        return Parsed((Heard(name, "{}", text, closed=complete),))


def nothing(*_: object) -> str:
    return ""


DIALECT = Dialect("small", (Tag(),), nothing, nothing, nothing, dropped=("<|end|>",))
EAR = ear([DIALECT], {})


def heard(pieces: list[str], *, thinking: bool = False) -> list[Piece]:
    hearer = Hearer(EAR, starts_in_reasoning=thinking)
    found = [piece for text in pieces for piece in hearer.feed(text)] + hearer.close()
    joined: list[Piece] = []
    for piece in found:
        last = joined[-1] if joined else None
        if isinstance(piece, Said) and isinstance(last, Said):
            joined[-1] = Said(last.text + piece.text)
        elif isinstance(piece, Thought) and isinstance(last, Thought):
            joined[-1] = Thought(last.text + piece.text)
        else:
            joined.append(piece)
    return joined


def told(pieces: list[Piece]) -> list[object]:
    """Calls as names, the rest as it is."""
    return [[call.name for call in piece.parsed.calls] if isinstance(piece, Found) else piece for piece in pieces]


CASES: dict[str, tuple[str, list[object]]] = {
    "plain": ("hello", [Said("hello")]),
    "a call": ("<call>f</call>", [["f"]]),
    "text around": ("a <call>f</call> b", [Said("a "), ["f"], Said(" b")]),
    "two": ("<call>f</call>\n<call>g</call>", [["f"], Said("\n"), ["g"]]),
    "no call": ("see <call> here <call>f</call>", [Said("see "), Said("<call> here "), ["f"]]),
    "a thought": ("<think>hm</think>yes<call>f</call>", [Thought("hm"), Said("yes"), ["f"]]),
    "an end without a beginning": ("a</think>b", [Said("a</think>b")]),
    "dropped": ("a<|end|>", [Said("a")]),
    "almost": ("<cal <<call <thin", [Said("<cal <<call <thin")]),
    "cut": ("<call>f", [["f"]]),
    "unreadable": ("<call>F</call>x", [[], Said("x")]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_what_is_heard(name: str, size: int) -> None:
    text, wanted = CASES[name]
    found = told(heard([text[at : at + size] for at in range(0, len(text), size)]))
    flat: list[object] = []
    for piece in wanted:
        last = flat[-1] if flat else None
        if isinstance(piece, Said) and isinstance(last, Said):
            flat[-1] = Said(last.text + piece.text)
        else:
            flat.append(piece)
    assert found == flat


def test_a_thought_that_began_in_the_prompt() -> None:
    assert heard(["hm</think>yes"], thinking=True) == [Thought("hm"), Said("yes")]
    assert heard(["hm"], thinking=True) == [Thought("hm")]


PARTS = ["<call>", "</call>", "f", "F", " ", "<", "<think>", "</think>", "<|end|>", "x", "\n", "<ca", "ll>"]


@given(st.lists(st.sampled_from(PARTS), max_size=14), st.lists(st.integers(0, 60), max_size=6), st.booleans())
def test_any_cutting_is_heard_alike_and_no_character_is_lost(parts: list[str], cuts: list[int], thinking: bool) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole = heard([text], thinking=thinking)
    assert heard([text[a:b] for a, b in pairwise(places)], thinking=thinking) == whole
    kept = "".join(piece.text for piece in whole if isinstance(piece, Said | Thought | Found))
    for marker in ("<think>", "</think>", "<|end|>"):
        kept, text = kept.replace(marker, ""), text.replace(marker, "")
    assert kept == text or sorted(kept) == sorted(text)


@pytest.mark.parametrize("flood", ["<", "<call>", "<call> ", "<call>F", "<think>", "x", "<call>f</call>"])
def test_work_is_linear(flood: str) -> None:
    text = flood * (30_000 // len(flood))
    for size in (1, 7, 1000):
        hearer = Hearer(EAR)
        for at in range(0, len(text), size):
            hearer.feed(text[at : at + size])
        hearer.close()
        assert hearer.examined <= 8 * len(text)


class UpTo:
    """A call that is over so many characters behind `<up>`, perhaps one that had to be mended; its name is its length."""

    openers = ("<up>",)

    def __init__(self, length: int, *fixes: str) -> None:
        self._length, self._fixes, self._seen = length, fixes, 0

    def open(self, opener: str) -> UpTo:
        return UpTo(self._length, *self._fixes)

    def feed(self, text: str) -> int:
        before, self._seen = self._seen, self._seen + len(text)
        return self._length - before if self._seen >= self._length else -1

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        return Parsed((Heard(str(self._length), "{}", text, fixes=self._fixes),))


# those that listen, in order -> the one that is believed
RIVALS: list[tuple[list[UpTo], str]] = [
    ([UpTo(20), UpTo(10)], "20"),  # the first, where it ends soon behind the other
    ([UpTo(10), UpTo(20)], "10"),
    ([UpTo(60), UpTo(10)], "10"),  # not where that is far
    ([UpTo(60), UpTo(50), UpTo(10)], "10"),
    ([UpTo(60), UpTo(10, "mended")], "60"),  # unless the other had to mend
]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("at", range(len(RIVALS)))
def test_which_of_several_is_believed(at: int, size: int) -> None:
    rivals, name = RIVALS[at]
    hearer = Hearer(ear([Dialect("rivals", tuple(rivals), nothing, nothing, nothing)], {}))
    text = "<up>" + "x" * 100
    found = [piece for start in range(0, len(text), size) for piece in hearer.feed(text[start : start + size])]
    assert told(found + hearer.close())[0] == [name]
