"""How an exchange can fail below HTTP: a small set of codes, each with what to do.

A message names the host and the cause; it never holds a header, a query or a body, for keys travel in them.
"""

from __future__ import annotations

import ssl

import msgspec

from toolglot.errors import UpstreamError


class Meaning(msgspec.Struct, frozen=True):
    said: str
    advice: str
    again: bool = True  # whether the same request may succeed a little later


CODES: dict[str, Meaning] = {
    "dns_failed": Meaning("the name can't be resolved", "check the host in base_url, and the network"),
    "connect_failed": Meaning("no connection", "check that the server runs, and its host and port"),
    "tls_failed": Meaning(
        "no secure connection", "check https, the host name and the certificate (own authority: SSL_CERT_FILE)", False
    ),
    "proxy_failed": Meaning(
        "the proxy refused",
        "check its variable (HTTPS_PROXY, HTTP_PROXY), user and password, or name the host in NO_PROXY",
        False,
    ),
    "timeout_connect": Meaning("no connection in time", "check host, port and firewall, or allow a longer connect time"),
    "timeout_pool": Meaning("all connections stayed busy", "close answers that are read, or allow more connections a host"),
    "timeout_send": Meaning("the request was not taken in time", "check the network, or allow a longer idle time"),
    "timeout_first_byte": Meaning(
        "no answer in time", "the model may still be loading: ask again, or allow a longer first_byte time"
    ),
    "timeout_idle": Meaning("the answer stalled", "ask again, or allow a longer idle time"),
    "cut_off": Meaning("the connection broke before the answer was whole", "ask again; look into the server's log if it stays"),
    "bad_answer": Meaning(
        "what came is not valid HTTP/1.1", "check that base_url points to an HTTP API, and http or https", False
    ),
    "too_large": Meaning("the answer is larger than allowed", "allow more in Limits, if it is meant to be so large", False),
    "closed": Meaning("the transport is closed", "make a new one", False),
}


def fault(code: str, host: str, detail: str = "", *, again: bool | None = None) -> UpstreamError:
    """`detail` must come from us or from the operating system, never from what was sent or received."""
    meaning = CODES[code]
    cause = f"{meaning.said} ({detail})" if detail else meaning.said
    return UpstreamError(
        f"{host}: {cause}; {meaning.advice}", code=code, should_retry=meaning.again if again is None else again
    )


def tls_fault(host: str, error: Exception) -> UpstreamError:
    """A certificate that is refused now is refused again; a handshake that broke may go well next time."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return fault("tls_failed", host, error.verify_message)
    if isinstance(error, ssl.SSLError):
        return fault("tls_failed", host, (error.reason or "handshake failed").lower().replace("_", " "))
    return fault("tls_failed", host, "the connection broke during the handshake", again=True)


def system_words(error: OSError) -> str:
    """What the operating system says, without addresses and tuples around it."""
    return error.strerror or type(error).__name__
