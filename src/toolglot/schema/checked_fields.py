"""Whether a struct that someone made by hand holds what its hints say: msgspec looks only at what it decodes."""

from __future__ import annotations

import msgspec

from toolglot.errors import CallerError


def check_fields(held: msgspec.Struct, where: str) -> None:
    try:
        msgspec.convert(msgspec.structs.asdict(held), type(held))
    except msgspec.ValidationError as error:
        raise CallerError(str(error).replace("`$.", "`"), where) from None
