"""The address of a provider: some rows contain names of environment variables, such as the region of an account."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from toolglot.catalog.providers import Provider
from toolglot.errors import CallerError

_VARIABLE = re.compile(r"\{([A-Z0-9_]+)\}")


def with_address(row: Provider, given: str | None = None, environ: Mapping[str, str] | None = None) -> Provider:
    """The row with its complete base URL: `given` by the caller, else with the values of the variables in it."""
    if given is not None:
        return msgspec.structs.replace(row, base_url=given.rstrip("/"))
    names = _VARIABLE.findall(row.base_url)
    if not names:
        return row
    values = {name: (os.environ if environ is None else environ).get(name, "").strip().rstrip("/") for name in names}
    missing = [name for name in values if not values[name]]
    if missing:
        raise CallerError(f"the address of {row.name} is not known: set {' and '.join(missing)}, or pass base_url", "base_url")
    return msgspec.structs.replace(row, base_url=_VARIABLE.sub(lambda found: values[found[1]], row.base_url))
