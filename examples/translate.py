"""One request in the form of six APIs, and what each can't carry. Needs no model."""

import json

import toolglot

REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather in Rome?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
    "seed": 7,
}

for api in ("openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions", "ollama"):
    notes: list[str] = []
    request = toolglot.convert(REQUEST, "openai-chat", api, notes=notes)
    print(f"{api}: {', '.join(request)} ({len(json.dumps(request))} characters)")
    for note in notes:
        print("  note:", note)
