"""Running a tool: sync and async functions, what they give, how they fail."""

from __future__ import annotations

import asyncio
import base64
import contextvars
import dataclasses
import datetime as dt
import enum
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest

from toolglot.agent.results import without_secrets
from toolglot.agent.runnable import Context, Runnable, ToolError, as_result, error_result, runnable
from toolglot.core.messages import Media, Text, ToolCall
from toolglot.core.tools import Tool
from toolglot.errors import ArgumentsError, CallerError
from toolglot.schema.from_function import tool

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PICTURE = Media("image", "image/png", base64.b64encode(PNG).decode())
WORD: contextvars.ContextVar[str] = contextvars.ContextVar("WORD", default="none")


def ran(thing: Any, arguments: dict[str, Any] | None = None, context: Context | None = None) -> Any:
    async def work() -> Any:
        return await asyncio.wait_for(runnable(thing).run(arguments or {}, context or Context()), 300)

    return asyncio.run(work())


def test_a_function_runs_in_a_thread_with_the_context_variables() -> None:
    def where(x: dt.date) -> Any:
        return x, threading.current_thread() is threading.main_thread(), WORD.get()

    token = WORD.set("word")
    try:
        assert ran(where, {"x": "2026-01-31"}) == (dt.date(2026, 1, 31), False, "word")
    finally:
        WORD.reset(token)


def test_the_loop_goes_on_while_a_function_blocks() -> None:
    let = threading.Event()

    def blocks() -> str:
        return "free" if let.wait(300) else "stuck"

    async def work() -> Any:
        task = asyncio.ensure_future(runnable(blocks).run({}, Context()))
        await asyncio.sleep(0.01)
        let.set()
        return await task

    assert asyncio.run(work()) == "free"


def test_an_async_function_is_awaited_on_the_loop_and_costs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("toolglot.agent.runnable.in_thread")

    @tool
    async def where(x: int) -> Any:
        await asyncio.sleep(0)
        return x, threading.current_thread() is threading.main_thread()

    assert ran(where, {"x": 1}) == (1, True)


def test_generators_give_all_they_have() -> None:
    def counts() -> Iterator[int]:
        yield from (1, 2)

    async def waits() -> AsyncIterator[int]:
        yield 1
        yield 2

    async def hands_on() -> Iterator[int]:
        return map(int, "12")

    def opened() -> Iterator[int]:
        return iter([1, 2])

    async def forgets() -> Any:
        return asyncio.sleep(0, [1, 2])

    assert ran(counts) == ran(waits) == ran(hands_on) == ran(opened) == ran(forgets) == [1, 2]


def test_the_context_is_handed_in_and_its_state_is_shared() -> None:
    def remember(word: str, context: Context) -> str:
        context.state[word] = context.call.id if context.call else None
        return word

    context = Context(call=ToolCall("c1", "remember"))
    assert ran(remember, {"word": "a"}, context) == "a"
    assert context.state == {"a": "c1"}
    assert Context().state == {}
    assert list((runnable(remember).tool.schema or {})["properties"]) == ["word"]


def test_the_options_of_the_decorator_are_kept() -> None:
    @tool(timeout=2, cache_for=5)
    def f(x) -> None:  # type: ignore[no-untyped-def]
        """F."""

    found = runnable(f)
    assert (found.timeout, found.cache_for, found.source) == (2, 5, "python")
    assert found.notes == ("f(x): no type hint; any value is accepted",)
    assert type(found.tool) is Tool
    assert runnable(found) is found


@pytest.mark.parametrize("thing", [Tool("weather"), {"name": "weather"}])
def test_a_mere_definition_can_t_be_run(thing: Any) -> None:
    with pytest.raises(CallerError, match="weather is only a definition"):
        runnable(thing)


def test_arguments_that_don_t_fit_never_reach_the_function() -> None:
    def f(x: int) -> None:
        raise AssertionError

    with pytest.raises(ArgumentsError, match="x: expected an integer"):
        ran(f, {"x": "one"})


def stops() -> None:
    raise StopIteration("here")


def exits() -> None:
    sys.exit(3)


async def exits_later() -> None:
    sys.exit(3)


@pytest.mark.parametrize(
    ("thing", "error", "expected"),
    [
        (stops, RuntimeError, "RuntimeError: StopIteration: here"),
        (exits, ToolError, "the tool tried to end the program"),
        (exits_later, ToolError, "the tool tried to end the program"),
    ],
)
def test_what_could_break_the_loop_becomes_an_error(thing: Any, error: type[Exception], expected: str) -> None:
    with pytest.raises(error) as caught:
        ran(thing)
    assert error_result(caught.value) == (Text(expected),)


