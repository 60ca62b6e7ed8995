"""What a grammar is, and what it hears.

The hearer (pipeline/hear.py) looks for a grammar's openers in the text. Where one stands, it opens a region and feeds it
what follows until the region says where it ends; then the region reads itself, whole. A stream and a whole text so give the
same result, and no character is looked at twice while it streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from toolglot.core.tools import Tool

Tools = Mapping[str, Tool]  # by full name; empty where none are registered


class Heard(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call as a model wrote it, before anybody judged it."""

    name: str
    arguments: str  # JSON text where it was written so, however broken; else JSON text that the grammar made of it
    raw: str = ""  # the model's own characters
    id: str | None = None
    fixes: tuple[str, ...] = ()  # what the grammar itself had to put right, as reason codes
    closed: bool = True  # False: the text ended inside the call


class Parsed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a region turned out to be. No calls and no problem: it was no call at all, and goes back as text."""

    calls: tuple[Heard, ...] = ()
    problem: str | None = None  # a sentence: it was meant as a call, but can't be read as one
    rest: str = ""  # text that stood inside the region and belongs to no call
    entry: bool = False  # a name and an object with nothing that says what they are: so are the entries of files written, too


class Region(Protocol):
    """One place where a call may stand."""

    def feed(self, text: str, /) -> int:
        """The offset in `text` just behind the region's end, or -1 while it goes on. Each character is looked at once."""

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        """The region's whole text, opener and all. `complete`: its end was found; else the text broke off."""


class Grammar(Protocol):
    """Where regions of one notation begin."""

    @property
    def openers(self) -> tuple[str, ...]: ...
    def open(self, opener: str, /) -> Region: ...
