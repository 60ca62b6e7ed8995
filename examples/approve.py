"""You decide about each call before it runs, and limit what a run may cost."""

import os

import toolglot

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local"), os.environ.get("TOOLGLOT_BASE_URL")


def delete_file(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"  # only says so


def approve(call: toolglot.ToolCall) -> bool | str:
    allowed = call.arguments["path"].startswith("tmp/")
    print("call:", call.name, call.arguments, "allowed" if allowed else "denied")
    return allowed or "only files in tmp/ may be deleted"


limits = toolglot.Limits(turns=4, tokens=20_000, seconds=300)
agent = toolglot.Agent(MODEL, [delete_file], approve=approve, limits=limits, base_url=URL)
run = agent.run_sync("Delete tmp/old.txt and notes.txt.")
print(run.text)
print(run.end, run.turns, run.usage)
