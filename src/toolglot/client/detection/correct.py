"""A catalog profile, corrected by what the server reports. Pure.

The server wins in what it knows: its template, its window, whether it takes tools. But its declaration is not a measurement:
where a catalog row was measured to need another tool mode than native, the row wins. So do the user's rows. Each contradiction
leaves a note.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import DEFAULT_DIALECT
from toolglot.catalog.rows import FIELDS
from toolglot.client.detection.identity import identified
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.detection.templates import Template

_USERS = "your row"
_NO_ROW = ("guessed", "default", "it takes no tools itself")  # how the origin of a fact begins that is in no row
_LABELS = {
    "context_length": "context",
    "dialect": "dialect",
    "reasoning": "reasoning",
    "refuses": "what its template can't take",
    "supports_parallel": "parallel calls",
    "supports_tools": "tools",
    "vision": "images",
    "ask": "the tool mode",
}


def corrected(known: Profile, server: ServerFacts, kind: str, provider: str | None) -> Profile:
    if server.missing:
        return msgspec.structs.replace(known, notes=(*known.notes, *server.notes))
    known = identified(known, server, provider)
    correction = _Correction(known, server, kind)
    if server.template is not None:
        correction.take_template(server.template)
    correction.take("dialect", server.dialect)
    correction.take_tools()
    correction.take("vision", server.vision)
    correction.take("ask", server.ask)
    correction.take("context_length", server.context_length)
    return correction.profile()


class _Correction:
    def __init__(self, known: Profile, server: ServerFacts, kind: str) -> None:
        self.known, self.server, self.kind = known, server, kind
        self.origin = f"asked the server ({server.endpoint})"
        self.values: dict[str, Any] = {}
        row = _short(known.source)  # the new source has it in full
        self.facts = {field: known.facts.get(field, row) for field in FIELDS}
        self.notes = [*known.notes]

    def take(self, field: str, reported: Any) -> None:
        """One fact, where the server reports it."""
        if reported is None:
            return
        current, origin = getattr(self.known, field), self.facts[field]
        if reported != current and origin.startswith(_USERS):
            self._note(field, reported, current, origin, "yours is used")
            return
        if reported != current and not origin.startswith(_NO_ROW):
            self._note(field, reported, current, origin, "the server's value is used")
        self.values[field] = reported
        self.facts[field] = self.origin

    def take_template(self, template: Template) -> None:
        self.take("dialect", template.dialect)
        self.take("reasoning", template.reasoning)
        self.take("refuses", tuple(dict.fromkeys((*template.refuses, *self.server.refuses))))

    def take_tools(self) -> None:
        reported = self.server.tools
        if reported is None and self.server.template is not None:
            reported = self.server.template.takes_tools
        if reported is None:
            return
        known = self.known
        current = known.native.get(self.kind, known.supports_tools)
        if reported and not current and known.ask not in {None, "native"}:
            self.notes.append(
                f"tools: the server declares support, but {_short(self.facts['ask'])} sets ask = {known.ask}, which is used"
            )
            return
        if reported != current and known.source.startswith(_USERS):
            self._note("supports_tools", reported, current, known.source, "yours is used")
            return
        self._set_tools(reported, current)

    def _set_tools(self, reported: bool, current: bool) -> None:
        known = self.known
        if reported != current and not self.facts["supports_tools"].startswith(_NO_ROW):
            self._note("supports_tools", reported, current, self.facts["supports_tools"], "the server's value is used")
        self.values |= {"supports_tools": reported, "native": {**known.native, self.kind: reported}}
        self.facts["supports_tools"] = self.origin
        if reported:
            self.take("supports_parallel", self.server.parallel)
        elif known.ask == "native" and not self.facts["ask"].startswith(_USERS):
            self.values["ask"] = None
            self.facts["ask"] = self.origin
        dialect = self.values.get("dialect", known.dialect) or DEFAULT_DIALECT
        if not reported and known.tool_format == "openai":
            self.values["tool_format"], self.facts["tool_format"] = dialect, "it takes no tools itself"
        elif reported and known.facts.get("tool_format", "").startswith("it takes no tools"):
            self.values["tool_format"], self.facts["tool_format"] = "openai", self.origin

    def _note(self, field: str, reported: Any, current: Any, origin: str, verdict: str) -> None:
        label = _LABELS.get(field, field)
        self.notes.append(f"{label}: the server says {_shown(reported)}, {_short(origin)} says {_shown(current)}; {verdict}")

    def profile(self) -> Profile:
        source = f"{self.origin}, and {self.known.source}"
        facts = {field: origin for field, origin in {**self.known.facts, **self.facts}.items() if origin != source}
        notes = dict.fromkeys((*self.notes, *self.server.notes))
        return msgspec.structs.replace(self.known, source=source, facts=facts, notes=tuple(notes), **self.values)


def _short(origin: str) -> str:
    return origin.partition(" (")[0]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(value) or "nothing"
    return "nothing" if value is None else str(value)
