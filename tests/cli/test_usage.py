"""`toolglot usage`: what a running gateway counted."""

from __future__ import annotations

import asyncio
import json

import pytest
from click.testing import CliRunner, Result

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import upstream_server
from toolglot.cli.usage import command

KEY, ADMIN = "key-one-0123456789", "key-two-0123456789"
SERVER = f'keys = ["{KEY}"]\nadmin_keys = ["{ADMIN}"]'
PRICE = '[[price]]\nmodel = "m"\ninput = 1000.0\noutput = 4000.0\n'
BUDGET = '[[budget]]\nkey = "*"\ndollars = 0.06\ntokens = 1000\nperiod = "month"\n'


def usage(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def test_the_table_the_filters_and_the_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("hi"))) as up:
            settings = config(up, "openai-chat", "ollama", server=f"{SERVER}\n{PRICE}{BUDGET}")
            async with serving(settings) as gateway:
                for model in ("ollama/free", "openai-chat/m", "openai-chat/m"):
                    await gateway.reply("anthropic", question("anthropic", model, ()), stream=False, x_api_key=KEY)
                monkeypatch.setenv("TOOLGLOT_KEY", ADMIN)
                where = ("--gateway", gateway.url)
                done = await asyncio.to_thread(usage, *where)
                assert done.exit_code == 0, done.stderr
                head, *rows, total, budget, other = done.stdout.splitlines()
                assert head.split() == ["day", "(UTC)", "key", "model", "requests", "tokens", "in", "tokens", "out", "cost"]
                assert [row.split()[3:] for row in rows] == [["free", "1", "10", "5"], ["m", "2", "20", "10", "$0.0600"]]
                assert total.split() == ["total", "3", "30", "15", "$0.0600"]
                assert "$0.0600 of $0.0600, 45 of 1,000 tokens" in budget
                assert "$0.00 of $0.0600" in other
                done = await asyncio.to_thread(usage, *where, "--model", "fr*", "--json")
                assert [row["requests"] for row in json.loads(done.stdout)["usage"]] == [1]
                monkeypatch.setenv("TOOLGLOT_KEY", KEY)
                found = json.loads((await asyncio.to_thread(usage, *where, "--json")).stdout)
                assert len({row["owner"] for row in found["usage"] + found["budgets"]}) == 1
                monkeypatch.setenv("TOOLGLOT_KEY", "wrong-key-0123456789")
                done = await asyncio.to_thread(usage, *where)
                assert (done.exit_code, "rejects this API key" in done.stderr) == (2, True)

    run(work())


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--gateway", "http://127.0.0.1:9"], 1, "127.0.0.1:9"),
        (["--days", "36"], 2, "36 is not in the range 1<=x<=35"),
        (["--month"], 2, "No such option"),
    ],
)
def test_errors(words: list[str], code: int, expected: str) -> None:
    done = usage(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert expected in done.stderr
