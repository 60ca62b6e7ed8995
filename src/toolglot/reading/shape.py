"""Reading what a stranger sent: each value is either of the right shape, or a CallerError that says where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolglot.core.messages import Extra
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.text.json_text import shown

Body = dict[str, Any]

_JSON_NAMES = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}


def say(value: object) -> str:
    """What a value is, in JSON's words."""
    return "null" if value is None else _JSON_NAMES.get(type(value), type(value).__name__)


def misfit(key: str, wanted: str, value: object) -> CallerError:
    return CallerError(f"expected {wanted}, got {say(value)}", key)


def no_such_word(key: str, wanted: str, value: object) -> CallerError:
    """As `misfit`, where one of a few words was due: a wrong one is shown."""
    got = repr(shown(value, 40)) if isinstance(value, str) else say(value)
    return CallerError(f"expected {wanted}, got {got}", key)


def an_object(value: Any, key: str) -> Body:
    if isinstance(value, dict):
        return value
    raise misfit(key, "an object", value)


def a_list(value: Any, key: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise misfit(key, "a list", value)


def a_string(value: Any, key: str) -> str:
    if isinstance(value, str):
        return value
    raise misfit(key, "a string", value)


def each_object(value: Any, key: str, read: Callable[[Body], Any]) -> list[Any]:
    """`read` over a list of objects; an error inside says which one."""
    found = []
    for item in a_list(value, key):
        try:
            found.append(read(item if type(item) is dict else an_object(item, "")))
        except CallerError as error:
            raise error.within(f"{key}[{len(found)}]") from None
    return found


def beyond(held: Body, known: frozenset[str], wire: str) -> Extra:
    """What an object holds beyond the known keys, as `extra`."""
    if held.keys() <= known:
        return {}
    return {wire: {key: value for key, value in held.items() if key not in known}}


def or_none(read: Callable[[Any, str], Any], value: Any, key: str) -> Any:
    """`read` where there is a value; null and absent are None."""
    return None if value is None else read(value, key)


def a_number(value: Any, key: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise misfit(key, "a number", value)


def a_whole_number(value: Any, key: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise misfit(key, "a whole number", value)


def a_boolean(value: Any, key: str) -> bool:
    if isinstance(value, bool):
        return value
    raise misfit(key, "true or false", value)


def strings(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(a_string(item, f"{key}[{at}]") for at, item in enumerate(a_list(value, key)))


# The options that wires share, and how each is checked. A wire's own table says under which key it has which.
OPTIONS: dict[str, Callable[[Any, str], Any]] = {
    "max_tokens": a_whole_number,
    "temperature": a_number,
    "top_p": a_number,
    "top_k": a_whole_number,
    "stop": strings,
    "seed": a_whole_number,
    "presence_penalty": a_number,
    "frequency_penalty": a_number,
    "verbosity": a_string,
    "user": a_string,
    "parallel": a_boolean,
    "stream": a_boolean,
}
_WRITTEN = [field for field in OPTIONS if field not in ("parallel", "stream")]


def take_options(rest: Body, table: Mapping[str, str]) -> dict[str, Any]:
    """Pops a wire's option keys (key -> field) out of `rest`; null counts as absent."""
    found: dict[str, Any] = {}
    for key, field in table.items():
        if key in rest:
            value = rest.pop(key)
            if value is not None:
                found[field] = OPTIONS[field](value, key)
    return found


def put_options(request: Request, table: Mapping[str, str], body: Body, wire: str, notes: list[str]) -> None:
    """Writes the options a wire has (field -> key); notes those it has no place for."""
    for field in _WRITTEN:
        value = getattr(request, field)
        if value is None or value == ():
            continue
        key = table.get(field)
        if key is None:
            notes.append(f"{field}: {wire} has no such option; left out")
        else:
            body[key] = list(value) if field == "stop" else value


def own_extra(extra: Extra, wire: str, where: str, notes: list[str], family: str = "") -> Body:
    """What `extra` holds for this wire; what it holds for others is noted as left out."""
    if not extra:
        return {}
    own: Body = {}
    for name, held in extra.items():
        if name in (wire, family):
            own.update(held)
        elif held:
            notes.append(f"{where}: {', '.join(sorted(held))} is known to {name} alone; left out")
    return own
