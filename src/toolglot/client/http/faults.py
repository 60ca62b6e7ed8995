"""Failures below HTTP: a small set of codes, each with advice.

A message names the host and the cause. It never contains a header, a query or a body, because they may contain keys.
"""

from __future__ import annotations

import ssl

import msgspec

from toolglot.errors import UpstreamError


class Meaning(msgspec.Struct, frozen=True):
    cause: str
    advice: str
    again: bool = True  # whether the same request may succeed a little later


CODES: dict[str, Meaning] = {
    "dns_failed": Meaning("the name can't be resolved", "check the host in base_url, and the network"),
    "connect_failed": Meaning("no connection", "check that the server runs, and its host and port"),
    "tls_failed": Meaning(
        "no secure connection",
        "check https, the host name and the certificate (private CA: ca_file of the upstream, or SSL_CERT_FILE)",
        False,
    ),
    "proxy_failed": Meaning(
        "the proxy rejected the request",
        "check its variable (HTTPS_PROXY, HTTP_PROXY), user and password, or name the host in NO_PROXY",
        False,
    ),
    "timeout_connect": Meaning("connect timeout", "check host, port and firewall, or allow a longer connect time"),
    "timeout_pool": Meaning("all connections are busy", "close responses after reading, or allow more connections per host"),
    "timeout_send": Meaning("send timeout", "check the network, or allow a longer idle time"),
    "timeout_first_byte": Meaning(
        "no response in time", "the model may still be loading: retry, or allow a longer first_byte time"
    ),
    "timeout_idle": Meaning("the response stalled", "retry, or allow a longer idle time"),
    "cut_off": Meaning("the connection broke before the response was complete", "retry; check the server's log if it persists"),
    "bad_answer": Meaning(
        "the response is not valid HTTP/1.1", "check that base_url points to an HTTP API, and http or https", False
    ),
    "too_large": Meaning("the response is larger than allowed", "increase Limits if this size is expected", False),
    "closed": Meaning("the transport is closed", "create a new one", False),
}


def transport_error(code: str, host: str, detail: str = "", *, again: bool | None = None) -> UpstreamError:
    """`detail` must be ours or the operating system's, never sent or received data."""
    meaning = CODES[code]
    cause = f"{meaning.cause} ({detail})" if detail else meaning.cause
    return UpstreamError(
        f"{host}: {cause}; {meaning.advice}", code=code, should_retry=meaning.again if again is None else again
    )


def tls_error(host: str, error: Exception) -> UpstreamError:
    """An invalid certificate fails again; a broken handshake may work in a retry."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return transport_error("tls_failed", host, error.verify_message)
    if isinstance(error, ssl.SSLError):
        return transport_error("tls_failed", host, (error.reason or "handshake failed").lower().replace("_", " "))
    return transport_error("tls_failed", host, "the connection broke during the handshake", again=True)


def system_message(error: OSError) -> str:
    """The operating system's message, without addresses and tuples."""
    return error.strerror or type(error).__name__
