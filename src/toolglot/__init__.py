"""toolglot: reliable tool calls between any client and any model.

Names are imported on first use, so that `import toolglot` is fast.
"""

from __future__ import annotations

from importlib import import_module

from toolglot.renamed import PYTHON_NAMES

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would take most of the import time
if TYPE_CHECKING:
    from toolglot.agent.agent import Agent
    from toolglot.agent.limits import Limits
    from toolglot.agent.loop import AskModel, Done, Loop, RunTools
    from toolglot.agent.mcp import mcp_server, mcp_tools
    from toolglot.agent.record import replay
    from toolglot.agent.results import ToolError
    from toolglot.agent.run import Run, ToolRun
    from toolglot.agent.runnable import Context
    from toolglot.catalog.profile import Profile
    from toolglot.catalog.profiles import profile
    from toolglot.client.async_client import AsyncClient
    from toolglot.client.retry import Policy as RetryPolicy
    from toolglot.client.sync_client import Client
    from toolglot.client.transport import Limits as TransportLimits
    from toolglot.core.events import Close, Delta, Fault, Finish, Open, Start
    from toolglot.core.extraction import Extraction
    from toolglot.core.fold import fold, unfold
    from toolglot.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
    from toolglot.core.reply import Decision, Reply, Stop, Usage
    from toolglot.core.request import Request
    from toolglot.core.tools import Choice, Tool
    from toolglot.errors import (
        ArgumentsError,
        CallerError,
        KeyMissingError,
        LossError,
        OutputError,
        ToolglotError,
        UpstreamError,
    )
    from toolglot.grammars.response_template import dialect_from_template
    from toolglot.pipeline.convert import convert, convert_stream, read_stream
    from toolglot.pipeline.formats import format_tool_result, format_tools, parse_tool_calls
    from toolglot.pipeline.request.prepare import PreparedRequest, prepare
    from toolglot.pipeline.request.prompts import augment_system_prompt
    from toolglot.pipeline.request.route import normalize_model
    from toolglot.pipeline.request.tool_grammar import ToolGrammar, grammar
    from toolglot.pipeline.response.call_validator import validate
    from toolglot.pipeline.response.extract import StreamExtractor, extract
    from toolglot.schema.arguments import parse_arguments
    from toolglot.schema.from_function import tool

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "ArgumentsError",
    "AskModel",
    "AsyncClient",
    "CallerError",
    "Choice",
    "Client",
    "Close",
    "Context",
    "Decision",
    "Delta",
    "Done",
    "Extraction",
    "Fault",
    "Finish",
    "KeyMissingError",
    "Limits",
    "Loop",
    "LossError",
    "Media",
    "Message",
    "Open",
    "OutputError",
    "PreparedRequest",
    "Profile",
    "Reasoning",
    "Reply",
    "Request",
    "RetryPolicy",
    "Run",
    "RunTools",
    "Start",
    "Stop",
    "StreamExtractor",
    "Text",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolGrammar",
    "ToolResult",
    "ToolRun",
    "ToolglotError",
    "TransportLimits",
    "UpstreamError",
    "Usage",
    "augment_system_prompt",
    "convert",
    "convert_stream",
    "dialect_from_template",
    "extract",
    "fold",
    "format_tool_result",
    "format_tools",
    "grammar",
    "mcp_server",
    "mcp_tools",
    "normalize_model",
    "parse_arguments",
    "parse_tool_calls",
    "prepare",
    "profile",
    "read_stream",
    "replay",
    "tool",
    "unfold",
    "validate",
]

_HOMES = {
    "toolglot.agent.agent": ("Agent",),
    "toolglot.agent.limits": ("Limits",),
    "toolglot.agent.loop": ("AskModel", "Done", "Loop", "RunTools"),
    "toolglot.agent.mcp": ("mcp_server", "mcp_tools"),
    "toolglot.agent.record": ("replay",),
    "toolglot.agent.results": ("ToolError",),
    "toolglot.agent.run": ("Run", "ToolRun"),
    "toolglot.agent.runnable": ("Context",),
    "toolglot.catalog.profile": ("Profile",),
    "toolglot.catalog.profiles": ("profile",),
    "toolglot.client.async_client": ("AsyncClient",),
    "toolglot.client.retry": ("RetryPolicy",),
    "toolglot.client.sync_client": ("Client",),
    "toolglot.client.transport": ("TransportLimits",),
    "toolglot.core.events": ("Close", "Delta", "Fault", "Finish", "Open", "Start"),
    "toolglot.core.extraction": ("Extraction",),
    "toolglot.core.fold": ("fold", "unfold"),
    "toolglot.core.messages": ("Media", "Message", "Reasoning", "Text", "ToolCall", "ToolResult"),
    "toolglot.core.reply": ("Decision", "Reply", "Stop", "Usage"),
    "toolglot.core.request": ("Request",),
    "toolglot.core.tools": ("Choice", "Tool"),
    "toolglot.errors": (
        *("ArgumentsError", "CallerError", "KeyMissingError", "LossError", "OutputError", "ToolglotError", "UpstreamError"),
    ),
    "toolglot.grammars.response_template": ("dialect_from_template",),
    "toolglot.pipeline.convert": ("convert", "convert_stream", "read_stream"),
    "toolglot.pipeline.response.extract": ("StreamExtractor", "extract"),
    "toolglot.pipeline.formats": ("format_tool_result", "format_tools", "parse_tool_calls"),
    "toolglot.pipeline.response.call_validator": ("validate",),
    "toolglot.pipeline.request.prepare": ("PreparedRequest", "prepare"),
    "toolglot.pipeline.request.prompts": ("augment_system_prompt",),
    "toolglot.pipeline.request.route": ("normalize_model",),
    "toolglot.pipeline.request.tool_grammar": ("ToolGrammar", "grammar"),
    "toolglot.schema.arguments": ("parse_arguments",),
    "toolglot.schema.from_function": ("tool",),
}
_HOME_NAMES = {"RetryPolicy": "Policy", "TransportLimits": "Limits"}  # where a name is only clear in its module
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        renamed = PYTHON_NAMES.get(name)
        hint = f"; it was renamed to {renamed}" if renamed else ""
        raise AttributeError(f"module 'toolglot' has no attribute {name!r}{hint}")
    value = getattr(import_module(home), _HOME_NAMES.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
