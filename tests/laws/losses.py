"""The differences between two meanings, as paths; and the losses that fixtures/losses.toml declares."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import msgspec

from tests.laws.conversations import ROOT

# The provider's raw stop reason is not part of the meaning.
_IGNORED = frozenset({"reply.stop.raw", "reply.notes"})


class Loss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wire: str
    path: str
    why: str
    cases: tuple[str, ...] = ()  # where it occurs; empty: anywhere
    silent: bool = False  # inherent to the wire, so no note is needed (Ollama's replies have no id)


@cache
def losses() -> tuple[Loss, ...]:
    rows = tomllib.loads((ROOT / "losses.toml").read_text(encoding="utf-8"))["loss"]
    return tuple(msgspec.convert(rows, list[Loss]))


def declared(case: str, *wires: str, silent: bool | None = None) -> set[str]:
    """The paths that may differ in this case on these wires; `silent` keeps only the rows that are, or are not."""
    return {
        loss.path
        for loss in losses()
        if loss.wire in wires and (not loss.cases or case in loss.cases) and silent in (None, loss.silent)
    }


def differences(wanted: Any, got: Any, path: str) -> set[str]:
    """Paths (positions as *) where `got` differs from `wanted`."""
    return set(_walk(_plain(wanted), _plain(got), path)) - _IGNORED


def undeclared(found: set[str], allowed: set[str]) -> set[str]:
    """A declared path covers all that is below it."""
    return {path for path in found if not any(path == root or path.startswith(f"{root}.") for root in allowed)}


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value


def _walk(wanted: Any, got: Any, path: str) -> list[str]:
    if path.startswith("reply.usage.") and not wanted and not got:
        return []  # reported as none, or not reported
    if path.endswith(".arguments_json"):
        return [] if _same_json(wanted, got) else [path]
    if isinstance(wanted, dict) and isinstance(got, dict):
        # a wire may have more than the meaning (item ids, fingerprints), but not less
        known = set(wanted) if ".extra" in path else set(wanted) | set(got)
        keys = [key for key in known if key != "extra" or "extra" in wanted]
        return [found for key in keys for found in _walk(wanted.get(key), got.get(key), f"{path}.{key}")]
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        if len(wanted) != len(got):
            return [path]
        return [found for a, b in zip(wanted, got, strict=True) for found in _walk(a, b, f"{path}.*")]
    return [] if wanted == got else [path]


def _same_json(wanted: Any, got: Any) -> bool:
    if wanted == got:
        return True
    try:
        return bool(msgspec.json.decode(wanted or "{}") == msgspec.json.decode(got or "{}"))
    except (msgspec.MsgspecError, TypeError):
        return False
