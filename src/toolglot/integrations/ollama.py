"""ollama: `ollama.Client(transport=toolglot.integrations.ollama.transport())`; `async_transport()` for `AsyncClient`.

As `toolglot.integrations.openai`, for Ollama's own API. The package passes its options to an HTTP client that it makes itself.
"""

from __future__ import annotations

from toolglot.integrations.http_client import SdkClients

_CLIENTS = SdkClients("httpx", {"/api/chat": "ollama"}, "Client", "AsyncClient")

transport = _CLIENTS.transport
async_transport = _CLIENTS.async_transport
