"""The Anthropic SDK: `Anthropic(http_client=toolglot.integrations.anthropic.client())`; `async_client()` for `AsyncAnthropic`.

As `toolglot.integrations.openai`, for servers with Anthropic's API.
"""

from __future__ import annotations

from toolglot.integrations.http_client import SdkClients

_CLIENTS = SdkClients("anthropic", {"/messages": "anthropic"})

client = _CLIENTS.client
async_client = _CLIENTS.async_client
