"""The library's logger. It prints nothing unless the program sets up logging, as the command line does."""

from __future__ import annotations

import logging

log = logging.getLogger("toolglot")
log.addHandler(logging.NullHandler())  # without a handler Python would print warnings to stderr
