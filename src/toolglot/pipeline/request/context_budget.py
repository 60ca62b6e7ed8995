"""Check whether a request fits the context window: some servers silently cut the beginning of a long prompt.

Tokens are estimated, not counted, because tokenizers differ. The estimate is rather high.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec

from toolglot.core.messages import Media, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Tool, cached_for_toolset
from toolglot.io.json_codec import encode

_TOKENS, _CHARACTERS = 2, 7  # tokens per characters: English has about 4 characters per token, code and JSON about 3
_CHARACTERS_NON_ASCII = 1.5  # characters per token of text that is not ASCII
_PER_MESSAGE = 5  # added by the chat template
_PER_IMAGE = 800
_ANSWER = 512  # tokens reserved for the answer


def estimate(text: str) -> int:
    if text.isascii():
        return len(text) * _TOKENS // _CHARACTERS + 1
    sample = text[:20_000]
    wide = (len(sample) - len(sample.encode("ascii", "ignore"))) * max(1.0, len(text) / 20_000)
    return int((len(text) - wide) * _TOKENS / _CHARACTERS + wide / _CHARACTERS_NON_ASCII) + 1


def request_tokens(request: Request) -> int:
    """Estimated tokens of the request, including tools."""
    tokens = cached_for_toolset(request.tools, "tokens", _tools) if request.tools else 0
    return tokens + _PER_MESSAGE * len(request.messages) + _parts(chain.from_iterable([one.parts for one in request.messages]))


def _tools(tools: tuple[Tool, ...], _: str) -> int:
    return estimate(encode(tools).decode())


def _parts(parts: Iterable[Part]) -> int:
    """One flat loop: this runs for every request."""
    tokens = 0
    for part in parts:
        if type(part) is Text or type(part) is Reasoning:
            text = part.text
            tokens += len(text) * _TOKENS // _CHARACTERS + 1 if text.isascii() else estimate(text)
        elif type(part) is ToolCall:
            text = part.name + part.arguments_json
            tokens += (len(text) * _TOKENS // _CHARACTERS + 1 if text.isascii() else estimate(text)) + _PER_MESSAGE
        elif type(part) is ToolResult:
            tokens += _parts(part.parts) + _PER_MESSAGE
        elif type(part) is Media:
            tokens += _PER_IMAGE
    return tokens


class ContextBudget(msgspec.Struct, frozen=True):
    """The tokens that a request needs, and the size of the window."""

    needed: int  # tokens, the answer included
    window: int | None  # of the server as configured; None: unknown
    most: int | None  # the model's limit; None: unknown

    @property
    def short(self) -> bool:
        return self.window is not None and self.needed > self.window

    @property
    def larger(self) -> int | None:
        """A sufficient window, in powers of two; None if the model's limit is too small."""
        size = 4096
        while size < self.needed:
            size *= 2
        if self.most is None:
            return size
        return min(size, self.most) if self.needed <= self.most else None


def context_budget(request: Request, default: int | None, most: int | None) -> ContextBudget:
    """`default` is the server's window, `most` the model's limit."""
    window = min(known) if (known := [size for size in (default, most) if size is not None]) else None
    return ContextBudget(request_tokens(request) + (request.max_tokens or _ANSWER), window, most)
