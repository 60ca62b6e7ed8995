"""Validates the field types of a struct that was built in code: msgspec checks types only when it decodes."""

from __future__ import annotations

import msgspec

from toolglot.errors import CallerError


def check_fields(struct: msgspec.Struct, where: str) -> None:
    try:
        msgspec.convert(msgspec.structs.asdict(struct), type(struct))
    except msgspec.ValidationError as error:
        raise CallerError(str(error).replace("`$.", "`"), where) from None
