"""Ollama's stream as OpenAI's, chunk by chunk. Needs no model."""

import toolglot

OLLAMA = [
    b'{"model":"m","message":{"role":"assistant","content":"Let me see."},"done":false}\n',
    b'{"model":"m","message":{"role":"assistant","tool_calls":[{"function":{"name":"now","arguments":{}}}]},"done":false}\n',
    b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n',
]

written = list(toolglot.convert_stream(OLLAMA, "ollama", "openai-chat"))
reply = toolglot.fold(toolglot.read_stream(written, "openai-chat"))
print(len(written), "pieces")
print(reply.text, [call.name for call in reply.calls], reply.stop and reply.stop.reason)
