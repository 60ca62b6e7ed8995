"""Responses that continue an earlier one: the gateway stores conversations per key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, Running, config, run, serving
from tests.gateway.scripts import calls, fixture, in_turn, question, text, weather
from tests.gateway.upstream_server import Upstream, upstream_server, whole
from toolglot.core.messages import Message, Text
from toolglot.errors import CallerError
from toolglot.gateway.store import Store


async def _ask(gateway: Running, stream: bool, **fields: Any) -> Any:
    """The response object, whole or from the stream's last event."""
    sent = {"model": "anthropic/m", "stream": stream, **fields}
    status, body, _ = await gateway.ask("POST", "/v1/responses", sent)
    assert status == 200, body
    if not stream:
        return body
    last = body.rstrip().split(b"\ndata: ")[-1]
    return msgspec.json.decode(last)["response"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_stored_conversation_continues(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                up.play = in_turn(calls(weather({"city": "Paris"}, id="toolu_1")), text("It is warm."), text("Yes."))
                await _three_turns(gateway, up, upstream, stream)

    run(work())


async def _three_turns(gateway: Running, up: Upstream, upstream: str, stream: bool) -> None:
    model = f"{upstream}/m"
    tools = question("openai-responses", model)["tools"]
    request = {"model": model, "tools": tools}
    first = await _ask(gateway, stream, **request, instructions="Be brief.", input="Weather in Paris?")
    call = next(item for item in first["output"] if item["type"] == "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "18C"}
    second = await _ask(gateway, stream, **request, input=[result], previous_response_id=first["id"])
    third = await _ask(gateway, stream, **request, input="Sure?", previous_response_id=second["id"])
    seen = str(up.requests[-1].body)
    for words in ("Weather in Paris?", "get_weather", "18C", "It is warm.", "Sure?"):
        assert words in seen, words
    if upstream == "gemini":  # results need the tool name of the earlier call
        assert "'functionResponse': {'name': 'get_weather'" in seen or "'name': 'get_weather', 'response'" in seen
    assert "Be brief." not in seen  # earlier instructions do not apply
    assert "previous_response_id" not in seen
    assert "no result" not in seen
    assert third["id"] not in (first["id"], second["id"])
    status, kept, _ = await gateway.ask("GET", f"/v1/responses/{second['id']}")
    assert status == 200
    assert (kept["id"], kept["output"][0]["content"][0]["text"]) == (second["id"], "It is warm.")


def test_unstored_and_foreign_responses_are_not_found() -> None:
    async def work() -> None:
        server = 'keys = ["key-one-0123456789", "key-two-0123456789"]'
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up, server=server)) as gateway:
            one, two = {"authorization": "Bearer key-one-0123456789"}, {"authorization": "Bearer key-two-0123456789"}
            sent = {"model": "gemini/m", "input": "Hi"}
            _, kept, _ = await gateway.ask("POST", "/v1/responses", sent, **one)
            _, loose, _ = await gateway.ask("POST", "/v1/responses", {**sent, "store": False}, **one)
            for previous, who, status in (
                (kept["id"], one, 200),
                (kept["id"], two, 400),
                (loose["id"], one, 400),
                ("x", one, 400),
            ):
                got, body, _ = await gateway.ask("POST", "/v1/responses", {**sent, "previous_response_id": previous}, **who)
                assert got == status
                assert status == 200 or body["error"]["code"] == "previous_response_not_found"
            assert (await gateway.ask("GET", f"/v1/responses/{kept['id']}", **two))[0] == 404
            assert (await gateway.ask("DELETE", f"/v1/responses/{kept['id']}", **two))[0] == 404
            assert (await gateway.ask("DELETE", f"/v1/responses/{kept['id']}", **one))[1]["deleted"] is True
            assert (await gateway.ask("GET", f"/v1/responses/{kept['id']}", **one))[0] == 404
            assert (await gateway.ask("POST", "/v1/responses", {**sent, "previous_response_id": 5}, **one))[0] == 400

    run(work())


def test_a_response_stays_with_its_key_when_keys_change(tmp_path: Path) -> None:
    async def work() -> None:
        store = f'store = "{(tmp_path / "kept.db").as_posix()}"\n'
        sent = {"model": "gemini/m", "input": "Hi"}
        async with upstream_server(in_turn(text("Hello."))) as up:
            async with serving(config(up, server=store + 'keys = ["key-one-0123456789", "key-two-0123456789"]')) as gateway:
                _, first, _ = await gateway.ask("POST", "/v1/responses", sent, x_api_key="key-one-0123456789")
                _, second, _ = await gateway.ask("POST", "/v1/responses", sent, x_api_key="key-two-0123456789")
            async with serving(config(up, server=store + 'keys = ["key-two-0123456789"]')) as gateway:
                assert (await gateway.ask("GET", f"/v1/responses/{second['id']}", x_api_key="key-two-0123456789"))[0] == 200
                assert (await gateway.ask("GET", f"/v1/responses/{first['id']}", x_api_key="key-two-0123456789"))[0] == 404

    run(work())


def test_a_store_file_survives_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        server = f'store = "{(tmp_path / "sub" / "kept.db").as_posix()}"'
        async with upstream_server(in_turn(text("Hello."))) as up:
            async with serving(config(up, server=server)) as gateway:
                first = await _ask(gateway, False, input="My name is Ada.")
            async with serving(config(up, server=server)) as gateway:
                await _ask(gateway, True, input="And?", previous_response_id=first["id"])
            assert "Ada" in str(up.requests[-1].body)

    run(work())


def test_the_oldest_responses_are_deleted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolglot.gateway.store._MAX_ROWS", 10)
    monkeypatch.setattr("toolglot.gateway.store._CLEANUP_INTERVAL", 1)
    store = Store()
    messages = (Message("user", (Text("x"),)),)
    for number in range(15):
        store.add(str(number), "a", None, messages, b"{}")
    kept = [number for number in range(15) if store.history(str(number), "a") is not None]
    assert kept == list(range(5, 15))
    store.add("end", "a", "3", messages, b"{}")
    assert store.history("end", "a") is None  # its first response is deleted
    store.close()


@pytest.mark.parametrize("client", [wire for wire in WIRES if wire != "openai-responses"])
def test_upstreams_do_not_store_requests_of_other_apis(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            await gateway.reply(client, question(client, "openai-responses/m", ()), stream=False)
            assert up.requests[-1].body["store"] is False
            await gateway.reply(client, question(client, "openai-chat/m", ()), stream=False)
            assert "store" not in up.requests[-1].body

    run(work())


def test_store_is_forwarded_on_the_same_api() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            chat = {**question("openai-chat", "openai-responses/m", ()), "store": True}
            await gateway.reply("openai-chat", chat, stream=False)
            assert up.requests[-1].body["store"] is True
            sent = question("openai-responses", "openai-responses/m", ())
            _, answer, _ = await gateway.ask("POST", "/v1/responses", sent)
            assert "store" not in up.requests[-1].body
            assert answer["store"] is True, "stored by default, as in OpenAI's API"

    run(work())


def test_unstored_reasoning_is_sent_back_encrypted() -> None:
    """An upstream that did not store the reasoning rejects a request that refers to it by id."""
    known = {"type": "reasoning", "id": "rs_1", "summary": []}
    sealed = {**known, "id": "rs_2", "encrypted_content": "opaque"}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}

    async def work() -> None:
        answers = in_turn(whole({"status": "completed", "output": [known, sealed, message]}))
        async with upstream_server(answers) as up, serving(config(up)) as gateway:
            body = {**question("openai-chat", "openai-responses/m", ()), "reasoning_effort": "low"}
            _, answer, _ = await gateway.ask("POST", "/v1/chat/completions", body)
            assert up.requests[-1].body["include"] == ["reasoning.encrypted_content"]
            history = [*body["messages"], answer["choices"][0]["message"], {"role": "user", "content": "And?"}]
            await gateway.ask("POST", "/v1/chat/completions", {"model": body["model"], "messages": history})
            thoughts = [item for item in up.requests[-1].body["input"] if item["type"] == "reasoning"]
            assert [item["encrypted_content"] for item in thoughts] == ["opaque"]
            assert "include" not in up.requests[-1].body, "a model without reasoning rejects it"

    run(work())


def test_an_unknown_home_directory_is_an_error() -> None:
    with pytest.raises(CallerError, match="no home directory to resolve ~nobody-here/kept"):
        Store("~nobody-here/kept.sqlite")


def test_only_the_owner_can_read_the_store(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "store.sqlite"
    for _ in range(2):
        store = Store(str(path))
        store.add("a", "me", None, (Message("user", (Text("secret"),)),), b"{}")
        files = [path.parent, path.parent.parent, *path.parent.iterdir()]
        assert len(files) > 3  # with the write-ahead log
        assert all(file.stat().st_mode & 0o077 == 0 for file in files)
        store.close()
        path.chmod(0o644)


def test_a_file_with_the_old_column_is_read(tmp_path: Path) -> None:
    place = str(tmp_path / "responses.db")
    store = Store(place)
    store.add("resp_1", "me", None, (Message("user", (Text("Hello"),)),), b"{}")
    store.close()
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("alter table responses rename column messages to said")
    again = Store(place)
    assert again.body("resp_1", "me") == b"{}"
    assert again.history("resp_1", "me") == (Message("user", (Text("Hello"),)),)
    again.close()
