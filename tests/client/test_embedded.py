"""The embedded model, really run: asked, streamed, cancelled, shared, and gone when the process is."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.llamacpp import LlamaServer
from toolglot.client import embedded_runtime
from toolglot.client.embedded import Embedded, locate
from toolglot.client.http import HttpTransport
from toolglot.client.transport import Answer
from toolglot.errors import CallerError, UpstreamError

pytestmark = pytest.mark.usefixtures("smollm2_path")

CALL = {
    "type": "object",
    "properties": {
        "name": {"const": "get_weather"},
        "arguments": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["c", "f"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}
WEATHER = {
    "messages": [{"role": "user", "content": "What is the weather in Paris, in degrees Celsius? Answer with a call in JSON."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": CALL}},
}
LONG = 3000  # tokens, half a minute of work
STORY = {"messages": [{"role": "user", "content": "Tell a story."}], "max_tokens": LONG, "ignore_eos": True}


def body(question: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({"model": "smollm2", "temperature": 0, "max_tokens": 60, **question, **changes}).encode()


async def chat(local: Embedded, sent: bytes) -> Answer:
    return await local.send("POST", "local:/v1/chat/completions", {"content-type": "application/json"}, sent)


async def whole(local: Embedded, sent: bytes) -> dict[str, Any]:
    answer = await chat(local, sent)
    data: dict[str, Any] = json.loads(await answer.read())
    assert answer.status == 200, data
    return data


def run(work: Callable[[Embedded], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        local = Embedded(HttpTransport(), progress=None)
        try:
            return await work(local)
        finally:
            await local.aclose()

    return asyncio.run(main())


def text_of(reply: dict[str, Any]) -> str:
    return str(reply["choices"][0]["message"]["content"])


def test_a_schema_holds_the_model_and_the_same_question_has_the_same_answer() -> None:
    async def work(local: Embedded) -> list[dict[str, Any]]:
        first = await whole(local, body(WEATHER))
        await whole(local, body(STORY, max_tokens=5))  # another prompt in between: the cache must not change what comes
        return [first, await whole(local, body(WEATHER))]

    embedded_runtime.stop_all()  # its name is the one under which it was loaded first
    first, second = run(work)
    assert json.loads(text_of(first)) == {"name": "get_weather", "arguments": {"city": "Paris", "unit": "c"}}
    assert text_of(second) == text_of(first)
    assert first["model"] == "smollm2"


def test_a_seed_fixes_what_chance_decides() -> None:
    async def work(local: Embedded) -> list[str]:
        story = {**STORY, "max_tokens": 24}
        return [text_of(await whole(local, body(story, temperature=1.2, seed=seed))) for seed in (1, 1, 2)]

    one, again, other = run(work)
    assert one == again != other


def test_a_grammar_holds_the_model() -> None:
    question = {"messages": [{"role": "user", "content": "Is the sky green?"}], "grammar": 'root ::= "maybe so" | "perhaps"'}
    assert text_of(run(lambda local: whole(local, body(question)))) in {"maybe so", "perhaps"}


def test_streamed_and_whole_replies_are_the_same() -> None:
    async def work(local: Embedded) -> tuple[list[bytes], dict[str, Any]]:
        answer = await chat(local, body(WEATHER, stream=True))
        assert answer.headers["content-type"] == "text/event-stream"
        return [piece async for piece in answer], await whole(local, body(WEATHER))

    pieces, reply = run(work)
    assert len(pieces) > 5  # as they come, not at the end
    assert b"".join(pieces).endswith(b"data: [DONE]\n\n")
    assert toolglot.fold(toolglot.read_stream(pieces, "local")).text == text_of(reply)


def test_the_servers_other_endpoints_are_there() -> None:
    async def work(local: Embedded) -> list[Any]:
        asked = [
            ("GET", "/props?model=smollm2", b""),
            ("POST", "/tokenize", b'{"model": "smollm2", "content": "hello world"}'),
            ("GET", "/nothing?model=smollm2", b""),
        ]
        answers = [await local.send(method, f"local:{path}", {}, sent) for method, path, sent in asked]
        return [(answer.status, json.loads(await answer.read())) for answer in answers]

    (_, props), (_, tokens), (missing, _) = run(work)
    assert props["chat_template_caps"]["supports_tools"] is False
    assert props["default_generation_settings"]["n_ctx"] == 8192, "as much as it was trained on"
    assert tokens == {"tokens": [28120, 905]}
    assert missing == 404


def test_a_server_error_is_passed_on() -> None:
    async def work(local: Embedded) -> tuple[int, dict[str, Any]]:
        answer = await chat(local, b'{"model": "smollm2", "messages": 5}')
        return answer.status, json.loads(await answer.read())

    status, said = run(work)
    assert (status, said["error"]["type"]) == (400, "invalid_request_error")


def test_one_file_is_loaded_once_whatever_it_is_called(
    smollm2_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.gguf").symlink_to(smollm2_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["smollm2", "mine.gguf", str(tmp_path / "mine.gguf"), "~/mine.gguf"]
    assert {locate(name)[1] for name in names} == {smollm2_path.resolve()}

    async def work(local: Embedded) -> dict[str, Any]:
        await asyncio.gather(*(whole(local, body(STORY, model=name, max_tokens=2)) for name in names))
        answer = await local.send("GET", "local:/v1/models", {})
        return dict(json.loads(await answer.read()))

    embedded_runtime.stop_all()
    threads = [threading.Thread(target=run, args=(work,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert embedded_runtime.loaded() == [smollm2_path.resolve()]
    listed = {row["id"]: row for row in run(work)["data"]}
    assert set(listed) == {"smollm2", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"}
    assert listed["smollm2"]["meta"]["here"] is True


def test_models_are_listed_without_loading_one() -> None:
    embedded_runtime.stop_all()
    run(lambda local: local.send("GET", "local:/v1/models", {}))
    assert embedded_runtime.loaded() == []


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_given_up_stops_the_model(stream: bool) -> None:
    async def work(local: Embedded) -> str:
        await whole(local, body(STORY, max_tokens=1))
        task = asyncio.create_task(chat(local, body(STORY, stream=stream)))
        await asyncio.sleep(0.3)
        if stream:
            await (await task).aclose()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await whole(local, body(STORY, max_tokens=1))  # it queues behind the one that was given up
        answer = await local.send("GET", "local:/metrics?model=smollm2", {})
        return (await answer.read()).decode()

    embedded_runtime.stop_all()
    counted = next(line for line in run(work).splitlines() if line.startswith("llamacpp:tokens_predicted_total "))
    assert float(counted.split()[1]) < LONG / 2


def test_requests_without_the_key_are_rejected(smollm2_path: Path) -> None:
    model = embedded_runtime.running(smollm2_path.resolve(), "smollm2").result()
    assert model.key not in repr(model)

    async def main() -> list[int]:
        async with HttpTransport() as http:
            return [(await http.send("GET", model.address + path, {})).status for path in ("/v1/models", "/props", "/slots")]

    assert asyncio.run(main()) == [401, 401, 401]


def test_an_unknown_model_is_a_caller_error(tmp_path: Path) -> None:
    (tmp_path / "poem.gguf").write_text("roses are red")
    with pytest.raises(CallerError, match=r"'no/such\.gguf' is neither known \(smollm2, .*\) nor a file"):
        run(lambda local: chat(local, body(STORY, model="no/such.gguf")))
    with pytest.raises(CallerError, match=r"poem\.gguf is not a GGUF file"):
        run(lambda local: chat(local, body(STORY, model=str(tmp_path / "poem.gguf"))))
    with pytest.raises(CallerError, match="body: not a JSON object"):
        run(lambda local: chat(local, b"["))
    with pytest.raises(CallerError, match="only local:"):
        run(lambda local: local.send("GET", "http://127.0.0.1/", {}))


def test_a_broken_file_is_reported_without_other_output(
    smollm2_path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(smollm2_path.read_bytes()[:2_000_000])
    with pytest.raises(UpstreamError, match="is it a complete GGUF file") as raised:
        run(lambda local: chat(local, body(STORY, model=str(broken))))
    assert raised.value.code == "model_unloadable"
    assert not raised.value.retryable
    shutil.copyfile(smollm2_path, broken)  # mended, it is tried again
    assert text_of(run(lambda local: whole(local, body(STORY, model=str(broken), max_tokens=2))))
    embedded_runtime.stop_all()
    assert capfd.readouterr() == ("", "")


def test_without_llama_cpp_the_extra_is_named(smollm2_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded_runtime.stop_all()
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UpstreamError, match=r'pip install "toolglot\[local\]"') as raised:
        run(lambda local: chat(local, body(STORY)))
    assert not raised.value.retryable


@pytest.mark.parametrize(("variable", "value"), [("TOOLGLOT_LOCAL_CTX", "many"), ("TOOLGLOT_LOCAL_THREADS", "0")])
def test_an_invalid_setting_is_named(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded_runtime.stop_all()
    monkeypatch.setenv(variable, value)
    with pytest.raises(CallerError, match=f"{variable}: '{value}' is not a number"):
        run(lambda local: chat(local, body(STORY)))


def test_the_context_is_as_long_as_is_wished(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded_runtime.stop_all()
    monkeypatch.setenv("TOOLGLOT_LOCAL_CTX", "512")

    async def work(local: Embedded) -> dict[str, Any]:
        return dict(json.loads(await (await local.send("GET", "local:/props?model=smollm2", {})).read()))

    assert run(work)["default_generation_settings"]["n_ctx"] == 512

    async def too_long(local: Embedded) -> tuple[int, dict[str, Any]]:
        answer = await chat(local, body({"messages": [{"role": "user", "content": "many words " * 600}]}))
        return answer.status, json.loads(await answer.read())["error"]

    status, error = run(too_long)
    assert (status, error["type"]) == (400, "exceed_context_size_error")
    assert re.fullmatch(
        r"the prompt has 1\d+ tokens, the context window of smollm2 512: set TOOLGLOT_LOCAL_CTX .*", error["message"]
    )
    embedded_runtime.stop_all()


RECORDED = Path(__file__).parents[2] / "fixtures" / "servers" / "llamacpp" / "smollm2"


@pytest.mark.parametrize(
    ("file", "method", "path"),
    [
        ("props.json", "GET", "/props"),
        ("models.json", "GET", "/v1/models"),
        ("chat.reply.json", "POST", "/v1/chat/completions"),
    ],
)
def test_what_was_recorded_is_what_a_server_says(llamacpp_server: LlamaServer, file: str, method: str, path: str) -> None:
    sent = (RECORDED / "chat.request.json").read_bytes() if method == "POST" else b""

    async def main() -> Any:
        async with HttpTransport() as http:
            return json.loads(await (await http.send(method, llamacpp_server.address + path, {}, sent)).read())

    assert shape(asyncio.run(main())) == shape(json.loads((RECORDED / file).read_bytes()))


def shape(value: Any) -> Any:
    """The keys and the kinds of values: those stay, where times and ids change."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__


