"""Certificates and host names are always checked."""

from __future__ import annotations

import ssl


def tls_context() -> ssl.SSLContext:
    """The system's authorities; SSL_CERT_FILE and SSL_CERT_DIR are read by OpenSSL, now."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
