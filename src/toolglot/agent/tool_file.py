"""Loads the tools of a Python file: its `@tool`s, else its public functions with typed parameters."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from zlib import crc32

from toolglot.core.tools import Tool
from toolglot.errors import CallerError


def load_tools(path: str | Path) -> list[Any]:
    """Executes the file, like `python FILE`: load only files that you trust."""
    path = Path(os.path.expanduser(path)).resolve()
    module = _load(path)
    named = {id(value): value for name, value in vars(module).items() if not name.startswith("_")}
    public = list(named.values())  # each object once, even with several names
    decorated = [value for value in public if isinstance(value, Tool) and callable(value)]
    functions = [value for value in public if isinstance(value, FunctionType) and value.__module__ == module.__name__]
    found: list[Any] = decorated or [function for function in functions if _has_type_hints(function)]
    if not found:
        untyped = f"; {functions[0].__name__} has parameters without type hints" if functions else ""
        raise CallerError(f"{path} has no tools: neither an @tool nor a function with type hints{untyped}", "tools")
    return found


def _has_type_hints(function: FunctionType) -> bool:
    return all(one.annotation is not inspect.Parameter.empty for one in inspect.signature(function).parameters.values())


def _load(path: Path) -> ModuleType:
    if not path.is_file():
        raise CallerError(f"there is no file {path}", "tools")
    name = f"toolglot_tools_{path.stem}_{crc32(os.fsencode(path)):08x}".replace("-", "_")  # unique per folder
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CallerError(f"{path} is not a Python file: its name must end in .py", "tools")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look up their module here
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # for imports of neighbouring files
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise CallerError(f"{path} can't be loaded: {_line(error, path)}{type(error).__name__}: {error}", "tools") from error
    return module


def _line(error: BaseException, path: Path) -> str:
    """The last line of this file in the traceback."""
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}: " if line is not None else ""
