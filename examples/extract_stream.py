"""Calls in text that arrives in pieces: text flows at once, a call comes when it is complete and valid. Needs no model."""

import toolglot

TOOLS = [{"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
PIECES = ["Let me", " look. <tool", '_call>{"name": "get_weather", "argu', 'ments": {"city": "Rome"}}', "</tool_call>"]

extractor = toolglot.StreamExtractor(TOOLS)
for piece in PIECES:
    for event in extractor.feed(piece):
        print(f"{piece!r:40} {event.__class__.__name__}", getattr(event, "text", ""))
for event in extractor.close():
    print(f"{'(the end)':40} {event.__class__.__name__}", getattr(event, "text", ""))
print(extractor.result().calls[0].arguments)
