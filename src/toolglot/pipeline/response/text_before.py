"""What stands before a call in a reply: open code fences, code spans and comments, and the line that the call is on.

Only punctuation and position are kept. Each character is examined once, and the result does not depend on chunk sizes.
"""

from __future__ import annotations

import re

import msgspec

_BUFFER = 4096  # characters that wait to be examined together, because most texts contain no call
_HEAD = 120  # characters of a line that are kept: enough for a fence and its info string
_FENCE = re.compile(r"(?:[ \t]|[>*+-][ \t]|\d{1,3}[.)][ \t])*+(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)")
_RUN_OR_LINE = re.compile(r"`+|\n")
_COMMENT = "-->"
_BLOCKS = {"<!--": _COMMENT, "<thinking>": "</thinking>", "<reasoning>": "</reasoning>"}  # opener -> closer
_BLOCK = re.compile(r"<!--|(?<=\n)[ \t]{0,8}+<(?:thinking|reasoning)>")
_TAIL = 24  # characters: more than an opener with its indent


class Fence(msgspec.Struct):
    """An open code fence. `only_calls`: so far it contains nothing but calls."""

    mark: str
    info: str = ""  # in lower case
    only_calls: bool = True
    above: str = ""  # the last line before it that is not blank


class Place(msgspec.Struct, frozen=True):
    """The place of a call, by the text before it."""

    first: bool  # only white space stands before it
    above: str  # the last line before its line that is not blank; only its last character if it is long
    line: str  # the beginning of its line
    last: str  # the character before it on its line
    in_code_span: bool
    in_comment: bool
    reasoning_closer: str  # of tags that mark reasoning in text; empty: it is not in such tags
    in_quotation: bool  # it continues a paragraph that contains a line with `>`
    fence: Fence | None

    @property
    def starts_line(self) -> bool:
        return not self.line.strip() and not self.last.strip()


class TextBefore:
    """The plain text of a reply so far, as far as it decides whether a call behind it is quoted."""

    __slots__ = (
        *("_above", "_any_text", "_block", "_block_tail", "_fence", "_last"),
        *("_line", "_new", "_quotation", "_run", "_size", "_span", "_waiting"),
    )

    def __init__(self) -> None:
        self._new: list[str] = []  # not yet examined
        self._waiting = 0  # its size
        self._any_text = False
        self._above = ""
        self._line = ""  # the beginning of the current line
        self._size = 0  # of the current line
        self._last = ""
        self._fence: Fence | None = None
        self._quotation = False
        self._run = 0  # backticks at the end of the text so far
        self._span = 0  # backticks that opened the code span of this line; 0: none is open
        self._block = ""  # the closer of the comment or the tags that are open
        self._block_tail = "\n"  # the end of the text so far: an opener or a closer may be split

    def add(self, text: str) -> None:
        self._new.append(text)
        self._waiting += len(text)
        if self._waiting >= _BUFFER:
            self._examine()

    def add_call(self) -> None:
        """A call stands here. It is not text, but it separates what is before it from what is behind it."""
        self._examine()
        self._end_run()
        self._last, self._block_tail = "", ""

    def place(self) -> Place:
        self._examine()
        self._end_run()
        fence = self._fence
        if fence is not None and fence.only_calls and self._line.strip():
            fence = msgspec.structs.replace(fence, only_calls=False)
        return Place(
            not self._any_text,
            self._above,
            self._line,
            self._last,
            in_code_span=self._span > 0,
            in_comment=self._block == _COMMENT,
            reasoning_closer=self._block if self._block != _COMMENT else "",
            in_quotation=self._quotation,
            fence=fence,
        )

    def _examine(self) -> None:
        text = "".join(self._new)
        if not text:
            return
        self._new, self._waiting = [], 0
        self._any_text = self._any_text or not text.isspace()
        if self._run or self._span or "`" in text:
            self._spans(text)
        self._blocks(text)
        *ended, rest = text.split("\n")
        for part in ended:
            self._extend(part)
            self._end_line()
        self._extend(rest)

    def _extend(self, part: str) -> None:
        if part:
            if self._size < _HEAD:
                self._line += part[: _HEAD - self._size]
            self._size += len(part)
            self._last = part[-1]

    def _end_line(self) -> None:
        found = _FENCE.fullmatch(self._line.rstrip()) if self._size <= _HEAD else None
        fence = self._fence
        if fence is None:
            self._fence = Fence(found["mark"], found["info"].strip().lower(), above=self._above) if found is not None else None
        elif found is not None and found["mark"].startswith(fence.mark) and not found["info"].strip():
            self._fence = None
        elif self._line.strip():
            fence.only_calls = False
        self._quotation = bool(self._line.strip()) and (self._quotation or self._line.lstrip().startswith(">"))
        if self._last and not self._line.isspace():
            self._above = (self._line if self._size <= _HEAD else self._last).rstrip()
        self._line, self._last, self._size = "", "", 0

    def _spans(self, text: str) -> None:
        """A run of backticks opens a code span, and a run of the same length on the same line closes it."""
        at = 0
        for found in _RUN_OR_LINE.finditer(text):
            if found.start() > at:
                self._end_run()
            if found[0] == "\n":
                self._run = self._span = 0
            else:
                self._run += len(found[0])
            at = found.end()
        if at < len(text):
            self._end_run()

    def _end_run(self) -> None:
        if self._run:
            self._span = self._run if not self._span else 0 if self._span == self._run else self._span
            self._run = 0

    def _blocks(self, text: str) -> None:
        seen, at = self._block_tail + text, 0
        while True:
            if self._block:
                closed = seen.find(self._block, at)
                if closed < 0:
                    break
                at, self._block = closed + len(self._block), ""
            opened = _BLOCK.search(seen, at)
            if opened is None:
                break
            at, self._block = opened.end(), _BLOCKS[opened[0].lstrip()]
        self._block_tail = seen[max(at, len(seen) - _TAIL) :]
