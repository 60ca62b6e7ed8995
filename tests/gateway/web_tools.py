"""An MCP server with a tool for each server tool of the vendors: `stdio`, or `http PORT`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # it is started as a file

from tests.agent.mcp_server import kit, serve

PAGES = [
    {"title": "Otters", "url": "https://example.org/otters", "text": "An otter eats 15 % of its weight a day."},
    {"title": "Rivers", "url": "https://example.org/rivers", "text": "Otters live in rivers."},
]


def search(query: str) -> dict[str, Any]:
    """Searches the web."""
    if query == "fail":
        raise ValueError("the index is closed")
    if query == "die":
        os._exit(3)
    if query.startswith("long"):
        return {"results": [{"title": "x" * 150_000, "url": "https://example.org/long"}]}
    return {"results": PAGES}


def web_fetch(url: str) -> str:
    """Fetches a page."""
    return f"The page at {url}: {os.environ.get('WORD')}"


def code_execution(code: str) -> str:
    """Runs Python code."""
    return f"{len(code)} characters\n"


if __name__ == "__main__":
    server = kit.MCPServer("web") if hasattr(kit, "MCPServer") else kit.FastMCP("web")
    for tool in (search, web_fetch, code_execution):
        server.add_tool(tool)
    serve(server)
