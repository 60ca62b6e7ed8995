"""The OpenAI SDK: `OpenAI(http_client=toolglot.integrations.openai.client())`, and `async_client()` for `AsyncOpenAI`.

Calls that a model wrote as text come back as calls, streamed or not, and every call satisfies its tool's schema. It works with
any compatible server. Requests are sent as they are.
"""

from __future__ import annotations

from toolglot.integrations.http_client import SdkClients

_CLIENTS = SdkClients("openai", {"/chat/completions": "openai-chat", "/responses": "openai-responses"})

client = _CLIENTS.client
async_client = _CLIENTS.async_client
