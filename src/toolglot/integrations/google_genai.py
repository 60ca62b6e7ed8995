"""google-genai: `genai.Client(http_options=HttpOptions(httpx_client=toolglot.integrations.google_genai.client()))`.

`async_client()` is for `httpx_async_client=`. As `toolglot.integrations.openai`, for servers with Gemini's API.
"""

from __future__ import annotations

from toolglot.integrations.http_client import SdkClients

_ENDS = {":generateContent": "gemini", ":streamGenerateContent": "gemini", "/interactions": "gemini-interactions"}
_CLIENTS = SdkClients("httpx2", _ENDS, "Client", "AsyncClient")

client = _CLIENTS.client
async_client = _CLIENTS.async_client