START = """
import asyncio, sys, threading
from toolglot.client import embedded_runtime
from toolglot.client.embedded import Embedded, locate
from toolglot.client.http import HttpTransport
local = Embedded(HttpTransport())
def story(stream, tokens=3000):
    asked = b'[{"role": "user", "content": "Tell a story."}]'
    body = b'{"model": "smollm2", "messages": ' + asked + b', "ignore_eos": true, "max_tokens": %d, "stream": %s}'
    return local.send("POST", "local:/v1/chat/completions", {}, body % (tokens, stream))
async def begun():
    answer = await story(b"true")
    async for piece in answer:
        return answer
def load_and_stop():
    stopped = threading.Event()
    model = embedded_runtime.running(locate("smollm2")[1], "smollm2")
    model.add_done_callback(lambda _: (embedded_runtime.stop_all(), stopped.set()))
    stopped.wait()
def forever():
    loop = asyncio.new_event_loop()
    async def quietly():
        await asyncio.gather(story(b"false"), return_exceptions=True)
    task = loop.create_task(quietly())
    loop.run_forever()
"""
ENDS: dict[str, tuple[str, int]] = {
    "loaded and not asked": ("embedded_runtime.running(locate('smollm2')[1], 'smollm2').result()", 0),
    "stopped as soon as loaded": ("for _ in range(5): load_and_stop()", 0),  # five times, for it is a race that was lost
    "while loading": ("embedded_runtime.running(locate('smollm2')[1], 'smollm2')", 0),
    "answered": ("asyncio.run(story(b'false', 3))", 0),
    "amid a stream": ("kept = asyncio.run(begun())", 0),
    "amid a stream, the loop left open": ("loop = asyncio.new_event_loop(); kept = loop.run_until_complete(begun())", 0),
    "amid an answer in a thread": ("threading.Thread(target=forever, daemon=True).start(); import time; time.sleep(2)", 0),
    "by an exit": ("asyncio.run(story(b'false', 3)); sys.exit(3)", 3),
    "by an error": ("asyncio.run(begun()); raise KeyError(5)", 1),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_process_ends_by_itself(end: str) -> None:
    code, expected = ENDS[end]
    ends(code, expected)


def test_two_models_end_with_the_process(smollm2_path: Path, tmp_path: Path) -> None:
    other = shutil.copyfile(smollm2_path, tmp_path / "other.gguf")
    ends(f"for name in ('smollm2', {str(other)!r}): embedded_runtime.running(locate(name)[1], name).result()", 0)


def ends(code: str, expected: int) -> None:
    done = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=300, check=False)
    said = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (expected, "")
    assert (said[-1:] == ["KeyError: 5"]) if expected == 1 else (said == [])
