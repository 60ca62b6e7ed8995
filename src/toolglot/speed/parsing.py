"""Extracting calls from a model's text: sample texts, extracted whole and in small pieces."""

from __future__ import annotations

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.io.json_codec import dumps
from toolglot.pipeline.response.extract import StreamExtractor, toolset
from toolglot.speed.conversation import REPLY_TEXT, SYSTEM, TURNS
from toolglot.speed.subject import Subject

DIALECTS = ("hermes", "qwen3_coder", "mistral", "pythonic", "fenced_json")  # one of each of five grammars
SIZE = 4_000  # characters: about the size of a file that an agent writes
PIECE = 4  # characters: about one token

# Typical file content: quotes of all kinds, brackets, line breaks, tags, escapes.
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
    return _repeat_to(SOURCE, size)


def prose(size: int) -> str:
    replies = [turn if isinstance(turn, str) else turn[0] or "" for turn in TURNS]
    return _repeat_to("\n\n".join([*replies, REPLY_TEXT, SYSTEM, ""]), size)


def _repeat_to(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def written(dialect: str, size: int) -> str:
    """One call with an argument of `size` characters, in the dialect."""
    found = find_dialect(dialect)
    if found is None:
        raise LookupError(dialect)
    arguments = dumps({"path": "page.py", "content": content(size)})
    return found.render_calls((ToolCall("write_file_0", "write_file", arguments),))


def pieces_of(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def extract_calls(pieces: list[str], named: str) -> StreamExtractor:
    extractor = StreamExtractor(TOOLS, dialect=named)
    for piece in pieces:
        extractor.feed(piece)
    extractor.close()
    return extractor


def texts() -> list[Subject]:
    """A few dialects selected by name, and prose that is scanned for every dialect."""
    samples = {name: (written(name, SIZE), name) for name in DIALECTS}
    samples["prose, as auto"] = prose(SIZE), "auto"
    found = []
    for name, (text, named) in samples.items():
        for how, unit, pieces in (("whole", "text", [text]), ("streamed", "delta", pieces_of(text))):
            run = lambda pieces=pieces, named=named: extract_calls(pieces, named)  # noqa: E731
            found.append(Subject(f"{name}, {how}", run, unit, len(pieces), len(text.encode())))
    return found
