"""The log of the gateway: one line for each request, a warning where something failed, in text, JSON and a rotated file."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import Upstream, UpstreamResponse, upstream_server, whole
from toolglot.errors import CallerError
from toolglot.gateway.config import read_config
from toolglot.gateway.request_log import LogSettings, line_of, log_request, set_up_logging
from toolglot.gateway.startup_check import startup_check

SECRET = "a very private sentence"
TEXT_CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome",}}</tool_call>'


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    """Where the log goes during the test; the handlers of the test run are restored afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("toolglot")
    before, level, our_level = root.handlers[:], root.level, ours.level
    root.handlers.clear()
    file = tmp_path / "logs" / "gateway.jsonl"
    set_up_logging(LogSettings(file=str(file), on_stderr=False))
    yield file
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)
    ours.setLevel(our_level)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def logged(file: Path, *replies: Any, model: str = "openai-chat/m", route: str = "", **headers: str) -> dict[str, Any]:
    """The line of one request."""

    async def work() -> None:
        async with upstream_server(in_turn(*replies)) as up, serving(config(up, "openai-chat", route=route)) as gateway:
            gateway.gateway.records.observers.append(log_request)
            await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", model, words=SECRET), **headers)

    run(work())
    [line] = lines(file)
    return line


def test_a_request_is_one_line_with_its_calls(log_file: Path) -> None:
    price = '[[price]]\nmodel = "m"\ninput = 1000.0\noutput = 4000.0'
    line = logged(log_file, text(TEXT_CALL), route=price, user_agent="claude-cli/2.1.197 (external, cli)")
    call = {"tool": "get_weather", "outcome": "fixed", "from": "hermes", "code": line["calls"][0]["code"]}
    expected = {
        "level": "info",
        "client": "claude-cli/2.1.197",
        "api": "openai-chat",
        "model": "openai-chat/m",
        "upstream": "openai-chat",
        "target": "m",
        "status": 200,
        "input": 10,
        "output": 5,
        "cost": 0.03,
        "calls": [call],
    }
    assert {name: line[name] for name in expected} == expected
    assert line["ms"] >= 0
    assert line["id"].startswith("chatcmpl-") or line["id"]
    shown = line_of(line)
    assert "claude-cli/2.1.197 openai-chat/m -> openai-chat/m 200 10+5 tokens $0.0300 " in shown
    assert f"; get_weather from text (hermes) repaired ({call['code']})" in shown


@pytest.mark.parametrize(
    ("reply", "status", "code", "words"),
    [
        (whole({"error": {"message": "the queue is full", "code": "busy"}}, 429), 429, "busy", "the queue is full"),
        (whole({"error": {"message": "no such key"}}, 401), 401, "", "no such key"),
        (UpstreamResponse(breaks=True, chunks=[b"{"]), 502, "cut_off", ""),
    ],
)
def test_a_failed_request_is_a_warning_with_the_reason(
    log_file: Path, reply: UpstreamResponse, status: int, code: str, words: str
) -> None:
    line = logged(log_file, reply)
    assert (line["level"], line["status"]) == ("warning", status)
    assert code in line.get("code", "")
    assert words in line["error"]
    assert words in line_of(line)


def test_the_use_of_another_route_is_a_warning(log_file: Path) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up:
            routes = read_config(
                f'[server]\ndetect = false\n[[upstream]]\nname = "a"\nprovider = "vllm"\nbase_url = "http://127.0.0.1:9"\n'
                f'[[upstream]]\nname = "b"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "a/m"\n[[route]]\nmodel = "*"\nto = "b/m"\n'
            )
            async with serving(routes) as gateway:
                gateway.gateway.records.observers.append(log_request)
                await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "x", ()))

    run(work())
    [line] = lines(log_file)
    assert (line["level"], line["status"], line["upstream"]) == ("warning", 200, "b")
    assert line["tried"] == ["a/m failed before it answered: connect_failed"]


