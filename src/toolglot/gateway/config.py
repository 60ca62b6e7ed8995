"""`toolglot.toml`: read, checked, and complained about with the line and the key.

`[[model]]`, a user's own rows about models, stands in the same file; the catalog reads it.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from toolglot.catalog.providers import Provider, provider, unknown
from toolglot.catalog.rows import read_rows
from toolglot.client.keys import Secret, find_key
from toolglot.errors import CallerError
from toolglot.gateway.toml_lines import key_lines
from toolglot.gateway.upstream import Upstream, as_upstream
from toolglot.pipeline.guard_calls import Policy
from toolglot.pipeline.ways import read_way

T = TypeVar("T")
_TABLES = ("server", "upstream", "route", "model")
_SECRET = ("keys", "api_key")
_SIZES = ("max_body", "max_header", "max_depth", "max_tools", "max_concurrent")
_TIMES = ("ping", "client_timeout", "connect_timeout", "first_byte_timeout", "idle_timeout")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+")
MEMORY = "memory"


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[server]`. Sizes in bytes, times in seconds; a rate of 0 is no limit."""

    host: str = "127.0.0.1"
    port: int = 8484
    keys: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()  # of pages that may use it from a browser; "*": all, where there are keys
    record: bool = False  # keep what was said, not only codes
    otel: bool | None = None  # OpenTelemetry; None: where the environment asks for it
    detect: bool = True  # ask servers about their models, where that decides how they are asked
    store: str = MEMORY  # where Responses' conversations are kept: memory, or a file
    max_body: int = 32 * 1024 * 1024
    max_header: int = 64 * 1024
    max_depth: int = 128
    max_tools: int = 1024
    max_concurrent: int = 256  # requests at a time, for each key
    rate: float = 0.0  # requests a second, for each key
    burst: int = 0  # how many may come at once; 0: twice the rate
    ping: float = 15.0  # silence on a stream after which the client gets a sign of life
    client_timeout: float = 60.0  # how long a client may take to send its request, or to take what it is sent
    connect_timeout: float = 10.0
    first_byte_timeout: float = 600.0
    idle_timeout: float = 120.0


class RouteRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[route]]`: the first that matches wins; the next ones are asked where it fails before it has said anything."""

    model: str
    to: str
    ask: str = "auto"
    policy: Policy = "balanced"
    calls: Literal["hold", "pass"] = "hold"
    mend: int = 1

    @property
    def upstream(self) -> str:
        return self.to.partition("/")[0]

    @property
    def target(self) -> str | None:
        """The model at the upstream; None: whatever the client calls it."""
        name = self.to.partition("/")[2]
        return None if name == "*" else name


class UpstreamRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    provider: str
    base_url: str | None = None
    api_key: str | None = None
    wire: str | None = None


class Config(msgspec.Struct, frozen=True):
    server: Server = Server()
    keys: tuple[Secret, ...] = ()
    upstreams: dict[str, Upstream] = {}
    routes: tuple[RouteRow, ...] = ()


def read_config(text: str, file: str = "toolglot.toml", environ: Mapping[str, str] | None = None) -> Config:
    """The configuration, or a CallerError whose place is `file, line N, [table] key`."""
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CallerError(f"is no TOML: {error}", file) from None
    return _Reading(held, text, file, os.environ if environ is None else environ).config()


class _Reading:
    def __init__(self, held: dict[str, Any], text: str, file: str, environ: Mapping[str, str]) -> None:
        self._held, self._file, self._environ = held, file, environ
        self._lines = key_lines(text)

    def config(self) -> Config:
        for name in self._held:
            if name not in _TABLES:
                raise self._wrong(unknown("table", name, list(_TABLES)), name, 0, "")
        read_rows(self._held.get("model", []), self._file)
        server = self._row("server", 0, self._held.get("server", {}), Server)
        keys = tuple(self._key(at, key) for at, key in enumerate(server.keys))
        self._check_server(server, keys)
        upstreams: dict[str, Upstream] = {}
        for at, row in enumerate(self._rows("upstream", UpstreamRow)):
            if row.name in upstreams:
                raise self._wrong(f"there is another upstream {row.name!r}", "upstream", at, "name")
            if not row.name or "/" in row.name:
                raise self._wrong("an upstream's name is a word without a slash", "upstream", at, "name")
            upstreams[row.name] = self._upstream(at, row)
        routes = self._rows("route", RouteRow)
        for at, route in enumerate(routes):
            self._check_route(at, route, upstreams)
        return Config(server, keys, upstreams, tuple(routes))

    # -- rows

    def _rows(self, table: str, of: type[T]) -> list[T]:
        held = self._held.get(table, [])
        if not isinstance(held, list):
            raise self._wrong(f"is written [[{table}]], one for each", table, 0, "")
        return [self._row(table, at, row, of) for at, row in enumerate(held)]

    def _row(self, table: str, at: int, row: Any, of: type[T]) -> T:
        """Key by key first, so that what is wrong is named with its line."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(of)}  # type: ignore[arg-type]
        for key, value in row.items() if isinstance(row, dict) else ():
            if key not in fields:
                raise self._wrong(unknown("key", key, list(fields)), table, at, key)
            try:
                msgspec.convert(value, fields[key].type)
            except msgspec.ValidationError as error:
                raise self._wrong(_told(error, key, value, fields[key].type), table, at, key) from None
        try:
            return msgspec.convert(row, of)
        except msgspec.ValidationError as error:
            raise self._wrong(str(error), table, at, "") from None

    def _wrong(self, problem: str, table: str, at: int, key: str) -> CallerError:
        line = self._lines.get((table, at, key)) or self._lines.get((table, at, ""))
        place = f"{self._file}, line {line}" if line else self._file
        return CallerError(problem, f"{place}, [{table}] {key}".rstrip())

    def _at(self, table: str, at: int, key: str, work: Callable[[], T]) -> T:
        try:
            return work()
        except CallerError as error:
            raise self._wrong(error.problem, table, at, key) from None

    # -- what the values must be beyond their types

    def _key(self, at: int, key: str) -> Secret:
        row = Provider("", "", "bearer", "", name="the gateway")
        found = self._at("server", 0, "keys", lambda: find_key(row, key, self._environ))
        if found is None:
            raise self._wrong(f"key {at + 1} is empty", "server", 0, "keys")
        return found

    def _check_server(self, server: Server, keys: tuple[Secret, ...]) -> None:
        if not 0 <= server.port <= 65535:
            raise self._wrong(f"a port is 0 to 65535; got {server.port}", "server", 0, "port")
        for key in _SIZES + _TIMES:
            if not getattr(server, key) > 0:  # which NaN is not either
                raise self._wrong("must be more than 0", "server", 0, key)
        for key in ("rate", "burst"):
            if not getattr(server, key) >= 0:
                raise self._wrong("must not be less than 0", "server", 0, key)
        for origin in server.cors_origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                told = f'an origin is scheme://host[:port], without a path, or "*"; got {origin!r}'
                raise self._wrong(told, "server", 0, "cors_origins")
        if "*" in server.cors_origins and not keys:
            raise self._wrong('"*" lets every page use your models, and there are no keys', "server", 0, "cors_origins")
        self._at("server", 0, "host", lambda: must_be_safe(server.host, keys))

    def _upstream(self, at: int, row: UpstreamRow) -> Upstream:
        known = self._at("upstream", at, "provider", lambda: provider(row.provider))
        self._at("upstream", at, "api_key", lambda: find_key(known, row.api_key, self._environ))
        wire_key = "base_url" if row.wire is None else "wire"
        return self._at(
            "upstream",
            at,
            wire_key,
            lambda: as_upstream(
                row.name, known, base_url=row.base_url, api_key=row.api_key, wire=row.wire, environ=self._environ
            ),
        )

    def _check_route(self, at: int, route: RouteRow, upstreams: dict[str, Upstream]) -> None:
        if not route.model:
            raise self._wrong('names what the client asks for; "*" catches all', "route", at, "model")
        name, slash, target = route.to.partition("/")
        if not slash or not target:
            raise self._wrong(f'is "<upstream>/<model>" or "<upstream>/*"; got {route.to!r}', "route", at, "to")
        if name not in upstreams:
            raise self._wrong(unknown("upstream", name, list(upstreams)), "route", at, "to")
        if route.mend < 0:
            raise self._wrong("must not be less than 0", "route", at, "mend")
        if route.ask != "auto":
            self._at("route", at, "ask", lambda: read_way(route.ask, upstreams[name].row))


def _told(error: msgspec.ValidationError, key: str, value: Any, of: Any) -> str:
    """What a value should be: its choices, where they can be counted. A secret is not repeated."""
    if get_origin(of) is Literal and isinstance(value, str):
        return unknown("choice", value, list(get_args(of)))
    return str(error) if key in _SECRET else f"{error}; got {value!r}"


def must_be_safe(host: str, keys: tuple[Secret, ...]) -> None:
    """Who listens to others than this machine asks them for a key."""
    if not keys and not is_loopback(host):
        raise CallerError(
            f"{host} can be reached by others, and there are no keys: set [server] keys, or listen on 127.0.0.1", "host"
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
