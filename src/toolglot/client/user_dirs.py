"""Directories for files that outlive a run. Without a home directory, a path still begins with ~."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """toolglot in $TOOLGLOT_CACHE, else in $XDG_CACHE_HOME, else in ~/.cache."""
    return at_home(os.environ.get("TOOLGLOT_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "toolglot"


def at_home(place: str) -> Path:
    return Path(os.path.expanduser(place))


def is_homeless(path: Path) -> bool:
    return str(path).startswith("~")
