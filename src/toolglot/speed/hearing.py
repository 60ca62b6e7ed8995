"""Calls in a model's text: what one is made of, and hearing it whole or in small pieces."""

from __future__ import annotations

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.pipeline.extract import StreamExtractor, toolset
from toolglot.speed.conversation import REPLY_TEXT, SYSTEM, TURNS
from toolglot.speed.subject import Subject
from toolglot.text.json_text import dumps

DIALECTS = ("hermes", "qwen3_coder", "mistral", "pythonic", "fenced_json")  # of five grammars
SIZE = 4_000  # characters: a file that an agent writes, an answer of a page and a half
PIECE = 4  # characters: about what a token has

# What agents write into files: quotes of all kinds, brackets, line breaks, tags, escapes.
SOURCE = '''def render(page: dict[str, str], *, title="home", tags=("<b>", "</b>")) -> str:
    """Gives "<html>" with {title}; see <a href="/notes">the notes</a>."""
    found = {key: [value, "it's"] for key, value in page.items() if key != "<br/>" and value[0] not in "[({"}
    if not found and len(page) < 3 or title > "m":
        return f"<div class=\\"main\\">{title}\\n</div>"  # 'a' & "b", \\d+, </function>
    return '<p>none</p>' + "".join(f"<li>{one}: {two!r}</li>" for one, two in found.items())


'''
TOOLS = toolset(
    [
        Tool(
            "write_file",
            "Writes a file.",
            {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        )
    ]
)


def content(size: int) -> str:
    return _so_long(SOURCE, size)


def prose(size: int) -> str:
    said = [turn if isinstance(turn, str) else turn[0] or "" for turn in TURNS]
    return _so_long("\n\n".join([*said, REPLY_TEXT, SYSTEM, ""]), size)


def _so_long(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def written(dialect: str, size: int) -> str:
    """One call with an argument of so many characters, as the dialect writes it."""
    found = find_dialect(dialect)
    if found is None:
        raise LookupError(dialect)
    arguments = dumps({"path": "page.py", "content": content(size)})
    return found.render_calls((ToolCall("write_file_0", "write_file", arguments),))


def pieces_of(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def hear(pieces: list[str], named: str) -> StreamExtractor:
    extractor = StreamExtractor(TOOLS, dialect=named)
    for piece in pieces:
        extractor.feed(piece)
    extractor.close()
    return extractor


def texts() -> list[Subject]:
    """A few dialects that are asked for by name, and prose in which a call of any may come."""
    said = {name: (written(name, SIZE), name) for name in DIALECTS}
    said["prose, as auto"] = prose(SIZE), "auto"
    found = []
    for name, (text, named) in said.items():
        for way, unit, pieces in (("whole", "text", [text]), ("streamed", "delta", pieces_of(text))):
            run = lambda pieces=pieces, named=named: hear(pieces, named)  # noqa: E731
            found.append(Subject(f"{name}, {way}", run, unit, len(pieces), len(text.encode())))
    return found
