"""The probe: whole runs against servers that make one mistake each. What follows from answers is tested in probe/."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.client.probe.answers import codes
from tests.client.probe.upstream import Body, Said, completion, gold, good, tokens, tool_calls, upstream
from tests.client.running import DIRECT
from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client.http import HttpTransport
from toolglot.client.mode_stats import ModeStats, server_name
from toolglot.client.probe.observations import questions
from toolglot.client.probe.verdict import Verdict
from toolglot.client.probing import modes_to_test, probe, read_modes
from toolglot.client.retry import NEVER
from toolglot.errors import CallerError

ASKED = {one.id: one for one in questions()}
ONE = ASKED["one_tool"]
CARD = {"id": "my-qwen", "object": "model", "root": "Qwen/Qwen2.5-7B-Instruct", "max_model_len": 32768}
VLLM_LIST = {"object": "list", "data": [CARD]}


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_which_ways_are_asked() -> None:
    known = profile("qwen2.5-coder:7b", "ollama")
    everything = ["native", "dialect:hermes", "dialect:fenced_json", "dialect:tagged", "constrained"]
    assert modes_to_test(known, provider("ollama"), "native", quick=False) == everything
    few = ["native", "dialect:hermes", "constrained", "dialect:tagged"]
    assert modes_to_test(known, provider("ollama"), "dialect:tagged", quick=True) == few
    assert "constrained" not in modes_to_test(known, provider("deepseek"), "native", quick=False)
    assert read_modes(["tagged", "native", "dialect:tagged"], provider("ollama")) == ["dialect:tagged", "native"]
    with pytest.raises(CallerError, match="did you mean hermes"):
        read_modes(["hermees"], provider("ollama"))
    with pytest.raises(CallerError, match="does not support constrained decoding"):
        read_modes(["constrained"], provider("deepseek"))


# -- whole runs, each against a server with one mistake


def run(model: str, url: str, tool_modes: tuple[str, ...] = ("native",), **more: Any) -> Verdict:
    async def work() -> Verdict:
        async with HttpTransport(proxies=DIRECT) as transport:
            return await probe(model, transport, base_url=url, tool_modes=tool_modes, retries=NEVER, **{"quick": True, **more})

    return asyncio.run(asyncio.wait_for(work(), 300))


def dropping(body: Body) -> Said:
    return 200, completion(body, "I can't look that up.", prompt=tokens(body, tools=False))


def in_text(body: Body) -> Said:
    calls = gold(body) if body.get("tools") else []
    text = "\n".join(f"<tool_call>\n{json.dumps({'name': name, 'arguments': value})}\n</tool_call>" for name, value in calls)
    return 200, completion(body, text or "Goodbye!")


def ending_wrongly(body: Body) -> Said:
    status, said = good(body)
    said["choices"][0]["finish_reason"] = "stop"
    return status, said


def streaming_wrongly(body: Body) -> Said:
    status, said = good(body)
    if body.get("stream"):
        said["choices"][0]["message"].pop("tool_calls", None)
        said["choices"][0]["finish_reason"] = "stop"
    return status, said


def inventing(body: Body) -> Said:
    calls = [("browse_the_web", value) for _, value in gold(body)] if body.get("tools") else []
    return 200, completion(body, None if calls else "Goodbye!", tool_calls(calls))


def misfilling(body: Body) -> Said:
    calls = [(name, {"town": "Lisbon"}) for name, _ in gold(body)] if body.get("tools") else []
    return 200, completion(body, None if calls else "Goodbye!", tool_calls(calls))


def flag_wanted(body: Body) -> Said:
    if not body.get("tools"):
        return good(body)
    message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    return 400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


@pytest.mark.parametrize(
    ("answer", "code", "expected", "works"),
    [
        (dropping, "tools_dropped", "without", False),
        (in_text, "parser_flag_missing", "--tool-call-parser hermes", True),
        (flag_wanted, "parser_flag_missing", "--enable-auto-tool-choice --tool-call-parser hermes", False),
        (ending_wrongly, "finish_reason_wrong", "'stop'", True),
        (streaming_wrongly, "stream_differs", "streamed: no call", True),
        (inventing, "unknown_name", "browse_the_web", False),
        (misfilling, "invalid_arguments", "city", False),
    ],
)
def test_a_server_with_one_fault_gives_one_finding(answer: Any, code: str, expected: str, works: bool) -> None:
    with upstream(answer, listed=VLLM_LIST) as server:
        found = run("vllm/my-qwen", server.url)
    assert codes(found.findings) == [code], found.findings
    assert expected in found.findings[0].evidence + found.findings[0].advice
    assert found.works is works
    assert code in found.summary or works


def test_a_server_without_a_mistake_and_what_it_is_asked() -> None:
    with upstream(good, listed=VLLM_LIST) as server:
        found = run("vllm/my-qwen", server.url, quick=False)
    assert (found.works, found.recommended, found.findings) == (True, "native", ())
    assert (found.tool_modes[0].right, found.tool_modes[0].asked) == (7, 7)
    first = server.asked[0]
    assert (first["temperature"], first["model"], len(first["tools"])) == (0, "my-qwen", 1)
    assert [body.get("stream", False) for body in server.asked].count(True) == 1
    assert len(server.asked) == 7 + 1 + 1, "each whole, one streamed, one without tools"
    assert not any("tools" in body for body in server.asked[-1:])


def test_a_window_is_tried_where_a_server_cuts_without_a_word() -> None:
    def cutting(body: Body) -> Said:
        status, said = good(body)
        if len(json.dumps(body)) > 8000:
            said["usage"]["prompt_tokens"] = 2048
        return status, said

    with upstream(cutting) as server:
        found = run("ollama/qwen3:8b", server.url, quick=False)
        assert "context_too_small" in codes(found.findings)
        longest = max(server.asked, key=lambda body: len(json.dumps(body)))
        assert sum(len(message["content"].split()) for message in longest["messages"]) >= 4096
        assert [message["role"] for message in longest["messages"]][:2] == ["user", "assistant"]
        assert longest["messages"][-1]["role"] == "user"
        assert longest["messages"][0]["content"].split()[0].isdigit(), "never the same: what is cached may not be counted"


def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    def thinking(body: Body) -> Said:
        if "temperature" in body:
            return 400, {
                "error": {"message": "Unsupported value: 'temperature' does not support 0", "code": "unsupported_value"}
            }
        return good(body)

    with upstream(thinking, listed=VLLM_LIST) as server:
        found = run("vllm/my-qwen", server.url)
    assert found.works
    assert sum("temperature" in body for body in server.asked) == 1


def test_a_way_that_is_refused_is_not_asked_again_and_others_are() -> None:
    def no_tools(body: Body) -> Said:
        if body.get("tools"):
            message = "registry.ollama.ai/library/gemma3:4b does not support tools"
            return 400, {"error": {"message": message, "type": "api_error", "param": None, "code": None}}
        schema = body.get("response_format")
        if schema is None:
            return 200, completion(body, "Hello")
        asked = body["messages"][-1]["content"]
        call = next((one.gold[0] for one in questions() if one.gold and one.messages[-1]["content"] in asked), None)
        text = {"answer": "Goodbye!"} if call is None else {"name": call[0], "arguments": call[1]}
        return 200, completion(body, json.dumps(text))

    with upstream(no_tools) as server:
        found = run("ollama/gemma3:4b", server.url, ("native", "constrained"))
    assert [tool_mode.mark for tool_mode in found.tool_modes] == ["refused", "works well"]
    assert found.recommended == "constrained"
    assert codes(found.findings) == ["tools_dropped"]
    assert "does not support tools" in found.findings[0].evidence
    assert sum(bool(body.get("tools")) for body in server.asked) == 1


# -- nothing comes at all


def test_a_server_that_is_not_there() -> None:
    found = run("vllm/my-qwen", "http://127.0.0.1:9/v1", ())
    assert codes(found.findings) == ["not_reachable"]
    assert "127.0.0.1:9" in found.findings[0].evidence
    assert "check that the server runs" in found.findings[0].advice
    assert (found.works, found.recommended, len(found.tool_modes)) == (False, None, 1)
    assert found.summary == "Nothing works: not_reachable."


def test_an_address_where_something_else_answers() -> None:
    with upstream(good) as server:
        found = run("vllm/my-qwen", f"{server.url.removesuffix('/v1')}/other/v1")
    assert codes(found.findings) == ["not_reachable"]
    assert "--base-url" in found.findings[0].advice


def test_a_wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong")

    def locked(body: Body) -> Said:
        return 401, {
            "error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}
        }

    with upstream(locked, listed=VLLM_LIST) as server:
        found = run("vllm/my-qwen", server.url, (), api_key="env:MY_KEY")
        assert (len(server.asked), server.keys) == (1, ["Bearer sk-wrong"])
    assert codes(found.findings) == ["wrong_key"]
    assert "VLLM_API_KEY" in found.findings[0].advice
    assert "sk-wrong" not in str(found)


@pytest.mark.parametrize("model", ["vllm/my-qwn", "groq/my-qwn"])
def test_a_model_that_is_not_there_and_the_nearest(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")

    def unknown(body: Body) -> Said:
        return 404, {"error": {"message": f"The model `{body['model']}` does not exist.", "type": "NotFoundError", "code": 404}}

    with upstream(unknown, listed=VLLM_LIST) as server:
        found = run(model, server.url, ())
    assert codes(found.findings) == ["unknown_model"]
    assert "my-qwen" in found.findings[0].advice
    assert len(server.asked) == 1


def test_a_server_error_is_shown_with_its_message() -> None:
    def failing(body: Body) -> Said:
        return 500, {"error": {"message": "CUDA out of memory"}}

    with upstream(failing, listed=VLLM_LIST) as server:
        found = run("vllm/my-qwen", server.url)
    assert codes(found.findings) == ["refused"]
    assert found.findings[0].evidence == "HTTP 500: CUDA out of memory"
    assert found.tool_modes[0].mark == "refused"


# -- what is remembered


def test_what_worked_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    kept = ModeStats(tmp_path / "tool_modes.json")
    with upstream(good, listed=VLLM_LIST) as server:
        run("vllm/my-qwen", server.url, ("native", "tagged"), mode_stats=kept)
        row = provider("vllm")
        name = server_name(
            type(row)(**{field: getattr(row, field) for field in row.__struct_fields__} | {"base_url": server.url})
        )
        fresh = ModeStats(tmp_path / "tool_modes.json").mode_counts(name, "my-qwen")
        assert {tool_mode: (tally.tried, tally.good) for tool_mode, tally in fresh.items()} == {
            "native": (2, 2),
            "dialect:tagged": (2, 0),
        }
        monkeypatch.setenv("TOOLGLOT_REMEMBER", "0")
        off = ModeStats(tmp_path / "off.json")
        run("vllm/my-qwen", server.url, mode_stats=off)
    assert not (tmp_path / "off.json").exists()


def test_wrong_use() -> None:
    for words, expected in [(("qwen",), "provider/model"), (("olama/x",), "did you mean ollama")]:
        with pytest.raises(CallerError, match=expected):
            run(*words, "http://127.0.0.1:9")
    with pytest.raises(CallerError, match="unknown question 'nine'"):
        run("vllm/m", "http://127.0.0.1:9", only=["nine"])
