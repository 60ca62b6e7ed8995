"""`toolglot keys`: named keys of the gateway, of which only hashes are stored."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.gateway.running import run, serving
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import upstream_server
from toolglot.cli.keys import command
from toolglot.errors import CallerError
from toolglot.gateway.config import read_config
from toolglot.gateway.request_log import request_fields

BEFORE = '# mine\n[server]\nport = 0\n\n[[upstream]]\nname = "u"\nprovider = "vllm"\n'
FILE = Path("toolglot.toml")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(BEFORE)


def keys(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def test_a_key_is_printed_once_and_its_hash_is_stored() -> None:
    FILE.chmod(0o640)
    key = keys("add", "ada").stdout.strip()
    assert len(key) > 40
    assert key not in FILE.read_text()
    assert FILE.read_text().startswith(BEFORE)
    assert stat.S_IMODE(FILE.stat().st_mode) == 0o640
    ops = json.loads(keys("add", "ops", "--admin", "--json").stdout)["key"]
    assert ops != key
    assert keys("list").stdout == "ada\nops  (admin)\n"
    assert json.loads(keys("list", "--json").stdout)[1] == {"name": "ops", "admin": True}
    assert [(one.owner, one.is_admin) for one in read_config(FILE.read_text()).keys] == [("ada", False), ("ops", True)]
    assert keys("remove", "ada").exit_code == 0
    assert [one.owner for one in read_config(FILE.read_text()).keys] == ["ops"]
    assert keys("remove", "ops").exit_code == 0
    assert FILE.read_text() == BEFORE


def test_a_removed_table_takes_nothing_else_with_it() -> None:
    keys("add", "ada")
    FILE.write_text(FILE.read_text() + '[[route]]\nmodel = "*"\nto = "u/m"\n')
    keys("add", "bob")
    keys("remove", "ada")
    found = read_config(FILE.read_text())
    assert ([one.owner for one in found.keys], len(found.routes)) == (["bob"], 1)


def test_the_gateway_accepts_the_key_and_logs_its_name() -> None:
    ada, ops = keys("add", "ada").stdout.strip(), keys("add", "ops", "--admin").stdout.strip()

    async def work() -> None:
        async with upstream_server(lambda request: response_to(request, text("x"))) as up:
            rows = f'base_url = "{up.url}"\n[[route]]\nmodel = "*"\nto = "u/m"\n'
            rest = FILE.read_text().removeprefix(BEFORE)
            found = read_config(BEFORE + rows + rest)
            async with serving(found) as gateway:
                sent = ("POST", "/v1/chat/completions", question("openai-chat", "x", ()))
                assert (await gateway.ask(*sent))[1]["error"]["message"].startswith("missing API key")
                wrong = await gateway.ask(*sent, authorization="Bearer tg-wrong")
                assert wrong[1]["error"]["message"].startswith("invalid API key")
                hashed = rest.partition('hash = "')[2].partition('"')[0]
                assert (await gateway.ask(*sent, authorization=f"Bearer {hashed}"))[0] == 401
                status, _, headers = await gateway.ask(*sent, authorization=f"Bearer {ada}")
                assert status == 200
                record = gateway.gateway.records.find(headers["x-request-id"])
                assert record is not None
                assert request_fields(record)["key"] == "ada"
                assert (await gateway.ask("GET", "/metrics", x_api_key=ada))[0] == 403
                assert (await gateway.ask("GET", "/metrics", x_api_key=ops))[0] == 200

    run(work())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["add"], "needs a NAME"),
        (["add", "a b"], "needs a NAME"),
        (["add", "ada"], "there is a key 'ada' already"),
        (["remove", "bob"], "there is no key 'bob'"),
        (["list", "--file", "missing.toml"], "missing.toml"),
        (["rotate", "ada"], "rotate"),
    ],
)
def test_usage_errors(words: list[str], expected: str) -> None:
    keys("add", "ada")
    before = FILE.read_text()
    done = keys(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert FILE.read_text() == before


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('name = "a b"\nhash = "x"', r"line 9, \[key\] name"),
        ('name = "a"\nhash = "sha256:12"', r"line 10, \[key\] hash: must be sha256: and 64"),
        ('name = "a"', r"\[key\]: .*hash"),
    ],
)
def test_invalid_rows_are_errors_with_their_line(row: str, expected: str) -> None:
    with pytest.raises(CallerError, match=expected):
        read_config(f"{BEFORE}[[key]]\n{row}\n")


def test_a_gateway_for_other_machines_needs_only_a_named_key() -> None:
    with pytest.raises(CallerError, match="no keys"):
        read_config('[server]\nhost = "0.0.0.0"\n')
    keys("add", "ada")
    text = FILE.read_text().replace("port = 0", 'port = 0\nhost = "0.0.0.0"')
    assert read_config(text).server.host == "0.0.0.0"  # noqa: S104
