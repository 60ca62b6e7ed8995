"""The longest time that the gateway's event loop answers nobody: a process of its own asks for /healthz all the time.

python bench/attack/stall.py PORT; each line on stdin is answered with the longest time since the one before, in milliseconds.
"""

from __future__ import annotations

import socket
import sys
import threading
import time

_REQUEST = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
_PAUSE = 0.005  # seconds


class Probe(threading.Thread):
    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self.longest = 0.0
        self.began: float | None = None

    def run(self) -> None:
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self._port)) as connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._ask(connection)
            except OSError:
                time.sleep(_PAUSE)

    def _ask(self, connection: socket.socket) -> None:
        while True:
            self.began = time.perf_counter()
            connection.sendall(_REQUEST)
            if not connection.recv(65536):
                return
            self.longest = max(self.longest, time.perf_counter() - self.began)
            time.sleep(_PAUSE)

    def take(self) -> float:
        waiting = time.perf_counter() - self.began if self.began is not None else 0.0
        longest, self.longest = max(self.longest, waiting), 0.0
        return longest * 1000


def main() -> None:
    probe = Probe(int(sys.argv[1]))
    probe.start()
    for _ in sys.stdin:
        print(f"{probe.take():.1f}", flush=True)


if __name__ == "__main__":
    main()
