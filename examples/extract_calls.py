"""The calls in text that a model wrote. Needs no model."""

import toolglot


def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


TEXTS = (
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
    "I call it now.\n```json\n{'name': 'get_weather', 'arguments': {'city': 'Oslo', 'days': '3'}}\n```",
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Bari"}',
    '<tool_call>{"name": "get_weather", "arguments": {"town": 5}}</tool_call>',
    "It is mild in Rome.",
)

for text in TEXTS:
    found = toolglot.extract(text, [get_weather])
    for call in found.calls:
        print(call.name, call.arguments, "from", call.source)
    for decision in found.decisions:
        print(" ", decision.code)
    if not found.decisions:
        print("no call")
