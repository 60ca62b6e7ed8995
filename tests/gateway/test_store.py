"""Responses that go on from an earlier one: the gateway keeps what was said, for the key that said it."""

from __future__ import annotations

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


async def _ask(gateway: Running, stream: bool, **body: Any) -> Any:
    """The response object, whole or from the stream's last event."""
    sent = {"model": "anthropic/m", "stream": stream, **body}
    status, held, _ = await gateway.ask("POST", "/v1/responses", sent)
    assert status == 200, held
    if not stream:
        return held
    last = held.rstrip().split(b"\ndata: ")[-1]
    return msgspec.json.decode(last)["response"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_goes_on(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                up.play = in_turn(calls(weather({"city": "Paris"}, id="toolu_1")), text("It is warm."), text("Yes."))
                await _three_turns(gateway, up, upstream, stream)

    run(work())


async def _three_turns(gateway: Running, up: Upstream, upstream: str, stream: bool) -> None:
    model = f"{upstream}/m"
    tools = question("openai-responses", model)["tools"]
    asked = {"model": model, "tools": tools}
    first = await _ask(gateway, stream, **asked, instructions="Be brief.", input="Weather in Paris?")
    call = next(item for item in first["output"] if item["type"] == "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "18C"}
    second = await _ask(gateway, stream, **asked, input=[result], previous_response_id=first["id"])
    third = await _ask(gateway, stream, **asked, input="Sure?", previous_response_id=second["id"])
    seen = str(up.asked[-1].body)
    for words in ("Weather in Paris?", "get_weather", "18C", "It is warm.", "Sure?"):
        assert words in seen, words
    if upstream == "gemini":  # where a result goes by its tool's name, which only the earlier call tells
        assert "'functionResponse': {'name': 'get_weather'" in seen or "'name': 'get_weather', 'response'" in seen
    assert "Be brief." not in seen  # instructions are not handed down
    assert "previous_response_id" not in seen
    assert "no result" not in seen
    assert third["id"] not in (first["id"], second["id"])
    status, kept, _ = await gateway.ask("GET", f"/v1/responses/{second['id']}")
    assert status == 200
    assert (kept["id"], kept["output"][0]["content"][0]["text"]) == (second["id"], "It is warm.")


def test_what_is_not_stored_or_anothers_is_not_found() -> None:
    async def work() -> None:
        server = 'keys = ["k-one", "k-two"]'
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up, server=server)) as gateway:
            one, two = {"authorization": "Bearer k-one"}, {"authorization": "Bearer k-two"}
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


def test_it_stays_its_keys_own_when_the_keys_are_changed(tmp_path: Path) -> None:
    async def work() -> None:
        store = f'store = "{(tmp_path / "kept.db").as_posix()}"\n'
        sent = {"model": "gemini/m", "input": "Hi"}
        async with upstream_server(in_turn(text("Hello."))) as up:
            async with serving(config(up, server=store + 'keys = ["k-one", "k-two"]')) as gateway:
                _, first, _ = await gateway.ask("POST", "/v1/responses", sent, x_api_key="k-one")
                _, second, _ = await gateway.ask("POST", "/v1/responses", sent, x_api_key="k-two")
            async with serving(config(up, server=store + 'keys = ["k-two"]')) as gateway:
                assert (await gateway.ask("GET", f"/v1/responses/{second['id']}", x_api_key="k-two"))[0] == 200
                assert (await gateway.ask("GET", f"/v1/responses/{first['id']}", x_api_key="k-two"))[0] == 404

    run(work())


def test_a_file_outlives_the_server(tmp_path: Path) -> None:
    async def work() -> None:
        server = f'store = "{(tmp_path / "sub" / "kept.db").as_posix()}"'
        async with upstream_server(in_turn(text("Hello."))) as up:
            async with serving(config(up, server=server)) as gateway:
                first = await _ask(gateway, False, input="My name is Ada.")
            async with serving(config(up, server=server)) as gateway:
                await _ask(gateway, True, input="And?", previous_response_id=first["id"])
            assert "Ada" in str(up.asked[-1].body)

    run(work())


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolglot.gateway.store._MOST", 10)
    monkeypatch.setattr("toolglot.gateway.store._SWEEP", 1)
    store = Store()
    said = (Message("user", (Text("x"),)),)
    for number in range(15):
        store.add(str(number), "a", None, said, b"{}")
    kept = [number for number in range(15) if store.history(str(number), "a") is not None]
    assert kept == list(range(5, 15))
    store.add("end", "a", "3", said, b"{}")
    assert store.history("end", "a") is None  # its beginning is gone
    store.close()


@pytest.mark.parametrize("client", [wire for wire in WIRES if wire != "openai-responses"])
def test_what_comes_on_another_api_is_not_kept_by_the_upstream(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            await gateway.reply(client, question(client, "openai-responses/m", ()), stream=False)
            assert up.asked[-1].body["store"] is False
            await gateway.reply(client, question(client, "openai-chat/m", ()), stream=False)
            assert "store" not in up.asked[-1].body

    run(work())


def test_who_asks_for_keeping_or_on_the_same_api_is_taken_at_his_word() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            chat = {**question("openai-chat", "openai-responses/m", ()), "store": True}
            await gateway.reply("openai-chat", chat, stream=False)
            assert up.asked[-1].body["store"] is True
            sent = question("openai-responses", "openai-responses/m", ())
            _, answer, _ = await gateway.ask("POST", "/v1/responses", sent)
            assert "store" not in up.asked[-1].body
            assert answer["store"] is True, "as the API's own default has it: the gateway keeps it"

    run(work())


def test_thoughts_that_are_not_kept_are_asked_for_and_sent_back_in_themselves() -> None:
    """By its id alone a thought would not be found again: the upstream refuses the whole request."""
    known = {"type": "reasoning", "id": "rs_1", "summary": []}
    sealed = {**known, "id": "rs_2", "encrypted_content": "opaque"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}

    async def work() -> None:
        answers = in_turn(whole({"status": "completed", "output": [known, sealed, said]}))
        async with upstream_server(answers) as up, serving(config(up)) as gateway:
            body = {**question("openai-chat", "openai-responses/m", ()), "reasoning_effort": "low"}
            _, answer, _ = await gateway.ask("POST", "/v1/chat/completions", body)
            assert up.asked[-1].body["include"] == ["reasoning.encrypted_content"]
            history = [*body["messages"], answer["choices"][0]["message"], {"role": "user", "content": "And?"}]
            await gateway.ask("POST", "/v1/chat/completions", {"model": body["model"], "messages": history})
            thoughts = [item for item in up.asked[-1].body["input"] if item["type"] == "reasoning"]
            assert [item["encrypted_content"] for item in thoughts] == ["opaque"]
            assert "include" not in up.asked[-1].body, "a model without thoughts refuses it"

    run(work())


def test_a_home_that_nobody_has_is_told() -> None:
    with pytest.raises(CallerError, match="there is no home directory for ~nobody-here/kept"):
        Store("~nobody-here/kept.sqlite")
