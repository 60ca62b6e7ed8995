"""A port for a server of another program, which can't be given a socket."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """Nobody else gets it meanwhile: not as the port of a new server, not as that of an outgoing connection.

    A socket that is bound and does not listen has it. A server may bind it besides if it names it and sets SO_REUSEADDR, as
    servers do.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
