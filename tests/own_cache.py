"""The tests' own cache folder: nothing that a test does may reach the one of the user who runs it.

A hook sees each file that this process opens to write, and each toolglot that it starts with an environment that leads to the
user's cache.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolglot.client.user_dirs import cache_folder

HOME = os.path.expanduser("~")
USERS = Path(os.environ.get("XDG_CACHE_HOME") or f"{HOME}/.cache", "toolglot")
WEIGHTS = "weights"  # large, and the same for everyone: these are shared
leaks: list[str] = []  # since the test began
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def use_own_cache() -> None:
    """For this process and all that it starts."""
    weights = cache_folder() / WEIGHTS
    weights.mkdir(parents=True, exist_ok=True)
    own = tempfile.mkdtemp(prefix="toolglot-cache-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    os.environ["TOOLGLOT_CACHE"] = own
    cache_folder().mkdir()
    (cache_folder() / WEIGHTS).symlink_to(weights, target_is_directory=True)
    sys.addaudithook(_watch)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, (str, os.PathLike)) and flags & _WRITING and _is_users(os.fspath(path)):
            leaks.append(f"{path} is written")
    elif event == "subprocess.Popen":
        program, words, _, environ = arguments
        words = [words] if isinstance(words, (str, bytes, os.PathLike)) else words
        names = [os.path.basename(os.fsdecode(word)) for word in (program, *words)]
        is_ours = any(name.startswith(("toolglot", "import toolglot")) for name in names)
        if is_ours and environ is not None and _reaches_users(environ):
            leaks.append(f"{words} is started without TOOLGLOT_CACHE")


def _is_users(path: str | bytes) -> bool:
    text = os.fsdecode(path)
    return text.startswith(f"{USERS}{os.sep}") and not text.startswith(f"{USERS / WEIGHTS}{os.sep}")


def _reaches_users(environ: Mapping[Any, Any]) -> bool:
    """Whether a toolglot with these variables has the user's cache; without any of them Python asks the system."""
    known = {os.fsdecode(key): os.fsdecode(value) for key, value in environ.items()}
    if "TOOLGLOT_CACHE" in known:
        return False
    return Path(known.get("XDG_CACHE_HOME") or f"{known.get('HOME', HOME)}/.cache", "toolglot") == USERS
