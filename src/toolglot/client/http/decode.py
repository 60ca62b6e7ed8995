"""Decompresses bodies in steps, so that no zip bomb fills the memory. Some servers compress although we request `identity`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_STEP = 256 * 1024
_GZIP, _ZLIB, _RAW = 31, 15, -15


class CodingError(Exception):
    """The bytes do not match content-encoding."""


class Decompressor:
    """One coding: gzip (several members too), or deflate with or without its zlib head."""

    def __init__(self, coding: str) -> None:
        self._window = _ZLIB if coding == "deflate" else _GZIP
        self._unzip = zlib.decompressobj(self._window)
        self._begun = False
        self._first = b""  # buffered until the kind of deflate is known

    @property
    def whole(self) -> bool:
        return self._unzip.eof or not (self._begun or self._first)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The unpacked bytes, at most `_STEP` at a time."""
        if not self._begun:
            data = self._first = self._first + data
            if len(data) < 2:
                return
            self._begun = True
            if self._window == _ZLIB and not _has_zlib_head(data):
                self._window = _RAW  # as some servers send it
                self._unzip = zlib.decompressobj(_RAW)
        full = False  # the last step was full: more output may follow without further input
        while data or full:
            if self._unzip.eof:
                self._unzip = zlib.decompressobj(self._window)
            try:
                piece = self._unzip.decompress(data, _STEP)
            except zlib.error:
                raise CodingError from None
            data = self._unzip.unconsumed_tail or self._unzip.unused_data
            full = len(piece) == _STEP and not self._unzip.eof
            if piece:
                yield piece


def decompressor(coding: str) -> Decompressor | None:
    """None: the body is not compressed. CodingError: an unsupported coding."""
    named = coding.strip().lower()
    if named in {"", "identity"}:
        return None
    if named in {"gzip", "x-gzip", "deflate"}:
        return Decompressor(named)
    raise CodingError


def _has_zlib_head(data: bytes) -> bool:
    """RFC 1950: method 8, and the two bytes as a number are a multiple of 31."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
