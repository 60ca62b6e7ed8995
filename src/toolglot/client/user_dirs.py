"""Directories for files that outlive a run. Without a home directory, a path still begins with ~."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def cache_folder() -> Path:
    """toolglot in $TOOLGLOT_CACHE, else in $XDG_CACHE_HOME, else in ~/.cache."""
    return at_home(os.environ.get("TOOLGLOT_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "toolglot"


def at_home(place: str) -> Path:
    return Path(os.path.expanduser(place))


def is_homeless(path: Path) -> bool:
    return str(path).startswith("~")


def open_private(path: Path) -> int:
    """A descriptor to append to a file that only its owner can read. Missing folders are created the same way."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
    if os.name == "posix" and stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
        with suppress(PermissionError):  # another owner's, who may share it
            os.fchmod(descriptor, 0o600)
    return descriptor