def test_a_stuck_function_does_not_keep_the_program() -> None:
    code = (
        "import asyncio, time\n"
        "from toolglot.agent.runnable import Context, runnable\n"
        "def stuck() -> None:\n"
        "    time.sleep(1000)\n"
        "async def main():\n"
        "    try:\n"
        "        await asyncio.wait_for(runnable(stuck).run({}, Context()), 0.1)\n"
        "    except TimeoutError:\n"
        "        print('left')\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, timeout=300, capture_output=True, text=True)
    assert ended.stdout == "left\n"


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Data:
    x: int


class Struct(msgspec.Struct):
    x: int


class Model(pydantic.BaseModel):
    x: int
    on: dt.date


class Drawn:
    def _repr_png_(self) -> bytes:
        return PNG


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


class Plain:
    def __str__(self) -> str:
        return "plain words"


class Mute:
    def __str__(self) -> str:
        raise ValueError("no")


class Broken:
    def model_dump(self, mode: str) -> Any:
        raise LookupError(mode)

    def __str__(self) -> str:
        return "its text"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(no output)"),
        ("", "(no output)"),
        ("21C", "21C"),
        (3, "3"),
        (True, "true"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([], "[]"),
        (["a", "b"], '["a","b"]'),
        ((1, "a"), '[1,"a"]'),
        (Data(1), '{"x":1}'),
        (Struct(1), '{"x":1}'),
        ([Model(x=1, on=dt.date(2026, 1, 31))], '[{"x":1,"on":"2026-01-31"}]'),
        ({"c": Colour.RED, "p": Path("/a")}, '{"c":"red","p":"/a"}'),
        (Array(), "[1,2]"),
        ([Plain()], '["plain words"]'),
        ({(1, 2): 3}, '{"(1, 2)":3}'),
        (["\ud800"], "['\\ud800']"),
        (Broken(), "its text"),
        (Mute(), "(a Mute that can't be shown: ValueError)"),
        (b"bytes of text", "bytes of text"),
        (Text("text"), "text"),
        ("caf\udce9", "caf\ufffd"),
    ],
)
def test_a_value_that_is_not_media_is_text(value: Any, text: str) -> None:
    assert as_result(value) == (Text(text),)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (PNG, (PICTURE,)),
        (bytearray(PNG), (PICTURE,)),
        ((b"abc", "audio/wav"), (Media("audio", "audio/wav", "YWJj"),)),
        (b"RIFF\x00\x00\x00\x00WEBP", (Media("image", "image/webp", "UklGRgAAAABXRUJQ"),)),
        (b"\xff\xfe", (Media("file", "application/octet-stream", "//4="),)),
        (Drawn(), (PICTURE,)),
        (PICTURE, (PICTURE,)),
        (["a map", Drawn(), {"scale": 1}], (Text("a map"), PICTURE, Text('{"scale":1}'))),
        ((Text("a"), Text("b")), (Text("a"), Text("b"))),
    ],
)
def test_pictures_and_files_are_media(value: Any, parts: Any) -> None:
    assert as_result(value) == parts


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no such city\nTraceback: line 3"), "ValueError: no such city"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (OSError("no caf\udce9"), "OSError: no caf\ufffd"),
        (TimeoutError(), "the tool took too long"),
        (ExceptionGroup("many", [ValueError("first"), KeyError("y")]), "ValueError: first"),
        (ArgumentsError("x: is missing"), "x: is missing"),
        (ToolError("try a larger city"), "try a larger city"),
        (ValueError("x" * 1000), "ValueError: " + "x" * 397 + "..."),
    ],
)
def test_a_failure_is_one_short_line(error: Exception, expected: str) -> None:
    assert error_result(error) == (Text(expected),)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("GET https://me:hunter2@host/x", "GET https://***@host/x"),
        ("Authorization: Bearer abcdefgh.ijkl", "Authorization: Bearer ***"),
        ("?api_key=abcdefghij&x=1", "?api_key=***&x=1"),
        ('{"password": "correcthorse"}', '{"password": "***"}'),
        ("bad key sk-proj-abcdefghijklmnop", "bad key ***"),
        ("the token: x", "the token: x"),
        ("unknown key: name", "unknown key: name"),
        ("login failed: password=hunter2", "login failed: password=***"),
        ("DB_PASSWORD: a", "DB_PASSWORD: ***"),
        ("?token=ab&x=1", "?token=***&x=1"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ("{'Authorization': 'Basic YTpi'}", "{'Authorization': 'Basic ***'}"),
        ("it has zyxwvuts9 in it", "it has *** in it"),
    ],
)
def test_secrets_are_masked(text: str, hidden: str) -> None:
    environ = {"MY_API_KEY": "zyxwvuts9", "HOME": "GET https", "SHORT_TOKEN": "the"}
    assert without_secrets(text, environ) == hidden


def test_a_runnable_can_be_made_of_anything_async() -> None:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        return arguments

    assert ran(Runnable(Tool("own"), run), {"a": 1}) == {"a": 1}
