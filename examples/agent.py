"""A model uses your functions, and its answer is printed while it is written."""

import os

import toolglot

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local"), os.environ.get("TOOLGLOT_BASE_URL")


def get_weather(city: str) -> str:
    """The weather in a city now."""
    return f"18 degrees and clear in {city}"


agent = toolglot.Agent(MODEL, [get_weather], base_url=URL)
stream = agent.stream_text_sync("What is the weather in Paris?")
for text in stream:
    print(text, end="", flush=True)
print()
print(stream.run)
