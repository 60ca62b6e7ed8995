"""Resolve `provider/model` to a provider, a wire, a model and its profile. Other code does not compare names."""

from __future__ import annotations

import re

import msgspec

from toolglot.catalog.model_names import in_provider_form
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import Provider, providers, unknown
from toolglot.catalog.providers import provider as find_provider
from toolglot.core.interfaces import Quirks, Wire
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import CallerError
from toolglot.wires import NAMES, find_wire


class Route(msgspec.Struct, frozen=True):
    provider: Provider
    wire: Wire
    model: str
    profile: Profile

    def url(self, stream: bool) -> str:
        return provider_url(self.provider, self.wire.path(self.model, stream))


class WireFormat(msgspec.Struct, frozen=True):
    """A wire with a provider's quirks."""

    wire: Wire
    quirks: Quirks = Quirks()


def resolve(model: str, wire: str | None = None) -> Route:
    """Resolve `provider/model` to a Route. `wire`: another wire than the provider's default, if its server supports several."""
    name, slash, rest = model.partition("/") if isinstance(model, str) else ("", "", "")
    if not slash and name in providers() and providers()[name].default_model:
        rest = name  # the server chooses the model
    elif not slash or not rest:
        raise CallerError(f'a model is named "provider/model", as in "ollama/qwen3:8b"; got {model!r}', "model")
    row = find_provider(name)
    known = check_dialects(profile(rest, name))
    return Route(row, _require_wire(wire or row.wire), in_provider_form(rest, row.model_names), known)


def check_dialects(known: Profile) -> Profile:
    """Return the profile. Raises if it names an unknown dialect: the catalog does not know the dialects."""
    asked = known.ask.removeprefix("dialect:") if known.ask and known.ask.startswith("dialect:") else None
    for field, name in (("dialect", known.dialect), ("ask", asked)):
        if name is not None and find_dialect(name) is None:
            origin = known.facts.get(field, known.source)
            raise CallerError(unknown("dialect", name, known_dialects()), f"{origin}: {field}")
    return known


def wire_format(name: str) -> WireFormat:
    """Find a wire or a provider by name. A name of both means the wire."""
    wire = find_wire(name)
    if wire is not None:
        return WireFormat(wire)
    row = providers().get(name)
    if row is None:
        raise CallerError(unknown("wire or provider", name, [*NAMES, *providers()]))
    return WireFormat(_require_wire(row.wire), row.quirks)


def _require_wire(name: str) -> Wire:
    wire = find_wire(name)
    if wire is None:
        raise CallerError(unknown("wire", name, list(NAMES)))
    return wire


def normalize_model(name: str, provider: str) -> str:
    """A model's name as the provider wants it: `qwen3-coder:480b-cloud` is `qwen3-coder:480b` for Ollama's cloud.

    Examples:
        >>> normalize_model("qwen3-coder:480b-cloud", "ollama-cloud")
        'qwen3-coder:480b'
    """
    row = find_provider(provider)
    if not isinstance(name, str):
        raise CallerError(f"a model's name is text; got {name!r}", "name")
    return in_provider_form(name, row.model_names)


_VERSION = re.compile(r"/v\d+[a-z0-9]*$")


def provider_url(row: Provider, path: str) -> str:
    """The URL of a wire's path at this provider."""
    if row.versioned:
        return join_url(row.base_url, path)
    return f"{row.base_url.rstrip('/')}/{path.lstrip('/').partition('/')[2]}"


def join_url(base: str, path: str) -> str:
    """Join a base URL and a path. A version segment (`/v1`, `/v1beta`, `/api`) in both is kept once, from `base`.

    For a path below `/api`, a version at the end of `base` is dropped.
    """
    base = base.rstrip("/")
    head, _, tail = path.lstrip("/").partition("/")
    if (_VERSION.search(base) and _VERSION.fullmatch(f"/{head}")) or (head == "api" and base.endswith("/api")):
        return f"{base}/{tail}"
    if head == "api":
        base = _VERSION.sub("", base)
    return f"{base}/{head}/{tail}"
