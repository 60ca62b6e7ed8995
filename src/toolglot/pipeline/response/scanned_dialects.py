"""Which dialects a text is scanned for: all of them, one first, or one alone."""

from __future__ import annotations

from functools import lru_cache

from toolglot.catalog.providers import unknown
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.dialects import BEST_KNOWN, all_dialects, find_dialect, known_dialects
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import with_nonce
from toolglot.pipeline.response.tool_call_scanner import ScannerConfig, scanner_config

_WITH_NONCE = "tagged"  # the dialect of a nonce, unless the caller names one


def scanner_for(
    tools: Toolset, dialect: str | Dialect, policy: str, nonce: str | None = None, *, weak_forms: bool = True
) -> ScannerConfig:
    """The scanner configuration: the named dialect first, then the others unless the policy is strict.

    With a nonce only one dialect is scanned for, under any policy: calls in the others could be injected. Without weak forms,
    only marked ones are, and the named dialect.
    """
    if dialect != "auto" and _named(dialect) is None:
        raise CallerError(unknown("dialect", dialect, ["auto", *known_dialects()]), "dialect")
    if nonce is not None:
        marked = with_nonce(_named(_WITH_NONCE if dialect == "auto" else dialect), nonce)  # type: ignore[arg-type]
        return scanner_config([marked], {tool.full_name: tool for tool in tools})
    others = "none" if policy == "strict" and dialect != "auto" else "all" if weak_forms and policy != "strict" else "marked"
    return cached_for_toolset(tools, ("scanner", dialect, others), _scanner_config)


def _named(dialect: str | Dialect) -> Dialect | None:
    return dialect if isinstance(dialect, Dialect) else find_dialect(dialect)


def _scanner_config(tools: tuple[Tool, ...], key: tuple[str, str | Dialect, str]) -> ScannerConfig:
    _, dialect, others = key
    first = [found] if (found := _named(dialect)) else []
    more = [one for one in _all_dialects() if one not in first and others != "none" and not (others == "marked" and one.weak)]
    return scanner_config([*first, *more], {tool.full_name: tool for tool in tools})


@lru_cache(1)
def _all_dialects() -> tuple[Dialect, ...]:
    """Marked forms before weak ones, the best known first."""
    rank = {name: at for at, name in enumerate(BEST_KNOWN)}
    return tuple(sorted(all_dialects(), key=lambda one: (one.weak, rank.get(one.name, len(rank)), one.name)))
