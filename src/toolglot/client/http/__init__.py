"""HTTP/1.1 over asyncio: one pooled transport, small enough to read."""

from toolglot.client.http.proxy import Proxies
from toolglot.client.http.sender import HttpTransport

__all__ = ["HttpTransport", "Proxies"]