def test_a_rejected_call_is_a_warning_and_its_invented_name_is_not_logged(log_file: Path) -> None:
    line = logged(log_file, calls(weather({"city": "Rome"}, name="Private_Name")), route="retries = 0")
    assert line["level"] == "warning"
    assert line["calls"] == [{"outcome": "refused", "from": "native", "code": "rejected_unknown_tool"}]
    assert "a call rejected (rejected_unknown_tool)" in line_of(line)
    assert "Private_Name" not in log_file.read_text()


def test_message_contents_and_keys_are_never_logged(log_file: Path) -> None:
    logged(log_file, text(SECRET), authorization="Bearer my-secret-key-of-the-client")
    found = log_file.read_text()
    assert SECRET not in found
    assert "my-secret-key" not in found
    assert "k-up" not in found


def test_a_client_can_not_forge_a_line(log_file: Path) -> None:
    line = logged(log_file, text("x"), model="openai-chat/m\n2026-01-01 00:00:00 INFO forged\x1b[2J")
    assert "\n" not in line_of(line)
    assert "\x1b" not in line_of(line)


def test_the_playground_and_lists_are_not_logged(log_file: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda _: whole({"data": []})) as up, serving(config(up, "openai-chat")) as gateway:
            gateway.gateway.records.observers.append(log_request)
            sent = {"text": '{"name": "rm"}<tool_call>{"name":"x"}</tool_call>', "tools": [{"name": "y"}]}
            status, _, _ = await gateway.ask("POST", "/toolglot/parse", sent)
            assert status == 200
            await gateway.ask("GET", "/v1/models")

    run(work())
    assert lines(log_file) == []


def test_upstreams_that_can_not_be_reached_are_logged_at_start(log_file: Path) -> None:
    async def check(gateway: Running, upstream: Upstream) -> None:
        await startup_check(gateway.gateway)

    async def work() -> None:
        async with upstream_server(lambda _: whole({"error": {}}, 401)) as up:
            text = f'[[upstream]]\nname = "closed"\nprovider = "vllm"\nbase_url = "{up.url}"\napi_key = "wrong-key"\n'
            text += '[[upstream]]\nname = "away"\nprovider = "ollama"\nbase_url = "http://127.0.0.1:9"\n'
            async with serving(read_config(text + '[[route]]\nmodel = "*"\nto = "away/m"\n')) as gateway:
                await check(gateway, up)

    run(work())
    messages = sorted(line["message"] for line in lines(log_file))
    assert messages[0].startswith("upstream away: nothing answers at http://127.0.0.1:9")
    assert messages[1].startswith("upstream closed: ")
    assert "rejects the API key" in messages[1]
    assert {line["level"] for line in lines(log_file)} == {"warning"}


def test_the_file_is_private_and_rotated(log_file: Path) -> None:
    set_up_logging(LogSettings(file=str(log_file), file_size=2000, on_stderr=False))
    for number in range(100):
        logging.getLogger("toolglot.gateway").warning("line %d", number)
    files = sorted(log_file.parent.iterdir())
    assert [file.name for file in files] == [log_file.name, *(f"{log_file.name}.{number}" for number in (1, 2, 3))]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert max(file.stat().st_size for file in files) <= 2000
    assert lines(log_file)[-1]["message"] == "line 99"


def test_levels_and_formats_on_stderr(log_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("toolglot.gateway")
    set_up_logging(LogSettings(format="json", level="warning"))
    log.info("quiet")
    log.warning("loud")
    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "loud"
    set_up_logging(LogSettings(level="info"))
    log.info("now")
    assert capsys.readouterr().err.endswith(" INFO    now\n")


def test_a_file_that_can_not_be_written_is_the_users_error(log_file: Path, tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="log_file"):
        set_up_logging(LogSettings(file=str(tmp_path)))
    with pytest.raises(CallerError, match=r"line 2, \[server\] log_level"):
        read_config('[server]\nlog_level = "loud"\n')
