"""HTTP clients for SDKs: the SDK's own client class, with a transport that filters responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, Unpack

import msgspec

from toolglot.core.interfaces import Wire
from toolglot.core.reply import Decision
from toolglot.errors import CallerError
from toolglot.integrations.response_filter import Options, TransportOptions, response_filter
from toolglot.integrations.transport import AsyncTransport, Choose, Transport
from toolglot.pipeline.response.call_validator import Policy
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
        ask: str = "native",
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        weak_forms: bool | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        transport: Any = None,
        **http_options: Any,
    ) -> Any:
        """An HTTP client for the SDK's `http_client=`.

        `ask` is the tool mode: with `native` requests are sent as they are; `dialect:<name>` puts the tools into the prompt,
        for models without native tools; `auto` chooses by what is known about the model. `policy` and `calls` are as in
        `Client`; `weak_forms=False` scans text only for calls with a marker. `on_decision` is called for each decision.
        `transport` sends the requests, for example through a proxy; other options are httpx's.
        """
        options = Options(ask, policy, calls, weak_forms, on_decision)
        return getattr(import_sdk(self.sdk), self.sync_class)(transport=self._transport(options, transport), **http_options)

    def async_client(
        self,
        *,
        ask: str = "native",
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        weak_forms: bool | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        transport: Any = None,
        **http_options: Any,
    ) -> Any:
        """As `client`, for the asynchronous SDK."""
        options = Options(ask, policy, calls, weak_forms, on_decision)
        client_class = getattr(import_sdk(self.sdk), self.async_class)
        return client_class(transport=self._async_transport(options, transport), **http_options)

    def transport(self, *, inner: Any = None, **options: Unpack[TransportOptions]) -> Any:
        """A transport alone, for an SDK that makes its HTTP client itself. `inner` sends the requests."""
        return self._transport(Options(**options), inner)

    def async_transport(self, *, inner: Any = None, **options: Unpack[TransportOptions]) -> Any:
        """As `transport`, for the asynchronous SDK."""
        return self._async_transport(Options(**options), inner)

    def _transport(self, options: Options, inner: Any) -> Transport:
        http = http_package(getattr(import_sdk(self.sdk), self.sync_class))
        return Transport(http, http.HTTPTransport() if inner is None else inner, chooser(self.wires, options))

    def _async_transport(self, options: Options, inner: Any) -> AsyncTransport:
        http = http_package(getattr(import_sdk(self.sdk), self.async_class))
        return AsyncTransport(http, http.AsyncHTTPTransport() if inner is None else inner, chooser(self.wires, options))


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
