"""The texts in vLLM's and SGLang's own tests, with the calls that these expect. Nothing of them is in this repository.

`TOOLGLOT_ENGINE_SOURCES` names a folder with checkouts `vllm` and `sglang`. Where a test has no tools, they are made of the
calls: the names, and the types of the arguments.
"""

from __future__ import annotations

import ast
import json
import sys
import unittest
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from toolglot.evaluation.dialect_cases import Case

Calls = list[tuple[str, Any]]
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}


def case(name: str, text: str, calls: Calls, tools: list[dict[str, Any]] | None = None) -> Case:
    made = [{"name": called, "arguments": arguments} for called, arguments in calls]
    return Case(name, "clean", text, made, tools=tools if tools is not None else _tools(calls))


def _tools(calls: Calls) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {"unused_tool": {}}
    for name, arguments in calls:
        known = found.setdefault(name, {})
        for key, value in arguments.items():
            types = known.setdefault(key, {"type": []})["type"]
            types += [] if _TYPES[type(value)] in types else [_TYPES[type(value)]]
    return [{"name": name, "parameters": {"type": "object", "properties": known}} for name, known in found.items()]


# -- vLLM: the rows of parametrized tests, and the configurations of its common tests, evaluated without importing them


def vllm_cases(folder: Path) -> Iterator[Case]:
    for path in sorted((folder / "tests" / "tool_parsers").glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = dict(_NAMES)
        for statement in tree.body:
            if isinstance(statement, ast.Assign):
                _assign(statement, names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                label = f"{path.stem.removeprefix('test_').removesuffix('_tool_parser')}, line {node.lineno}"
                yield from _rows(node, names, label)
                yield from _configured(node, names, label)


def _row(*values: Any, **_: Any) -> tuple[Any, ...]:
    return values


def _function(name: str, arguments: str, **_: Any) -> tuple[str, Any]:
    return name, json.loads(arguments or "{}")


_NAMES: dict[str, Any] = {
    "json": json,
    "pytest": SimpleNamespace(param=_row),
    "FunctionCall": _function,
    "ToolCall": lambda function, **_: function,
}


def _assign(statement: ast.Assign, names: dict[str, Any]) -> None:
    for target in statement.targets:
        if isinstance(target, ast.Name) and (value := _value(statement.value, names)) is not None:
            names[target.id] = value


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    try:
        return eval(compile(ast.Expression(node), "test", "eval"), dict(names))  # noqa: S307  (as running the test does)
    except Exception:  # noqa: BLE001  (it needs what is not there)
        return None


def _rows(node: ast.Call, names: dict[str, Any], label: str) -> Iterator[Case]:
    if ast.unparse(node.func) != "pytest.mark.parametrize":
        return
    given = dict(zip(("argnames", "argvalues"), node.args, strict=False)) | {one.arg or "": one.value for one in node.keywords}
    keys = _value(given["argnames"], names)
    keys = [key.strip() for key in keys.split(",")] if isinstance(keys, str) else keys
    if not keys or not {"model_output", "expected_tool_calls"} <= {*keys}:
        return
    rows = _value(given["argvalues"], names)
    if rows is None and isinstance(given["argvalues"], ast.List):  # those that can be evaluated
        rows = [row for item in given["argvalues"].elts if (row := _value(item, names)) is not None]
    for number, row in enumerate(rows or ()):
        values = dict(zip(keys, row, strict=False))
        text, calls = values["model_output"], values["expected_tool_calls"]
        if isinstance(text, str) and isinstance(calls, list) and all(name in text for name, _ in calls):
            yield case(f"{label}, row {number}", text, calls)


def _configured(node: ast.Call, names: dict[str, Any], label: str) -> Iterator[Case]:
    if ast.unparse(node.func) != "ToolParserTestConfig":
        return
    values = {one.arg: _value(one.value, names) for one in node.keywords}
    single = (values.get("single_tool_call_expected_name") or "get_weather", values.get("single_tool_call_expected_args"))
    if values.get("no_tool_calls_output"):
        yield case(f"{label}, no call", values["no_tool_calls_output"], [])
    if values.get("single_tool_call_output"):
        yield case(f"{label}, one call", values["single_tool_call_output"], [(single[0], single[1] or {"city": "Tokyo"})])


# -- SGLang: its tests run with its detectors; each whole text is noted with what came out


def sglang_cases(folder: Path) -> Iterator[Case]:
    base = import_module("sglang.srt.function_call.base_format_detector").BaseFormatDetector
    noted: list[Case] = []
    files = [
        path for name in ("test_*detector*.py", "test_function_call*.py") for path in sorted((folder / "test").rglob(name))
    ]
    for path in files:
        module = _test_module(path)
        if module is None:
            continue
        for kind in _subclasses(base):
            _note(kind, noted)
        unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    seen: set[tuple[str, str]] = set()
    for one in noted:
        key = (one.text, json.dumps(one.tools, sort_keys=True))
        if key not in seen:
            seen.add(key)
            yield one


def _test_module(path: Path) -> ModuleType | None:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001  (it needs what is not there)
        print(f"{path.name} can't be imported: {error}", file=sys.stderr)
        return None
    return module


def _subclasses(kind: type) -> Iterator[Any]:
    one: Any
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def _note(kind: Any, noted: list[Case]) -> None:
    whole = kind.__dict__.get("detect_and_parse")
    if whole is None or hasattr(whole, "notes"):
        return

    def detect_and_parse(self: Any, text: str, tools: list[Any]) -> Any:
        result = whole(self, text, tools)
        given = [tool.function.model_dump(mode="json", exclude_none=True) for tool in tools]
        calls = [(call.name, json.loads(call.parameters or "{}")) for call in result.calls]
        noted.append(case(f"{kind.__name__}, text {len(noted)}", text, calls, given))
        return result

    detect_and_parse.notes = True  # type: ignore[attr-defined]
    kind.detect_and_parse = detect_and_parse
