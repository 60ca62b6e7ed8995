"""The head of a request as bytes, validated against header injection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from toolglot.client.http.url import Target
from toolglot.errors import CallerError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_METHOD = re.compile(r"[A-Z]{1,20}")
# The transport frames the message; other values would allow request smuggling.
_OURS = frozenset({"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


def request_head(
    method: str, target: Target, headers: Mapping[str, str], size: int, *, absolute: bool, proxy_auth: str | None
) -> bytes:
    """`absolute`: the whole URL in the first line, as proxies for plain http require it."""
    start = _start(method, target, tuple(headers.items()), absolute, proxy_auth)
    return start + b"Content-Length: %d\r\n\r\n" % size if size or method in _BODY_METHODS else start + b"\r\n"


@lru_cache(64)  # a client sends the same headers again and again
def _start(method: str, target: Target, headers: tuple[tuple[str, str], ...], absolute: bool, proxy_auth: str | None) -> bytes:
    """Everything but the length, checked."""
    if not _METHOD.fullmatch(method):
        raise CallerError("is not an HTTP method", "method")
    for name, value in headers:
        if not _NAME.fullmatch(name):
            raise CallerError("a header's name contains an invalid character", "headers")
        if not _VALUE.fullmatch(value):  # not shown: it may be a secret
            raise CallerError(f"{name} contains an invalid character", "headers")
    names = {name.lower() for name, _ in headers}
    if not _OURS.isdisjoint(names):
        raise CallerError(f"{min(_OURS & names)} is set by the transport; leave it out", "headers")
    where = f"http://{target.authority}{target.path}" if absolute else target.path
    ours = {"Host": target.authority, "Accept-Encoding": "identity", "User-Agent": "toolglot"}
    lines = [(name, value) for name, value in ours.items() if name.lower() not in names]
    if proxy_auth:
        lines.append(("Proxy-Authorization", proxy_auth))
    written = "".join(f"{name}: {value}\r\n" for name, value in (*lines, *headers))
    return f"{method} {where} HTTP/1.1\r\n{written}".encode("latin-1")
