"""Request validation: each value has the expected type, or a CallerError names the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolglot.core.messages import Extra, Opaque
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.io.json_codec import preview

Body = dict[str, Any]

_JSON_NAMES = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}


def json_type(value: object) -> str:
    """The JSON type of a value, for messages."""
    return "null" if value is None else _JSON_NAMES.get(type(value), type(value).__name__)


def wrong_type(key: str, wanted: str, value: object) -> CallerError:
    return CallerError(f"expected {wanted}, got {json_type(value)}", key)


def not_one_of(key: str, wanted: str, value: object) -> CallerError:
    """As `wrong_type`, for an enumeration: the message shows the wrong value."""
    got = repr(preview(value, 40)) if isinstance(value, str) else json_type(value)
    return CallerError(f"expected {wanted}, got {got}", key)


def require_object(value: Any, key: str) -> Body:
    if isinstance(value, dict):
        return value
    raise wrong_type(key, "an object", value)


def require_list(value: Any, key: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise wrong_type(key, "a list", value)


def require_string(value: Any, key: str) -> str:
    if isinstance(value, str):
        return value
    raise wrong_type(key, "a string", value)


def read_each(value: Any, key: str, read: Callable[[Body], Any]) -> list[Any]:
    """`read` over a list of objects; an error inside names the index."""
    found = []
    for item in require_list(value, key):
        try:
            found.append(read(item if type(item) is dict else require_object(item, "")))
        except CallerError as error:
            raise error.within(f"{key}[{len(found)}]") from None
    return found


def unknown_keys(obj: Body, known: frozenset[str]) -> Body:
    """The part of an object that is not under the known keys; null counts as absent."""
    if obj.keys() <= known:
        return {}
    return {key: value for key, value in obj.items() if key not in known and value is not None}


def unknown_extra(obj: Body, known: frozenset[str], wire: str) -> Extra:
    """The same as a wire's `extra`."""
    rest = unknown_keys(obj, known)
    return {wire: rest} if rest else {}


def optional(read: Callable[[Any, str], Any], value: Any, key: str) -> Any:
    """`read` if there is a value; null and absent are None."""
    return None if value is None else read(value, key)


def require_number(value: Any, key: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise wrong_type(key, "a number", value)


def require_integer(value: Any, key: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise wrong_type(key, "a whole number", value)


def require_boolean(value: Any, key: str) -> bool:
    if isinstance(value, bool):
        return value
    raise wrong_type(key, "true or false", value)


def require_strings(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(require_string(item, f"{key}[{at}]") for at, item in enumerate(require_list(value, key)))


# The options that wires share, and their validators. Each wire has a table of its keys.
OPTIONS: dict[str, Callable[[Any, str], Any]] = {
    "max_tokens": require_integer,
    "temperature": require_number,
    "top_p": require_number,
    "top_k": require_integer,
    "stop": require_strings,
    "seed": require_integer,
    "presence_penalty": require_number,
    "frequency_penalty": require_number,
    "verbosity": require_string,
    "user": require_string,
    "parallel": require_boolean,
    "stream": require_boolean,
}
_WRITABLE = [field for field in OPTIONS if field not in ("parallel", "stream")]


def take_options(rest: Body, table: Mapping[str, str]) -> dict[str, Any]:
    """Removes a wire's option keys (key -> field) from `rest`; null counts as absent."""
    found: dict[str, Any] = {}
    for key, field in table.items():
        if key in rest:
            value = rest.pop(key)
            if value is not None:
                found[field] = OPTIONS[field](value, key)
    return found


def put_options(request: Request, table: Mapping[str, str], body: Body, wire: str, notes: list[str]) -> None:
    """Writes the options that a wire has (field -> key); notes those it lacks."""
    for field in _WRITABLE:
        value = getattr(request, field)
        if value is None or value == ():
            continue
        key = table.get(field)
        if key is None:
            notes.append(f"{field}: {wire} has no such option; left out")
        else:
            body[key] = list(value) if field == "stop" else value


def wire_block(part: Opaque, wire: str, notes: list[str], where: str = "") -> Body | None:
    """An opaque block of this wire. One of another wire is left out, with a note."""
    if part.wire == wire:
        return part.block
    notes.append(f"{where}a block that only {part.wire} has ({part.block.get('type', '?')}) was left out")
    return None


def no_place_in_reply(wire: str, kind: str, owner: str | None, notes: list[str]) -> None:
    """Notes that a block of a reply is left out. `owner`: of an opaque block, the wire that has it."""
    what = f"block that only {owner} has" if kind == "opaque" else "image or file"
    notes.append(f"reply: {wire} has no place for a {what}; left out")


def wire_extra(extra: Extra, wire: str, where: str, notes: list[str], family: str = "") -> Body:
    """The fields of `extra` for this wire; those for other wires are left out, with a note."""
    if not extra:
        return {}
    extras: Body = {}
    for name, fields in extra.items():
        if name in (wire, family):
            extras.update(fields)
        elif fields:
            notes.append(f"{where}: {', '.join(sorted(fields))} exists only on {name}; left out")
    return extras
