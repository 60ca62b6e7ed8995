"""The tool loop under your own control: you send the requests, and run the tools."""

import os

import toolglot

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local"), os.environ.get("TOOLGLOT_BASE_URL")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


loop = toolglot.Loop(toolglot.Agent(MODEL, [add]).request("What is 2 + 3?"), toolglot.Limits(turns=4))
with toolglot.Client(MODEL, base_url=URL) as client:
    step = loop.next()
    while not isinstance(step, toolglot.Done):
        if isinstance(step, toolglot.AskModel):
            print("request", step.turn)
            step = loop.next(client.complete(step.request))
        else:
            results = []
            for call in step.calls:
                print("call", call.name, call.arguments)
                results.append(toolglot.ToolResult(call.id, call.name, (toolglot.Text(str(add(**call.arguments))),)))
            step = loop.next(results)
print(step.run.text)
