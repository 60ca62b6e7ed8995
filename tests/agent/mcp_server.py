"""A small MCP server for the tests: `stdio`, or `http PORT`. Runs under versions 1 and 2 of the package."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from importlib import import_module
from typing import Any

try:
    kit: Any = import_module("mcp.server.mcpserver")
    server = kit.MCPServer("small")
except ModuleNotFoundError:
    kit = import_module("mcp.server.fastmcp")
    server = kit.FastMCP("small")

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def add(a: int, b: int = 1) -> str:
    """Adds two numbers."""
    return str(a + b)


def picture() -> Any:
    """A picture of one pixel."""
    return kit.Image(data=PIXEL, format="png")


def weather(city: str) -> dict[str, Any]:
    """The weather."""
    return {"city": city, "degrees": 21}


def fail() -> str:
    """Fails."""
    raise ValueError("no luck today")


async def slow(seconds: float) -> str:
    """Waits."""
    await asyncio.sleep(seconds)
    return "at last"


def process() -> str:
    """The server's process, and one of its variables."""
    return f"{os.getpid()} {os.environ.get('MCP_WORD')}"


def die() -> str:
    """Ends the server."""
    os._exit(3)


def grown(word: str) -> str:
    """Was not there before."""
    return f"grown {word}"


async def grow(ctx: kit.Context) -> str:
    """Adds a tool, and tells of it."""
    server.add_tool(grown)
    await (ctx.notify_tools_changed() if hasattr(ctx, "notify_tools_changed") else ctx.session.send_tool_list_changed())
    return "it grows"


for tool in (add, picture, weather, fail, slow, process, die, grow):
    server.add_tool(tool)


def serve(of: Any) -> None:
    if sys.argv[1] == "stdio":
        of.run("stdio")
    elif hasattr(of, "settings") and hasattr(of.settings, "port"):
        of.settings.port = int(sys.argv[2])
        of.run("streamable-http")
    else:
        of.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))


if __name__ == "__main__":
    serve(server)
