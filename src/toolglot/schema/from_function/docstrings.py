"""Parses a docstring into a description and parameters, in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
import re

import msgspec

_PARAMETERS = {
    "args",
    "arguments",
    "parameters",
    "params",
    "other parameters",
    "keyword args",
    "keyword arguments",
    "attributes",
}
_OTHERS = {
    *("return", "returns", "yield", "yields", "raise", "raises", "except", "exceptions", "warns", "warning", "warnings"),
    *("example", "examples", "note", "notes", "see also", "references", "todo", "methods", "side effects", "receives"),
}
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,})\s*$")
_FIELD = re.compile(r"\s*[:@](\w+)(?:\s+([^:]*))?:(?:\s+(.*))?$")  # followed by a space, unlike :role:`text`
_PARAMETER_FIELDS = {"param", "parameter", "arg", "argument", "key", "keyword", "ivar", "var", "attribute"}
_NAME = r"[`'\"*]*\w+[`'\"*]*"
_GOOGLE_ENTRY = re.compile(rf"({_NAME}(?:\s*,\s*{_NAME})*)\s*(?:\(.*?\))?\s*:(?:\s+(.*))?$")
_AROUND = " `'\"*"  # a name
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


class Docstring(msgspec.Struct, frozen=True):
    description: str | None = None
    parameters: dict[str, str] = {}


def read_docstring(text: str | None) -> Docstring:
    """The description is the text before the first section."""
    lines = inspect.cleandoc(text or "").splitlines()
    head: list[str] = []
    found: dict[str, str] = {}
    at = 0
    begun = False  # whether the sections have begun
    while at < len(lines):
        section = _section(lines, at)
        if section is not None:
            title, numpy, start = section
            end = _section_end(lines, start, numpy, flat=title in _PARAMETERS)
            if title in _PARAMETERS:
                found.update(_numpy(lines[start:end]) if numpy else _google(lines[start:end]))
            at, begun = end, True
        elif field := _field(lines[at]):
            names, words = field
            end = _block_end(lines, at)
            for name in names:
                found[name] = _joined([words, *lines[at + 1 : end]])
            at, begun = end, True
        else:
            if not begun:
                head.append(lines[at])
            at += 1
    return Docstring(_paragraphs(head) or None, {name: text for name, text in found.items() if text})


def _section(lines: list[str], at: int) -> tuple[str, bool, int] | None:
    """A section's title, whether it is underlined (NumPy style), and where its body begins."""
    line = lines[at]
    title = line.strip().lower()
    if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and title in _PARAMETERS | _OTHERS:
        return title, True, at + 2
    if title.endswith(":") and not line[:1].isspace() and title[:-1].strip() in _PARAMETERS | _OTHERS:
        return title[:-1].strip(), False, at + 1
    return None


def _section_end(lines: list[str], start: int, numpy: bool, *, flat: bool) -> int:
    """A NumPy section ends at the next one; a Google section ends with its indentation.

    `flat`: entries may also be unindented, as they are after cleaning if the docstring starts with the section.
    """
    flat = flat and start < len(lines) and _GOOGLE_ENTRY.match(lines[start]) is not None
    for at in range(start, len(lines)):
        if _section(lines, at) is not None or _FIELD.match(lines[at]):
            return at
        if not numpy and lines[at].strip() and not lines[at][:1].isspace() and not (flat and _GOOGLE_ENTRY.match(lines[at])):
            return at
    return len(lines)


def _block_end(lines: list[str], at: int) -> int:
    """Where a field's indented continuation ends; it may have several paragraphs."""
    end = at + 1
    while end < len(lines) and (lines[end][:1].isspace() or not lines[end]) and not _FIELD.match(lines[end]):
        end += 1
    return end


def _field(line: str) -> tuple[list[str], str] | None:
    """reST's `:param type name: words`; for other fields (`:returns:`, `:type x:`) no names."""
    match = _FIELD.match(line)
    if match is None:
        return None
    word, about, words = match.groups()
    if word.lower() not in _PARAMETER_FIELDS or not about:
        return [], words or ""
    return [about.split()[-1].lstrip("*")], words or ""


def _google(body: list[str]) -> dict[str, str]:
    """Entries are at the body's indentation; deeper lines continue the entry."""
    indent = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    for line in body:
        match = _GOOGLE_ENTRY.match(line.strip()) if line[indent : indent + 1].strip() else None
        if match:
            current = [found.setdefault(name.strip(_AROUND), []) for name in match[1].split(",")]
        for words in current:
            words.append((match[2] or "") if match else line)
    return {name: _joined(words) for name, words in found.items()}


def _numpy(body: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    for line in body:
        match = _NUMPY_ENTRY.match(line) if line[:1].strip() else None
        if match:
            current = [found.setdefault(name.strip().lstrip("*"), []) for name in match[1].split(",")]
        else:
            for words in current:
                words.append(line)
    return {name: _joined(words) for name, words in found.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(word for line in lines if (word := line.strip()))


def _paragraphs(lines: list[str]) -> str:
    """Lines of one paragraph as one line; lists and indented blocks keep their line ends."""
    out: list[str] = []
    for line in lines:
        follows = out and out[-1][:1].strip() and line[:1].strip()
        if follows and not re.match(r"([-*+]|\d+[.)])\s", line):
            out[-1] += " " + line.strip()
        else:
            out.append(line.rstrip())
    return "\n".join(out).strip()
