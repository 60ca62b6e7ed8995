"""Check whether a request fits the context window: some servers silently cut the beginning of a long prompt.

Tokens are estimated, not counted, because tokenizers differ. The estimate is rather high.
"""

from __future__ import annotations

import msgspec

from toolglot.core.conversation import contents
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
    found = contents(request.messages)
    if all(map(str.isascii, found.texts)):
        tokens += found.characters * _TOKENS // _CHARACTERS + len(found.texts)
    else:
        tokens += sum(map(estimate, found.texts))
    framed = len(request.messages) + len(found.calls) + len(found.results)
    return tokens + _PER_MESSAGE * framed + _PER_IMAGE * len(found.media)


def _tools(tools: tuple[Tool, ...], _: str) -> int:
    return estimate(encode(tools).decode())


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
