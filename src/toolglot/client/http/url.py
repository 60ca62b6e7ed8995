"""Parsed URLs, cached."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, urlsplit

import msgspec

from toolglot.errors import CallerError

PORTS = {"http": 80, "https": 443}
_DOT_SEGMENT = re.compile(r"[/\\](?:\.|%2e){1,2}(?=[/\\:]|$)", re.IGNORECASE)
# Not quoted: what a URL may contain, and "%", so that encoded parts stay as they are.
_SAFE = "!#$%&'()*+,/:;=?@[]~-._"


class Target(msgspec.Struct, frozen=True):
    secure: bool
    host: str  # as the resolver takes it: no brackets, IDNA
    port: int
    authority: str  # the Host header: brackets around IPv6, no default port
    path: str  # path and query: may contain a key, never shown

    @property
    def shown(self) -> str:
        return self.authority

    def __repr__(self) -> str:
        return f"Target({self.authority!r})"


@lru_cache(256)
def parse_url(url: str) -> Target:
    """http and https only. An invalid URL is a CallerError that does not repeat the URL."""
    if any(character <= " " or character == "\x7f" for character in url):
        raise CallerError("contains a space or a control character", "url")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise CallerError("is not a valid URL", "url") from None
    if parts.scheme not in PORTS:
        raise CallerError("must begin with http:// or https://", "url")
    if "@" in parts.netloc:
        raise CallerError("contains a user or password; send them as a header", "url")
    if not parts.hostname or port == 0:
        raise CallerError("names no host and port", "url")
    if _DOT_SEGMENT.search(parts.path):  # a model's name may come from outside, and must not lead to another endpoint
        raise CallerError("contains . or .. as a part of its path", "url")
    host = _ascii_host(parts.hostname)
    default = PORTS[parts.scheme]
    named = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe=_SAFE)
    if parts.query:
        path += "?" + quote(parts.query, safe=_SAFE)
    return Target(parts.scheme == "https", host, port or default, named if port in {None, default} else f"{named}:{port}", path)


def check_base(url: str) -> str:
    """Validate the base URL of an API, and return it. Errors do not repeat it."""
    try:
        parse_url(url)
    except CallerError as error:
        raise CallerError(f"{error.problem}; an address is http(s)://host[:port][/path]", "base_url") from None
    if "?" in url or "#" in url:
        raise CallerError("an address is http(s)://host[:port][/path], with nothing behind it", "base_url")
    return url


def _ascii_host(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise CallerError("its host name is not a valid domain name", "url") from None
