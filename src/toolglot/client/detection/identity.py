"""Which model a server runs, whatever it is called: what the server shows, then whose chat template it has, then the name.

The first evidence that names a known family decides, and is kept as the source of the fact `family`. Pure.
"""

from __future__ import annotations

import msgspec

from toolglot.catalog.model_names import billions
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import profile, rows_of
from toolglot.client.detection.server_facts import ServerFacts

_ITS_NAME = "its name"


def identified(known: Profile, server: ServerFacts, provider: str | None) -> Profile:
    """The profile of the model that runs. `known` is the profile of its name."""
    found = _by_shown_name(known, server, provider) or _by_template(known, server, provider)
    if found is None:
        found = msgspec.structs.replace(known, facts={**known.facts, "family": _ITS_NAME})
    return _sized(found, server)


def _by_shown_name(known: Profile, server: ServerFacts, provider: str | None) -> Profile | None:
    for field, name in server.names:
        other = profile(name, provider)
        if not other.source.startswith("guessed"):
            return _renamed(known, other, f"{server.endpoint}: {field} {name}", f"the server runs {name} under this name")
    return None


def _by_template(known: Profile, server: ServerFacts, provider: str | None) -> Profile | None:
    """A template is the family's, and the name may be more exact: `qwen2.5-coder` has that of `qwen2.5`."""
    families = server.families or (server.template.families if server.template is not None else ())
    if not families:
        return None
    fits = not set(families).isdisjoint(rows_of(known.model))
    other = known if fits else profile(families[0], provider)
    return _renamed(known, other, f"{server.endpoint}: its chat template", f"its chat template is that of {families[0]}")


def _renamed(known: Profile, other: Profile, evidence: str, shown: str) -> Profile:
    found = known if other.family == known.family else other
    facts = {**found.facts, "family": evidence}
    notes = known.notes
    if found is not known:
        instead = "" if known.source.startswith("guessed: no row") else f", not for {known.family}"
        notes = (*notes, f"{shown}: taken for {other.family}{instead}")
    return msgspec.structs.replace(found, model=known.model, facts=facts, notes=notes)


def _sized(found: Profile, server: ServerFacts) -> Profile:
    """The size: in a name that the server shows, else as the server counts it, else in the model's name."""
    shown = next(((field, size) for field, name in server.names if (size := billions(name)) is not None), None)
    field, size = shown or ("the weights", server.parameters)
    if size is None:
        size, origin = billions(found.model), _ITS_NAME
    else:
        origin = f"asked the server ({server.endpoint}): {field}"
    facts = {**found.facts, "parameters": origin} if size is not None else found.facts
    return msgspec.structs.replace(found, parameters=size, facts=facts)
