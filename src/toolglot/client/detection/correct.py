"""A profile, corrected by what the server says. Pure.

The server is believed in what it knows: its template, its window, whether it takes tools. What it declares is not what the
model does, though: where a row says from measurement how to ask, and that tools are of no use there, the row stays. So does
what the user wrote. Whatever is at odds leaves a note.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.catalog.bare_names import billions
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import TAUGHT, profile
from toolglot.catalog.rows import FIELDS
from toolglot.catalog.templates import Template, read_template
from toolglot.client.detection.told import Told

_USERS = "your row"
_NO_ROW = ("guessed", "default", "it takes no tools itself")  # how the origin of a fact begins that no row gives
_CALLED = {
    "context_length": "context",
    "dialect": "dialect",
    "reasoning": "reasoning",
    "refuses": "what its template can't take",
    "supports_parallel": "parallel calls",
    "supports_tools": "tools",
}


def corrected(known: Profile, told: Told, kind: str, provider: str | None) -> Profile:
    if told.missing:
        return msgspec.structs.replace(known, notes=(*known.notes, *told.notes))
    known = _really(known, told, provider)
    fixing = _Fixing(known, told, kind)
    template = read_template(told.template) if told.template else None
    if template is not None:
        fixing.take_template(template)
    fixing.take_tools(template)
    fixing.take("context_length", told.context_length)
    if known.parameters is None:
        fixing.take("parameters", told.parameters or billions(told.runs))
    return fixing.profile()


def _really(known: Profile, told: Told, provider: str | None) -> Profile:
    """What runs under the name: `gpt-4` may be anything. What the weights call themselves counts where it tells nothing."""
    nothing = known.source.startswith("guessed: no row")
    name = told.runs or (told.made_of if nothing else "")
    if not name or name == known.model:
        return known
    other = profile(name, provider)
    if other.family == known.family or other.source.startswith("guessed"):
        return known
    note = f"the server runs {name} under this name: taken for {other.family}"
    if not nothing:
        note += f", not for {known.family}"
    return msgspec.structs.replace(other, model=known.model, notes=(*known.notes, note))


class _Fixing:
    def __init__(self, known: Profile, told: Told, kind: str) -> None:
        self.known, self.told, self.kind = known, told, kind
        self.origin = f"asked the server ({told.asked})"
        self.values: dict[str, Any] = {}
        row = _short(known.source)  # told in full by the new source
        self.facts = {field: known.facts.get(field, row) for field in FIELDS}
        self.notes = [*known.notes]

    def take(self, field: str, said: Any) -> None:
        """One fact, where the server tells it."""
        if said is None:
            return
        held, origin = getattr(self.known, field), self.facts[field]
        if said != held and origin.startswith(_USERS):
            self._note(field, said, held, origin, "which stays")
            return
        if said != held and not origin.startswith(_NO_ROW):
            self._note(field, said, held, origin, "the server is believed")
        self.values[field] = said
        self.facts[field] = self.origin

    def take_template(self, template: Template) -> None:
        self.take("dialect", template.dialect)
        self.take("reasoning", template.reasoning)
        self.take("refuses", tuple(dict.fromkeys((*template.refuses, *self.told.refuses))))

    def take_tools(self, template: Template | None) -> None:
        said = self.told.tools
        if said is None and template is not None:
            said = template.takes_tools
        if said is None:
            return
        known = self.known
        held = known.native.get(self.kind, known.supports_tools)
        if said and not held and known.ask not in {None, "native"}:
            self.notes.append(
                f"tools: the server says that it takes them, but what a server declares is not what the model does: "
                f"asked {known.ask}, as {_short(self.facts['ask'])} says"
            )
            return
        if said != held and known.source.startswith(_USERS):
            self._note("supports_tools", said, held, known.source, "which stays")
            return
        self._set_tools(said, held)

    def _set_tools(self, said: bool, held: bool) -> None:
        known = self.known
        if said != held and not self.facts["supports_tools"].startswith(_NO_ROW):
            self._note("supports_tools", said, held, self.facts["supports_tools"], "the server is believed")
        self.values |= {"supports_tools": said, "native": {**known.native, self.kind: said}}
        self.facts["supports_tools"] = self.origin
        if said:
            self.take("supports_parallel", self.told.parallel)
        elif known.ask == "native" and not self.facts["ask"].startswith(_USERS):
            self.values["ask"] = None
            self.facts["ask"] = self.origin
        own = self.values.get("dialect", known.dialect) or TAUGHT
        if not said and known.tool_format == "openai":
            self.values["tool_format"], self.facts["tool_format"] = own, "it takes no tools itself"
        elif said and known.facts.get("tool_format", "").startswith("it takes no tools"):
            self.values["tool_format"], self.facts["tool_format"] = "openai", self.origin

    def _note(self, field: str, said: Any, held: Any, origin: str, verdict: str) -> None:
        called = _CALLED.get(field, field)
        self.notes.append(f"{called}: the server says {_shown(said)}, {_short(origin)} says {_shown(held)}; {verdict}")

    def profile(self) -> Profile:
        source = f"{self.origin}, and {self.known.source}"
        facts = {field: origin for field, origin in self.facts.items() if origin != source}
        notes = dict.fromkeys((*self.notes, *self.told.notes))
        return msgspec.structs.replace(self.known, source=source, facts=facts, notes=tuple(notes), **self.values)


def _short(origin: str) -> str:
    return origin.partition(" (")[0]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(value) or "nothing"
    return "nothing" if value is None else str(value)
