"""What the model does in a session, and what must be there afterwards."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.gateway.scripts import calls, response_to, text
from tests.gateway.text_model import FORMS
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, whole
from tests.laws.conversations import the_wire
from toolglot.core.messages import Media, Message, Part, Text, ToolCall, ToolResult
from toolglot.io.json_codec import dumps
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import NAMES

ANSWER = "Every step is done."
CONTENT = "Made through the gateway."
BIG_LINES, BIG_LINE = (
    800,
    "A line of a large file, of exactly one hundred characters with its number and its end, is here. %4d\n",
)
_LEAST = 8_000  # characters of the large file that must reach the model; agents cut what they read
_WINDOW = 400_000
_RESULT = re.compile(r"^Result of (\S+?)(?: \(.*\))?:", re.MULTILINE)

Tool = tuple[str, dict[str, Any]]
Step = tuple[str, str, str]  # kind of tool; path; content or command

SHORT: tuple[tuple[Step, ...], ...] = ((("write", "hello.txt", CONTENT),),)
LONG: tuple[tuple[Step, ...], ...] = (
    (("write", "one.txt", "1"),),
    (("read", "big.txt", ""), ("shell", "", "wc -c big.txt")),  # parallel
    (("read", "missing.txt", ""),),  # an error
    (("image", "picture.png", ""),),
    (("shell", "", "exit 3"),),  # an error
    (("write", "two.txt", "2"), ("write", "three.txt", "3")),  # parallel
    (("shell", "", "cat one.txt two.txt three.txt > all.txt"),),
)


class Effect(NamedTuple):
    """A file that must be there, and its content but for the last newline."""

    name: str
    content: str


EFFECTS = {SHORT: Effect("hello.txt", CONTENT), LONG: Effect("all.txt", "123")}


def prepare(folder: Path) -> None:
    (folder / "big.txt").write_text("".join(BIG_LINE % number for number in range(BIG_LINES)), encoding="utf-8")
    (folder / "picture.png").write_bytes(_png())


def _png(size: int = 16) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((255, 0, 0)) * size for _ in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Model:
    """Makes each turn's calls once the results of all calls before are there, natively or as text in a `form`."""

    def __init__(self, tools: dict[str, Any], turns: Sequence[Sequence[Step]], folder: Path, form: str | None) -> None:
        self._form, self.images = form, tools.get("images", True)
        self._turns = [[_call(tools, step, folder) for step in turn] for turn in turns]
        self.results = 0  # in the latest request
        self.largest = 0  # characters of a result
        self.saw_image = False
        self.problems: list[str] = []

    def __call__(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.method == "GET":
            return whole({"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": _WINDOW}]})
        path = request.path.partition("?")[0]
        if not any(re.fullmatch(the_wire(name).server.chat_path, path) for name in NAMES):  # a count of tokens
            return whole({"error": {"message": "there is no such path"}}, 404)
        found = self._results(request)
        self.results = max(self.results, len(found))
        self.largest = max([self.largest, *map(len, found)])
        made = 0
        for turn in self._turns:
            if made == len(found):
                return self._response(request, turn)
            made += len(turn)
        if made != len(found):
            self.problems.append(f"{len(found)} results for {made} calls")
        return response_to(request, text(ANSWER))

    def _response(self, request: UpstreamRequest, turn: list[Tool]) -> UpstreamResponse:
        if self._form is not None:
            return response_to(request, text("\n".join(FORMS[self._form](*call) for call in turn)))
        if not request.body.get("tools"):  # for a title, or another text beside the session
            return response_to(request, text("A title"))
        made = [ToolCall(f"call_{name}_{at}", name, dumps(given)) for at, (name, given) in enumerate(turn, self.results)]
        return response_to(request, calls(*made))

    def _results(self, request: UpstreamRequest) -> list[str]:
        body = request.body if "model" in request.body else {**request.body, "model": "m"}
        messages = wire_format(request.wire).wire.read_request(body).messages
        parts = [part for message in messages for part in message.parts]
        if self._form is not None:
            return [one for message in messages if message.role == "user" for one in _written_results(message)]
        found = [part for part in parts if isinstance(part, ToolResult)]
        inner: list[Part] = [*parts, *(one for part in found for one in part.parts)]
        self.saw_image |= any(isinstance(part, Media) and part.kind == "image" for part in inner)
        return ["".join(one.text for one in part.parts if isinstance(one, Text)) for part in found]


def _written_results(message: Message) -> list[str]:
    written = "".join(part.text for part in message.parts if isinstance(part, Text))
    starts = [found.start() for found in _RESULT.finditer(written)]
    return [written[start:end] for start, end in pairwise([*starts, len(written)])]


def _call(tools: dict[str, Any], step: Step, folder: Path) -> Tool:
    kind, name, more = step
    values = {"path": str(folder / name), "content": more, "command": more}
    tool, given = tools[kind]
    return tool, _filled(given, values)


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, inserted in values.items():
            value = value.replace(f"{{{name}}}", inserted)
        return value
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    return [_filled(item, values) for item in value] if isinstance(value, list) else value


class EditModel:
    """For an agent that reads edits from text: a whole file in a fence."""

    results = 0
    problems: tuple[str, ...] = ()

    def __call__(self, request: UpstreamRequest) -> UpstreamResponse:
        return response_to(request, text(f"{ANSWER}\n\nhello.txt\n```\n{CONTENT}\n```\n"))


def problem(folder: Path, turns: Sequence[Sequence[Step]], model: Model | EditModel, printed: str, code: int | None) -> str:
    """Why a session did not pass; "" if it did."""
    effect = EFFECTS[turns]  # type: ignore[index]
    file = folder / effect.name
    if code != 0:
        return f"exit status {code}"
    if model.problems:
        return model.problems[0]
    if not file.is_file() or file.read_text(encoding="utf-8").rstrip("\n") != effect.content:
        return f"{effect.name} is not there, or not as written"
    if ANSWER not in printed:
        return "the answer was not printed"
    if turns is LONG and isinstance(model, Model):
        if model.largest < _LEAST:
            return f"only {model.largest} characters of the large file"
        if model._form is None and model.images and not model.saw_image:
            return "the image did not reach the model"
    return ""
