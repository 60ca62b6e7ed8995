"""Negatives from real texts: docstrings and READMEs of well-known packages, with the functions they mention as tools.

The wheels are read, never installed or imported. Every text documents something: none makes a call.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import keyword
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from zipfile import ZipFile

from packages import PACKAGES
from wheels import metadata, wheel

_MENTION = re.compile(r"(?<![\w.`])`{0,2}([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(")
_NAMED = re.compile(r"[\"'](?:name|tool_name|tool|function)[\"']\s*:\s*[\"']([A-Za-z_][\w.-]*)[\"']")
_ARGUMENTS = re.compile(r"[\"'](?:arguments|parameters|args|tool_input)[\"']")
_KEYWORDS = re.compile(r"(\w+)\s*=[^=]")
_COMMON = {*dir(builtins), *keyword.kwlist, "self", "cls", "main", "async"}
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_DIALECT = re.compile(
    r"</?tool_call|\[TOOL_CALLS\]|<function[=_ ]\w|<invoke|Action Input:|[\"']arguments[\"']\s*:|tool_calls=\["
)
_HEADING = re.compile(r"^(?:#{1,4} .+|[^\n]+\n[=\-~^]{4,})$", re.MULTILINE)
_EACH, _SECTIONS, _SPEAKING = 10, 5, 12


@dataclass(frozen=True)
class Found:
    kind: str  # docstring | readme
    text: str
    tools: list[dict[str, Any]]
    source: str


def found_negatives(rng: Random) -> list[Found]:
    taken: list[Found] = []
    for at, (package, version) in enumerate(PACKAGES, 1):
        print(f"\rreading packages {at}/{len(PACKAGES)} {package:<24}", end="", file=sys.stderr, flush=True)
        taken += _of_package(wheel(package, version), f"{package} {version}", rng)
    print(file=sys.stderr)
    return taken


def _of_package(package: ZipFile, source: str, rng: Random) -> list[Found]:
    trees = list(_trees(package))
    signatures = {node.name: node for _, tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    texts: dict[str, str] = {}
    for path, tree in trees:
        for name, text in _docstrings(tree):
            texts.setdefault(text, f"{source}: {path} {name}")
    rows = [row for text, where in texts.items() if (row := _row("docstring", text, where, signatures, rng))]
    speaking = [row for row in rows if _DIALECT.search(row.text)]
    plain = [row for row in rows if not _DIALECT.search(row.text)]
    sections = [
        row for text in _sections(metadata(package)) if (row := _row("readme", text, f"{source}: README", signatures, rng))
    ]
    return [
        *rng.sample(plain, min(_EACH, len(plain))),
        *rng.sample(speaking, min(_SPEAKING, len(speaking))),
        *rng.sample(sections, min(_SECTIONS, len(sections))),
    ]


def _trees(package: ZipFile) -> Iterator[tuple[str, ast.Module]]:
    for name in sorted(package.namelist()):
        if name.endswith(".py") and "test" not in name and "_pb2" not in name and "vendor" not in name:
            try:
                with warnings.catch_warnings(action="ignore"):
                    yield name, ast.parse(package.read(name))
            except (SyntaxError, ValueError):
                continue


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node, clean=False)
            if text:
                yield getattr(node, "name", "module"), inspect.cleandoc(text)


def _sections(document: str) -> Iterator[str]:
    """The README below the headers, cut at its headings; each part keeps its own."""
    body = document.split("\n\n", 1)[-1]
    starts = [match.start() for match in _HEADING.finditer(body) if body.count("```", 0, match.start()) % 2 == 0] or [0]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        yield body[start:end].strip()


def _row(kind: str, text: str, source: str, signatures: dict[str, ast.FunctionDef], rng: Random) -> Found | None:
    longest = 3000 if _DIALECT.search(text) else 1600
    if not 120 <= len(text) <= longest or _prose(text) < 18:
        return None
    named = _NAMED.findall(text) if _ARGUMENTS.search(text) else []
    mentioned = [match[1] for match in _MENTION.finditer(text) if _is_code(match, text, signatures)]
    names = [name for name in dict.fromkeys([*named, *mentioned]) if _is_worth(name)]
    if not names:
        return None
    chosen = names if len(names) <= 3 else rng.sample(names, 3)
    return Found(kind, text, [_tool(name, text, signatures) for name in sorted(chosen)], source)


def _is_worth(name: str) -> bool:
    return name.rsplit(".", maxsplit=1)[-1] not in _COMMON and len(name) > 2 and not name.startswith("self.")


def _is_code(match: re.Match[str], text: str, signatures: dict[str, ast.FunctionDef]) -> bool:
    """`plot(s)` and `file(s)` are prose; a name that the package defines, or something called like code, is not."""
    rest = text[match.end() : match.end() + 40]
    if re.match(r"(?:e?s|ies)\)", rest):
        return False
    return match[1].split(".")[-1] in signatures or "." in match[1] or bool(re.match(r"\)|[\"'\[{\d]|\w+=", rest))


def _prose(text: str) -> int:
    """Words on lines that are prose: neither code, nor an example, nor a table."""
    lines = [line for line in text.splitlines() if not re.match(r"\s{4,}|>>>|\.\.\. |[-|+=`]|\s*[\[{(<]", line)]
    return sum(
        len(re.findall(r"[A-Za-z]{2,}", line)) for line in lines if "(" not in line or ". " in line or line.endswith(".")
    )


def _tool(name: str, text: str, signatures: dict[str, ast.FunctionDef]) -> dict[str, Any]:
    """As the package declares it, or as the text uses it."""
    node = signatures.get(name.rsplit(".", maxsplit=1)[-1])
    schema = _declared(node) if node else _used(name, text)
    described = (ast.get_docstring(node) or "") if node else ""
    return {"name": name, "description": described.split("\n\n")[0].replace("\n", " ")[:200], "parameters": schema}


def _declared(node: ast.FunctionDef) -> dict[str, Any]:
    positional = [*node.args.posonlyargs, *node.args.args]
    optional = len(node.args.defaults)
    required = [one.arg for one in positional[: len(positional) - optional] if one.arg not in {"self", "cls"}]
    parameters = [one for one in [*positional, *node.args.kwonlyargs] if one.arg not in {"self", "cls"}]
    return {"type": "object", "properties": {one.arg: _annotated(one) for one in parameters}, "required": required}


def _annotated(argument: ast.arg) -> dict[str, Any]:
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    return {"type": _TYPES[annotation]} if annotation in _TYPES else {}


def _used(name: str, text: str) -> dict[str, Any]:
    keys: list[str] = []
    for match in re.finditer(re.escape(name) + r"\(([^()\n]*)", text):
        keys += _KEYWORDS.findall(match.group(1))
    for match in re.finditer(r"[\"'](?:arguments|parameters|args)[\"']\s*:\s*(\{[^{}]*\})", text):
        try:
            keys += list(json.loads(match.group(1)))
        except ValueError:
            continue
    return {"type": "object", "properties": {key: {} for key in dict.fromkeys(keys)}}
