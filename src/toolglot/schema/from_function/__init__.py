"""A typed Python function as a tool: its hints as JSON Schema, its docstring as descriptions, its arguments on the way in."""

from __future__ import annotations

from toolglot.schema.from_function.decorate import FunctionTool, tool
from toolglot.schema.from_function.signature import ReadFunction, read_function

__all__ = ["FunctionTool", "ReadFunction", "read_function", "tool"]
