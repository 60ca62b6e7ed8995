"""Whether a request fits into the model's context window: some servers cut a long prompt from the front without a word.

Tokens are estimated, not counted: what text costs differs from model to model. The estimate leans to the high side.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec

from toolglot.core.messages import Media, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Tool, made_once
from toolglot.text.json_text import encode

_TOKENS, _CHARACTERS = 2, 7  # so many in so many: English prose has about 4 characters a token, code and JSON about 3
_WIDE = 1.5  # characters a token where letters are not ASCII
_A_MESSAGE = 5  # what a template puts around one
_A_PICTURE = 800
_ANSWER = 512  # tokens that an answer needs at least


def estimate(text: str) -> int:
    if text.isascii():
        return len(text) * _TOKENS // _CHARACTERS + 1
    seen = text[:20_000]
    wide = (len(seen) - len(seen.encode("ascii", "ignore"))) * max(1.0, len(text) / 20_000)
    return int((len(text) - wide) * _TOKENS / _CHARACTERS + wide / _WIDE) + 1


def request_tokens(request: Request) -> int:
    """What the request costs, tools and all."""
    tokens = made_once(request.tools, "tokens", _tools) if request.tools else 0
    return tokens + _A_MESSAGE * len(request.messages) + _parts(chain.from_iterable([one.parts for one in request.messages]))


def _tools(tools: tuple[Tool, ...], _: str) -> int:
    return estimate(encode(tools).decode())


def _parts(parts: Iterable[Part]) -> int:
    """One loop for all that messages hold: every request passes here."""
    tokens = 0
    for part in parts:
        if type(part) is Text or type(part) is Reasoning:
            text = part.text
            tokens += len(text) * _TOKENS // _CHARACTERS + 1 if text.isascii() else estimate(text)
        elif type(part) is ToolCall:
            text = part.name + part.arguments_json
            tokens += (len(text) * _TOKENS // _CHARACTERS + 1 if text.isascii() else estimate(text)) + _A_MESSAGE
        elif type(part) is ToolResult:
            tokens += _parts(part.parts) + _A_MESSAGE
        elif type(part) is Media:
            tokens += _A_PICTURE
    return tokens


class Room(msgspec.Struct, frozen=True):
    """What a request needs, and what there is."""

    needed: int  # tokens, the answer included
    window: int | None  # what the server gives unless told otherwise; None: not known
    most: int | None  # what the model could take

    @property
    def short(self) -> bool:
        return self.window is not None and self.needed > self.window

    @property
    def larger(self) -> int | None:
        """A window that would do, in steps as servers like them; None where the model has none."""
        size = 4096
        while size < self.needed:
            size *= 2
        if self.most is None:
            return size
        return min(size, self.most) if self.needed <= self.most else None


def room(request: Request, default: int | None, most: int | None) -> Room:
    """`default` is the server's own window, `most` the model's."""
    window = min(known) if (known := [size for size in (default, most) if size is not None]) else None
    return Room(request_tokens(request) + (request.max_tokens or _ANSWER), window, most)
