"""Packages of the operating system that the project needs: `python3 tests/system_packages.py PACKAGE...`.

As root on Debian missing ones are installed. Elsewhere a line says what is missing, and the tests that need it are skipped.
Runs before anything else is installed: the standard library only.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def can_install() -> bool:
    return os.geteuid() == 0 and os.path.exists("/etc/debian_version") and shutil.which("apt-get") is not None


def find_browser() -> str | None:
    return next((path for path in map(shutil.which, _BROWSERS) if path), None)


def find_program(name: str) -> str | None:
    """Debian's servers are in a directory that not every user's PATH has."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return sys.platform != "linux"  # elsewhere it is not needed, or has another name
    return True


_PRESENT = {
    "chromium": lambda: find_browser() is not None,  # tests of the gateway's page
    "libatomic1": lambda: _loads("libatomic.so.1"),  # the driver of that browser
    "libgomp1": lambda: _loads("libgomp.so.1"),  # embedded models
    "nginx": lambda: find_program("nginx") is not None,  # in front of two gateways
    "redis-server": lambda: find_program("redis-server") is not None,  # shared state
    "python3-venv": lambda: find_spec("ensurepip") is not None,  # .venv; Debian's Python comes without
}


def missing(packages: Iterable[str]) -> list[str]:
    return [package for package in packages if not _PRESENT[package]()]


def main(packages: list[str]) -> None:
    wanted = missing(packages)
    if wanted and can_install():
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted]
        print(f"installing {', '.join(wanted)} ...", flush=True)  # noqa: T201
        subprocess.run(["apt-get", "update", "-qq"], env=environ, check=True)  # noqa: S607
        subprocess.run(install, env=environ, check=True, stdout=subprocess.DEVNULL)
    elif wanted:
        print(f"missing: {', '.join(wanted)} (installed by itself only as root on Debian)")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
