"""A small real HTTP server on loopback that answers as its table says: status and body by method and path."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

SERVERS = Path(__file__).parents[2] / "fixtures" / "servers"
Table = Mapping[str, tuple[int, bytes]]  # "GET /v1/models" -> status, body


def recorded(name: str) -> bytes:
    return (SERVERS / name).read_bytes()


class Discovery(NamedTuple):
    address: str
    asked: list[str]  # "GET /v1/models", in order, with the query
    bodies: list[bytes]
    headers: list[dict[str, str]]


@contextmanager
def discovery_server(table: Table) -> Iterator[Discovery]:
    found = Discovery("", [], [], [])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(f"{self.command} {self.path}")
            found.headers.append({name.lower(): value for name, value in self.headers.items()})
            found.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
            status, body = table.get(f"{self.command} {self.path.partition('?')[0]}", (404, b'{"error":"not found"}'))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found._replace(address=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
