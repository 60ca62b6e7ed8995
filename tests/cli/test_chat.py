"""`toolglot chat`, with questions from a pipe. On a terminal: test_ask_process.py."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.gateway.running import run
from tests.gateway.scripts import response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.cli.chat import command


def counts(request: UpstreamRequest) -> UpstreamResponse:
    if request.method == "GET":
        return whole({"data": [{"id": "m"}]})
    return response_to(request, text(f"{len(request.body['messages'])} messages"))


def chatted(play: Any, typed: str, *words: str) -> Result:
    results = []

    async def work() -> None:
        async with upstream_server(play) as up:
            given = ["-m", "vllm/m", "--base-url", up.url, *words]
            results.append(await asyncio.to_thread(CliRunner().invoke, command, given, typed))

    run(work())
    return results[0]


def test_a_conversation_and_a_new_one() -> None:
    done = chatted(counts, "one\n\ntwo\n/new\nthree\n")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == ["1 messages", "3 messages", "1 messages"]
    assert "/new starts a new chat" in done.stderr


def test_json_is_one_line_for_each_run() -> None:
    rows = [json.loads(line) for line in chatted(counts, "one\ntwo\n", "--json").stdout.splitlines()]
    assert [row["text"] for row in rows] == ["1 messages", "3 messages"]


def test_a_failed_answer_is_an_error_with_the_model() -> None:
    def refuses(request: UpstreamRequest) -> UpstreamResponse:
        return whole({"error": {"message": "no such key"}}, 401)

    done = chatted(refuses, "one\n")
    assert (done.exit_code, "error: vllm/m: no such key" in done.stderr) == (1, True)


@pytest.mark.parametrize("words", [["-m", "nope/m"], ["--api-key", "sk-1"], ["--tools", "missing.py"]])
def test_usage_errors(words: list[str]) -> None:
    done = CliRunner().invoke(command, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
