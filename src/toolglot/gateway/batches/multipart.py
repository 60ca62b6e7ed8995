"""Reads the fields of a `multipart/form-data` body."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesHeaderParser

import msgspec

from toolglot.errors import CallerError

_MAX_FIELDS = 32


class FormField(msgspec.Struct, frozen=True):
    value: bytes
    filename: str = ""

    @property
    def text(self) -> str:
        return self.value.decode("utf-8", "replace")


def read_form(content_type: str, body: bytes) -> dict[str, FormField]:
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/form-data" or not boundary:
        raise CallerError("must be multipart/form-data", "content-type")
    first, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1", "replace"), _MAX_FIELDS + 1)
    if first.strip() or not parts or not parts[-1].startswith(b"--"):
        raise CallerError("the form is cut off, or has too many fields")
    return dict(map(_field, parts[:-1]))


def _field(part: bytes) -> tuple[str, FormField]:
    head, found, value = part.partition(b"\r\n\r\n")
    headers = BytesHeaderParser().parsebytes(head.lstrip() + b"\r\n\r\n")
    name = headers.get_param("name", header="content-disposition")
    if not found or not isinstance(name, str):
        raise CallerError("a field of the form has no name")
    return name, FormField(value, headers.get_filename() or "")
