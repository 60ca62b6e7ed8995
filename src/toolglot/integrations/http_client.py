"""HTTP clients for SDKs: the SDK's own client class, with a transport that filters responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Literal

import msgspec

from toolglot.core.interfaces import Wire
from toolglot.core.reply import Decision
from toolglot.errors import CallerError
from toolglot.integrations.response_filter import Options, response_filter
from toolglot.integrations.transport import AsyncTransport, Choose, Transport
from toolglot.pipeline.response.call_validator import Policy, check_options
from toolglot.wires import find_wire


class SdkClients(msgspec.Struct, frozen=True):
    """`wires`: how the paths of each API end, and its wire."""

    sdk: str  # the package to import
    wires: Mapping[str, str]
    sync_class: str = "DefaultHttpxClient"
    async_class: str = "DefaultAsyncHttpxClient"

    def client(
        self,
        *,
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        weak_forms: bool | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        transport: Any = None,
        **http_options: Any,
    ) -> Any:
        """An HTTP client for the SDK's `http_client=`.

        `policy` and `calls` are as in `Client`; `weak_forms=False` scans text only for calls with a marker. `on_decision` is
        called for each decision. `transport` sends the requests, for example through a proxy; other options are httpx's.
        """
        options = _options(policy, calls, weak_forms, on_decision)
        client_class = getattr(import_sdk(self.sdk), self.sync_class)
        http = http_package(client_class)
        inner = http.HTTPTransport() if transport is None else transport
        return client_class(transport=Transport(http, inner, chooser(self.wires, options)), **http_options)

    def async_client(
        self,
        *,
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        weak_forms: bool | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        transport: Any = None,
        **http_options: Any,
    ) -> Any:
        """As `client`, for the asynchronous SDK."""
        options = _options(policy, calls, weak_forms, on_decision)
        client_class = getattr(import_sdk(self.sdk), self.async_class)
        http = http_package(client_class)
        inner = http.AsyncHTTPTransport() if transport is None else transport
        return client_class(transport=AsyncTransport(http, inner, chooser(self.wires, options)), **http_options)


def _options(
    policy: Policy, calls: Literal["hold", "pass"], weak_forms: bool | None, on_decision: Callable[[Decision], None] | None
) -> Options:
    check_options(policy, calls)
    return Options(policy, calls, weak_forms, on_decision)


def chooser(wires: Mapping[str, str], options: Options) -> Choose:
    found: list[tuple[str, Wire]] = []
    for end, name in wires.items():
        wire = find_wire(name)
        if wire is None:
            raise CallerError(f"unknown wire {name}", "wire")
        found.append((end, wire))
    return lambda path, body: response_filter(found, path, body, options, **_in_path(path))


def _in_path(path: str) -> dict[str, Any]:
    """What Gemini's paths contain: the model, and whether the response is a stream."""
    name, colon, method = path.rpartition("/")[2].partition(":")
    return {"model": name, "stream": method.startswith("stream")} if colon else {}


def http_package(client_class: Any) -> ModuleType:
    """httpx or httpx2: where an SDK's client class is from."""
    packages = (base.__module__.partition(".")[0] for base in client_class.__mro__)
    return import_module(next(package for package in packages if package in {"httpx", "httpx2"}))


def import_sdk(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise CallerError(f"the package is not installed: pip install {name}", name) from None
