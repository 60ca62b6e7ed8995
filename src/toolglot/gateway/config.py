"""Reads and validates `toolglot.toml`. Errors name the line and the key.

The catalog reads the `[[model]]` tables of the same file.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from toolglot.catalog.prices import Price
from toolglot.catalog.providers import Provider, provider, providers, unknown
from toolglot.catalog.rows import read_rows
from toolglot.client.http.network import place
from toolglot.client.keys import Secret, find_key
from toolglot.errors import CallerError, unreadable
from toolglot.gateway import wildcards
from toolglot.gateway.budgets import Budget
from toolglot.gateway.configured_tools import ServerToolRow, ToolSource, read_source
from toolglot.gateway.request_log import Format, Level, LogSettings
from toolglot.gateway.upstream import Upstream, as_upstream
from toolglot.gateway.upstream_network import NETWORK_KEYS, read_network
from toolglot.pipeline.request.tool_mode import read_mode
from toolglot.pipeline.response.call_validator import Policy
from toolglot.pipeline.response.validate_calls import Calls
from toolglot.renamed import CONFIG_KEYS

T = TypeVar("T")
_TABLES = ("server", "key", "upstream", "route", "model", "price", "budget", "server_tool")
SECRETS = ("keys", "admin_keys", "api_key", "nonce_secret", "state", "hash", "key_password", "proxy")
_STATE_SCHEMES = ("redis://", "rediss://", "unix://")
_SHORTEST_KEY = 16  # characters
_SIZE_KEYS = (
    "max_records",
    "max_store",
    "max_body",
    "max_header",
    "max_depth",
    "max_tools",
    "max_batch_rows",
    "batch_rows",
    "max_concurrent",
    "log_file_size",
)
_MAX_WORKERS = 256
_MAX_RECORDS = 10_000
_TIME_KEYS = (
    "ping",
    "websocket_idle",
    "client_timeout",
    "queue_timeout",
    "connect_timeout",
    "first_byte_timeout",
    "idle_timeout",
)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+")
KEY_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
MEMORY = "memory"
Schemas = Literal["reject", "strict", "lenient"]  # reject its calls, reject the request, or don't check the keyword

_Place = tuple[str, int, str]  # table, its number ([[table]] may repeat), key ("" for the table itself)

_TABLE_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY_VALUE = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[server]`. Sizes in bytes, times in seconds; a rate of 0 means no limit.

    The comments of all rows are the reference's text: `python -m scripts.pages` writes docs/reference/configuration.md.
    """

    host: str = "127.0.0.1"  # the address to listen on; any but loopback needs keys
    port: int = 8484  # 0: a free one
    workers: int = 1  # processes that serve the port
    keys: tuple[str, ...] = ()  # that clients must send; "env:NAME" reads a variable; at least 16 characters
    admin_keys: tuple[str, ...] = ()  # like keys, and they see the requests of all keys and the metrics
    cors_origins: tuple[str, ...] = ()  # web pages that may use the gateway; "*": all, needs keys
    record: bool = False  # keep message contents, not only codes
    log: Format = "text"  # of the log on stderr; that of the file is always JSON
    log_level: Level = "info"  # warning: only failed requests
    log_file: str = ""  # the same lines in a file, which survives restarts; "": none
    log_file_size: int = 10 * 1024 * 1024  # bytes; then it is rotated
    max_records: int = 200  # latest requests in memory
    retention: float = 0.0  # records and stored responses are deleted after this time; 0: when the room is needed
    otel: bool | None = None  # OpenTelemetry; None: if the environment sets it up
    detect: bool = True  # query servers for what their models support
    schemas: Schemas = "reject"  # of a tool, with a keyword that can't be compiled
    store: str = MEMORY  # of Responses and Interactions: memory, or a file
    nonce_secret: str = ""  # of the nonces in prompts; several machines need the same one; "": made at start
    max_store: int = 256 * 1024 * 1024  # bytes of stored responses
    state: str = ""  # address of a Redis that several gateways share
    max_body: int = 32 * 1024 * 1024  # bytes of a request
    max_header: int = 64 * 1024  # bytes of a request's header
    max_depth: int = 128  # of nested JSON in a request
    max_tools: int = 1024  # of one request
    max_batch_rows: int = 50_000  # requests of one batch
    batch_rows: int = 8  # requests of one batch that run at the same time
    max_concurrent: int = 256  # concurrent requests per key
    max_connections: int = 0  # to one upstream host; 0: enough for max_concurrent requests of every key
    rate: float = 0.0  # requests per second and key
    burst: int = 0  # requests at once; 0: twice the rate
    ping: float = 15.0  # silence on a stream before a keep-alive
    websocket_idle: float = 900.0  # a WebSocket without a request is closed after this time
    client_timeout: float = 60.0  # to send its request, or to read the response
    queue_timeout: float = 10.0  # for a free connection to an upstream
    cooldown: float = 30.0  # a target that failed three times in a row comes last for this time; 0: never
    connect_timeout: float = 10.0  # to connect to an upstream
    first_byte_timeout: float = 600.0  # until an upstream begins to respond
    idle_timeout: float = 120.0  # of silence in an upstream's stream

    @property
    def log_settings(self) -> LogSettings:
        return LogSettings(self.log, self.log_level, self.log_file, self.log_file_size)


class RouteRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[route]]`: the first match is used. The next matches are tried if it fails before it responds."""

    model: str  # what the client requests; `*` and `?` match as in file names
    to: str  # "<upstream>/<model>", or a provider of the catalog; `*` is what `*` in `model` matched
    ask: str = "auto"  # the tool mode: auto, native, dialect:NAME, constrained
    policy: Policy = "balanced"  # how much of a call may be repaired
    calls: Calls = "hold"  # hold: a call leaves when it is complete and valid; pass: as it arrives; off: untouched
    retries: int = 1  # how often a rejected call goes back to the model
    weak_forms: bool | None = None  # read calls in fenced or bare JSON and call expressions; None: by the model's profile
    loop_limit: int = 0  # after how many equal calls with equal results the model is asked to stop; 0: never
    weight: int = 0  # routes with the same `model` and a weight share its requests; 0: only in this order
    attempts: int = 2  # before the next route: for broken connections and 5xx

    @property
    def upstream(self) -> str:
        return self.to.partition("/")[0]

    @property
    def target(self) -> str:
        """The model at the upstream; `*` in it is what `*` in `model` matched."""
        return self.to.partition("/")[2]


class UpstreamRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[upstream]]`: a model server. What is not set is as in the provider's row."""

    name: str  # what routes call it; without a slash
    provider: str  # a row of the catalog
    base_url: str | None = None  # with or without the API's version (/v1, /v1beta, /api)
    api_key: str | None = None  # "env:NAME" reads a variable
    wire: str | None = None  # openai-chat, openai-responses, anthropic, gemini, ollama
    ca_file: str = ""  # PEM: trust only these certificate authorities; "": those of the system, or of SSL_CERT_FILE
    cert_file: str = ""  # PEM: our certificate, for a server that asks for one
    key_file: str = ""  # PEM: its key; "": it is in cert_file
    key_password: str = ""  # of an encrypted key; "env:NAME" reads a variable
    tls_name: str = ""  # the name in the server's certificate; "": the host of base_url
    proxy: str = ""  # http(s)://user:password@host:port, "env:NAME" or "none"; "": as HTTPS_PROXY and NO_PROXY say


class KeyRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[key]]`: a key with a name, of which only a hash is stored. `toolglot keys add NAME` writes it."""

    name: str  # shown in logs, records and metrics
    hash: str  # "sha256:..."
    admin: bool = False  # sees the requests of all keys and the metrics


class ClientKey(msgspec.Struct, frozen=True):
    """`owner`: of requests, stored responses and limits. The key itself is not kept."""

    owner: str
    digest: bytes
    is_admin: bool = False


def hash_key(key: str) -> str:
    """A plain hash is enough: keys are long and random."""
    return f"sha256:{sha256(key.encode()).hexdigest()}"


def client_key(key: Secret, *, is_admin: bool = False) -> ClientKey:
    """Without a name, the owner comes from the key, not from its position, which changes when keys are added or removed."""
    digest = sha256(key.reveal().encode())
    return ClientKey(f"key {digest.hexdigest()[:16]}", digest.digest(), is_admin)


_SPARE_CONNECTIONS = 16  # for lists of models, token counts and retries


class Config(msgspec.Struct, frozen=True):
    server: Server = Server()
    keys: tuple[ClientKey, ...] = ()
    upstreams: dict[str, Upstream] = {}
    routes: tuple[RouteRow, ...] = ()
    nonce_secret: Secret | None = None
    prices: tuple[Price, ...] = ()  # of the user
    budgets: tuple[Budget, ...] = ()
    server_tools: tuple[ToolSource, ...] = ()

    @property
    def connections(self) -> int:
        """To one upstream host."""
        return self.server.max_connections or self.server.max_concurrent * max(1, len(self.keys)) + _SPARE_CONNECTIONS


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise unreadable(path, error) from None


def read_config(text: str, file: str = "toolglot.toml", environ: Mapping[str, str] | None = None) -> Config:
    """Raises a CallerError that names `file, line N, [table] key`."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CallerError(f"is not valid TOML: {error}", file) from None
    except RecursionError:
        raise CallerError("is nested too deeply", file) from None
    return _ConfigReader(tables, text, file, os.environ if environ is None else environ).config()


def state_address(server: Server, environ: Mapping[str, str] = os.environ) -> Secret | None:
    """Of the shared state. A secret, since it may contain a password; it may name an environment variable."""
    if not server.state:
        return None
    found = find_key(Provider("", "", "bearer", "", name="the shared state"), server.state, environ)
    if found is not None and not found.reveal().startswith(_STATE_SCHEMES):
        raise CallerError("must begin with redis://, rediss:// (TLS) or unix://", "state")
    return found


class _ConfigReader:
    def __init__(self, tables: dict[str, Any], text: str, file: str, environ: Mapping[str, str]) -> None:
        self._tables, self._file, self._environ = tables, file, environ
        self._lines = key_lines(text)

    def config(self) -> Config:
        for name in self._tables:
            if name not in _TABLES:
                raise self._error(unknown("table", name, list(_TABLES)), name, 0, "")
        read_rows(self._tables.get("model", []), self._file)
        server = self._row("server", 0, self._tables.get("server", {}), Server)
        keys = tuple(client_key(key) for key in self._keys("keys", server.keys))
        keys += self._named_keys()
        keys += tuple(client_key(key, is_admin=True) for key in self._keys("admin_keys", server.admin_keys))
        self._check_server(server, keys)
        upstreams: dict[str, Upstream] = {}
        upstream_rows = self._rows("upstream", UpstreamRow)
        for at, row in enumerate(upstream_rows):
            if row.name in upstreams:
                raise self._error(f"duplicate upstream {row.name!r}", "upstream", at, "name")
            if not row.name or "/" in row.name:
                raise self._error("must not be empty or contain a slash", "upstream", at, "name")
            upstreams[row.name] = self._upstream(at, row)
        self._check_places(upstream_rows, upstreams)
        routes = self._rows("route", RouteRow)
        for at, route in enumerate(routes):
            if route.upstream not in upstreams and route.upstream in providers():
                upstreams[route.upstream] = self._upstream_of_route(at, route.upstream, upstreams)
            self._check_route(at, route, upstreams)
        self._with_line("server", 0, "state", lambda: state_address(server, self._environ))
        nonce_secret = self._key("nonce_secret", 1, server.nonce_secret) if server.nonce_secret else None
        prices = self._rows("price", Price)
        for at, price in enumerate(prices):
            self._check_price(at, price)
        budgets = self._rows("budget", Budget)
        for at, budget in enumerate(budgets):
            self._check_budget(at, budget)
        tools = self._server_tools()
        return Config(server, keys, upstreams, tuple(routes), nonce_secret, tuple(prices), tuple(budgets), tools)

    # -- rows

    def _rows(self, table: str, of: type[T]) -> list[T]:
        rows = self._tables.get(table, [])
        if not isinstance(rows, list):
            raise self._error(f"must be a list of tables: write [[{table}]]", table, 0, "")
        return [self._row(table, at, row, of) for at, row in enumerate(rows)]

    def _row(self, table: str, at: int, row: Any, of: type[T]) -> T:
        """Converts key by key first, so that an error has the line of its key."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(of)}  # type: ignore[arg-type]
        for key, value in row.items() if isinstance(row, dict) else ():
            if key not in fields:
                renamed = CONFIG_KEYS.get(key)
                problem = f"was renamed: write {renamed}" if renamed in fields else unknown("key", key, list(fields))
                raise self._error(problem, table, at, key)
            try:
                msgspec.convert(value, fields[key].type)
            except msgspec.ValidationError as error:
                raise self._error(_type_problem(error, key, value, fields[key].type), table, at, key) from None
        try:
            return msgspec.convert(row, of)
        except msgspec.ValidationError as error:
            raise self._error(str(error), table, at, "") from None

    def _error(self, problem: str, table: str, at: int, key: str) -> CallerError:
        line = self._lines.get((table, at, key)) or self._lines.get((table, at, ""))
        place = f"{self._file}, line {line}" if line else self._file
        return CallerError(problem, f"{place}, [{table}] {key}".rstrip())

    def _with_line(self, table: str, at: int, key: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except CallerError as error:
            raise self._error(error.problem, table, at, key) from None

    # -- checks beyond types

    def _keys(self, name: str, given: tuple[str, ...]) -> tuple[Secret, ...]:
        return tuple(self._key(name, at, key) for at, key in enumerate(given, 1))

    def _named_keys(self) -> tuple[ClientKey, ...]:
        keys: dict[str, ClientKey] = {}
        for at, row in enumerate(self._rows("key", KeyRow)):
            if not KEY_NAME.fullmatch(row.name):
                raise self._error("must be 1 to 64 letters, digits, '.', '-', '_' or '@'", "key", at, "name")
            if row.name in keys:
                raise self._error(f"duplicate key {row.name!r}", "key", at, "name")
            if not _HASH.fullmatch(row.hash):
                problem = "must be sha256: and 64 hexadecimal digits, as `toolglot keys add` writes it"
                raise self._error(problem, "key", at, "hash")
            keys[row.name] = ClientKey(row.name, bytes.fromhex(row.hash.removeprefix("sha256:")), row.admin)
        return tuple(keys.values())

    def _key(self, name: str, at: int, key: str) -> Secret:
        row = Provider("", "", "bearer", "", name="the gateway")
        found = self._with_line("server", 0, name, lambda: find_key(row, key, self._environ))
        if found is None:
            raise self._error(f"key {at} is empty", "server", 0, name)
        if len(found.reveal()) < _SHORTEST_KEY:
            problem = f"key {at} has fewer than {_SHORTEST_KEY} characters, so it could be guessed: try `openssl rand -hex 24`"
            raise self._error(problem, "server", 0, name)
        return found

    def _check_server(self, server: Server, keys: tuple[ClientKey, ...]) -> None:
        if not 0 <= server.port <= 65535:
            raise self._error(f"must be 0 to 65535; got {server.port}", "server", 0, "port")
        if not 1 <= server.workers <= _MAX_WORKERS:
            raise self._error(f"must be 1 to {_MAX_WORKERS}; got {server.workers}", "server", 0, "workers")
        for key in _SIZE_KEYS + _TIME_KEYS:
            if not getattr(server, key) > 0:  # also rejects NaN
                raise self._error("must be more than 0", "server", 0, key)
        if server.max_records > _MAX_RECORDS:
            raise self._error(f"must be at most {_MAX_RECORDS}", "server", 0, "max_records")
        for key in ("rate", "burst", "max_connections", "cooldown", "retention"):
            if not getattr(server, key) >= 0:
                raise self._error("must not be negative", "server", 0, key)
        for origin in server.cors_origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                problem = f'must be scheme://host[:port] without a path, or "*"; got {origin!r}'
                raise self._error(problem, "server", 0, "cors_origins")
        if "*" in server.cors_origins and not keys:
            raise self._error(
                '"*" needs [server] keys: without them every web page could use your models', "server", 0, "cors_origins"
            )
        self._with_line("server", 0, "host", lambda: check_exposure(server.host, keys))

    def _upstream(self, at: int, row: UpstreamRow) -> Upstream:
        known = self._with_line("upstream", at, "provider", lambda: provider(row.provider))
        self._with_line("upstream", at, "api_key", lambda: find_key(known, row.api_key, self._environ))
        wire_key = "base_url" if row.wire is None else "wire"
        upstream = self._with_line(
            "upstream",
            at,
            wire_key,
            lambda: as_upstream(
                row.name, known, base_url=row.base_url, api_key=row.api_key, wire=row.wire, environ=self._environ
            ),
        )

        settings = {key: getattr(row, key) for key in NETWORK_KEYS}
        try:
            network = read_network(settings, upstream.row.base_url, self._environ)
        except CallerError as error:
            raise self._error(error.problem, "upstream", at, error.where) from None
        return msgspec.structs.replace(upstream, network=network)

    def _check_places(self, rows: list[UpstreamRow], upstreams: Mapping[str, Upstream]) -> None:
        """Connections are kept by host, so all upstreams there need the same network settings."""
        known: dict[Any, tuple[str, ...]] = {}
        for at, row in enumerate(rows):
            settings = tuple(getattr(row, key) for key in NETWORK_KEYS)
            base_url = upstreams[row.name].row.base_url
            if base_url.startswith("http") and known.setdefault(place(base_url), settings) != settings:
                problem = f"another upstream at this host has other settings ({', '.join(NETWORK_KEYS)})"
                raise self._error(problem, "upstream", at, "base_url")

    def _upstream_of_route(self, at: int, name: str, others: Mapping[str, Upstream]) -> Upstream:
        """A provider of the catalog needs no [[upstream]]: its address is known, and its key is in the environment."""
        upstream = self._with_line("route", at, "to", lambda: as_upstream(name, provider(name), environ=self._environ))
        for other in others.values() if not upstream.embedded else ():
            if other.network is not None and place(other.row.base_url) == place(upstream.row.base_url):
                problem = f"upstream {other.name!r} is at the same host and has network settings ({', '.join(NETWORK_KEYS)})"
                raise self._error(f"{problem}: route to that one", "route", at, "to")
        return upstream

    def _check_price(self, at: int, price: Price) -> None:
        if not price.model:
            raise self._error('must not be empty; "*" stands for every model', "price", at, "model")
        for key in ("input", "output", "cache_read", "cache_write", "cache_write_1h"):
            number = getattr(price, key)
            if number is not None and not 0 <= number < float("inf"):
                raise self._error("must be 0 or more: US dollars for a million tokens", "price", at, key)
        for name in price.providers:
            self._with_line("price", at, "providers", lambda name=name: provider(name))  # type: ignore[misc]

    def _check_budget(self, at: int, budget: Budget) -> None:
        for key in ("dollars", "tokens"):
            if not 0 <= getattr(budget, key) < float("inf"):
                raise self._error("must be 0 (no limit) or more", "budget", at, key)
        if not (budget.dollars or budget.tokens):
            raise self._error("needs dollars or tokens", "budget", at, "")

    def _server_tools(self) -> tuple[ToolSource, ...]:
        rows = self._rows("server_tool", ServerToolRow)
        sources: dict[str, ToolSource] = {}
        for at, row in enumerate(rows):
            if row.name in sources:
                raise self._error(f"duplicate server tool {row.name!r}", "server_tool", at, "name")
            try:
                sources[row.name] = read_source(row, self._environ)
            except CallerError as error:
                raise self._error(error.problem, "server_tool", at, _key_of(error, row)) from None
        return tuple(sources.values())

    def _check_route(self, at: int, route: RouteRow, upstreams: dict[str, Upstream]) -> None:
        if not route.model:
            raise self._error('must not be empty; "*" matches every model', "route", at, "model")
        name, slash, target = route.to.partition("/")
        if not slash or not target:
            raise self._error(f'must be "<upstream>/<model>" or "<upstream>/*"; got {route.to!r}', "route", at, "to")
        if name not in upstreams:
            raise self._error(unknown("upstream or provider", name, [*upstreams, *providers()]), "route", at, "to")
        if wrong := wildcards.problem(route.model, target):
            raise self._error(wrong, "route", at, "to")
        for key, least in (("retries", 0), ("weight", 0), ("attempts", 1)):
            if getattr(route, key) < least:
                raise self._error("must not be negative" if not least else "must be at least 1", "route", at, key)
        if route.loop_limit < 0 or route.loop_limit == 1:
            raise self._error("must be 0 (off), or 2 or more", "route", at, "loop_limit")
        if route.ask != "auto":
            self._with_line("route", at, "ask", lambda: read_mode(route.ask, upstreams[name].row))


def _key_of(error: CallerError, row: ServerToolRow) -> str:
    """The key that an error is about; what is found in a file is an error of `file`."""
    return error.where if error.where in row.__struct_fields__ else "file" if row.file else "mcp"


def _type_problem(error: msgspec.ValidationError, key: str, value: Any, of: Any) -> str:
    """Lists the choices if there are any. Never repeats a secret."""
    if get_origin(of) is Literal and isinstance(value, str):
        return unknown("choice", value, list(get_args(of)))
    return str(error) if key in SECRETS else f"{error}; got {value!r}"


def check_exposure(host: str, keys: tuple[ClientKey, ...]) -> None:
    """A gateway that other machines can reach needs keys."""
    if not keys and not is_loopback(host):
        raise CallerError(
            f"{host} is reachable from other machines, but there are no keys: set [server] keys, or listen on 127.0.0.1", "host"
        )


@lru_cache(256)
def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def key_lines(text: str) -> dict[_Place, int]:
    """The line number of each table and key, which tomllib does not report. Only used for error messages."""
    lines: dict[_Place, int] = {}
    table, number = "", 0
    numbers: dict[str, int] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        header = _TABLE_HEADER.match(line)
        if header is not None:
            table = header[2].strip("\"' ")
            number = numbers.get(table, -1) + 1 if header[1] == "[[" else 0
            numbers[table] = number
            lines.setdefault((table, number, ""), line_number)
            continue
        key = _KEY_VALUE.match(line)
        if key is not None:
            lines.setdefault((table, number, key[1].strip("\"'")), line_number)
    return lines
