"""The answer as a value of your type. A pydantic model or a TypedDict works the same way."""

import os
from dataclasses import dataclass

import toolglot

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local"), os.environ.get("TOOLGLOT_BASE_URL")


@dataclass
class Person:
    """A person in the text.

    Args:
        name: The full name.
        born: The year of birth.
    """

    name: str
    born: int


agent = toolglot.Agent(MODEL, output=Person, base_url=URL)
run = agent.run_sync("Who is in this text? Ada Lovelace, born in 1815, wrote the first program.")
if run.ok:
    print(f"{run.output.name} was born in {run.output.born}.")
else:
    print("no answer:", run.why)
