"""`toolglot models`: the table, one model in detail, what the server reports, what has worked, JSON, usage errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.client.discovery_server import discovery_server, recorded
from tests.llamacpp import LlamaServer
from toolglot.catalog.profiles import catalog
from toolglot.cli.models import HEADS, command
from toolglot.client.detect import ANSWERS
from toolglot.client.mode_stats import ModeStats


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    monkeypatch.chdir(tmp_path)
    ANSWERS.clear()


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


def test_the_table_has_every_family_in_columns() -> None:
    done = run()
    assert done.exit_code == 0
    head, *lines = done.stdout.splitlines()
    assert tuple(head.split()) == HEADS
    assert [line.split()[0] for line in lines] == [row.name for row in catalog().rows]
    by_name = {line.split()[0]: line for line in lines}
    assert by_name["kimi-k2"].split() == ["kimi-k2", "yes", "kimi_k2", "-", "64", "yes", "yes", "excellent", "131072"]
    assert by_name["mistral"].split()[1:] == ["yes", "mistral", "-", "128", "yes", "no", "excellent", "-"]
    assert by_name["smollm2"].split()[5:] == ["no", "yes", "poor", "-"]
    assert "yes, not on llamacpp" in by_name["qwen2.5-coder"]
    assert "no " in by_name["gemma3"]
    starts = {line.index(line.split()[0]) for line in lines}
    assert starts == {0}
    assert len({line[: head.index("DIALECT")].endswith("  ") for line in lines}) == 1, "columns are aligned"


def test_one_model_in_detail_with_where_each_fact_comes_from() -> None:
    done = run("qwen2.5-coder:1.5b", "--provider", "llamacpp")
    assert done.exit_code == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "its maker's documents" in lines["source"]
    assert lines["max_tools"].split()[:5] == ["max_tools", "64"], "of its own row, which is the source of all"
    assert lines["ask"].split()[1] == "constrained"
    assert "on llamacpp (measured with" in lines["ask"]
    assert lines["context_length"].split()[1:4] == ["32768", "catalog", "row"]
    assert lines["parameters"].split()[1:] == ["1.5", "its", "name"]
    assert lines["native"].split()[1:] == ["llamacpp", "no"]
    assert lines["reasoning"].split()[1:] == ["-", "default"]


def test_a_guess_is_marked() -> None:
    assert "guessed from its family" in run("qwen9").stdout
    assert "guessed: no row fits" in run("zorblax").stdout


def test_json_has_every_field() -> None:
    one = json.loads(run("mistral", "--json").stdout)
    assert (one["family"], one["supports_tools"], one["max_tools"], one["supports_streaming"]) == ("mistral", True, 128, False)
    assert one["facts"]["reasoning"] == "default"
    all_of_them = json.loads(run("--json").stdout)
    assert [known["family"] for known in all_of_them] == [row.name for row in catalog().rows]


def test_a_row_of_the_user_is_shown(tmp_path: Path) -> None:
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "mistral"\nmax_tools = 9\n')
    assert "your row mistral in toolglot.toml" in run("mistral").stdout
    assert json.loads(run("mistral", "--json").stdout)["max_tools"] == 9


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    for words, expected in [
        (("m", "--provider", "olama"), "did you mean ollama?"),
        (("--provider", "ollama"), "needs the name"),
        (("--ask-server",), "--ask-server needs the name"),
        (("m", "--base-url", "http://x"), "--base-url needs --ask-server"),
        (("--export", "-", "--forget"), "--export and --forget: one at a time"),
        (("qwen3", "--ask-server"), "provider/model"),
        (("--nope",), "nope"),
    ]:
        done = run(*words)
        assert (done.exit_code, expected in done.stderr) == (2, True)
        assert done.stdout == ""
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "mistral"\nmax_tool = 9\n')
    done = run("mistral")
    assert done.exit_code == 2
    assert "toolglot.toml: [[model]] 1 (mistral)" in done.stderr
    assert "max_tool" in done.stderr


# -- what the server reports


def test_the_server_is_asked(llamacpp_server: LlamaServer) -> None:
    done = run("llamacpp/smollm2", "--ask-server", "--base-url", llamacpp_server.address)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert lines["supports_tools"].split(maxsplit=2)[1:] == ["no", "asked the server (GET /props)"]
    assert lines["context_length"].split(maxsplit=2)[1:] == ["4096", "asked the server (GET /props)"]
    assert "asked the server" in lines["source"]


def test_the_embedded_model_is_asked(smollm2_path: Path) -> None:
    one = json.loads(run("local/smollm2", "--ask-server", "--json").stdout)
    assert one["facts"]["supports_tools"] == "asked the server (GET /props)"


def test_what_is_at_odds_is_noted_and_the_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "k")
    with discovery_server({"POST /api/show": (200, recorded("ollama/show.no-tools.json"))}) as server:
        done = run("ollama/mistral:7b", "--ask-server", "--base-url", server.address)
        assert "note: tools: the server says no, catalog row mistral says yes" in done.stdout
        ANSWERS.clear()
        run("mistral:7b", "--provider", "ollama-cloud", "--ask-server", "--base-url", server.address)
        assert [sent.get("authorization") for sent in server.headers] == [None, "Bearer k"]
    monkeypatch.delenv("OLLAMA_API_KEY")
    with discovery_server({}) as server:
        done = run("ollama-cloud/mistral:7b", "--ask-server", "--base-url", server.address)
        assert (done.exit_code, "note: the server could not be queried" in done.stdout) == (1, True)
        assert done.stderr.startswith("error: the server could not be queried: ")


# -- what has worked


def worked(server: str, model: str, **tool_modes: tuple[int, int]) -> None:
    known = ModeStats()
    for tool_mode, (tried, good) in tool_modes.items():
        for number in range(tried):
            known.note(
                server, model, tool_mode.replace("_", ":", 1) if tool_mode.startswith("dialect") else tool_mode, number < good
            )
    known.flush()


def test_what_has_worked_is_shown() -> None:
    assert "what has worked" not in run("qwen2.5-coder:7b").stdout
    worked("ollama", "qwen2.5-coder:7b", native=(10, 2), dialect_hermes=(9, 8))
    worked("vllm", "Qwen/Qwen2.5-Coder-7B", native=(4, 4))
    worked("ollama", "mistral", native=(1, 1))
    lines = run("qwen2.5-coder:7b").stdout.splitlines()
    start = lines.index("  what has worked with qwen2.5-coder:7b on ollama")
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["dialect:hermes", "8", "of", "9", "calls", "were", "good"],
        ["native", "2", "of", "10", "calls", "were", "good"],
    ]
    assert "  what has worked with Qwen/Qwen2.5-Coder-7B on vllm" in lines
    there = run("ollama/qwen2.5-coder:7b").stdout
    assert "on ollama" in there
    assert "on vllm" not in there
    assert "mistral" not in there
    one = json.loads(run("qwen2.5-coder:7b", "--provider", "vllm", "--json").stdout)
    assert [(entry["server"], entry["tool_modes"]) for entry in one["mode_stats"]] == [("vllm", {"native": [4, 4]})]


def test_what_has_worked_is_shared_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked("ollama", "qwen3:8b", native=(10, 2))
    worked("ollama", "mistral", native=(5, 5))
    done = run("--export", "modes.json")
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(run("--export", "-").stdout) == json.loads((tmp_path / "modes.json").read_text())
    done = run("--forget", "ollama/qwen3:8b")
    assert "forgotten: 1" in done.stderr
    assert [entry.model for entry in ModeStats().entries()] == ["mistral"]
    assert "forgotten: 1" in run("--forget").stderr
    assert ModeStats().entries() == ()
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "elsewhere"))
    assert "imported: 2" in run("--import", "modes.json").stderr
    assert "2 of 10 calls were good" in run("qwen3:8b").stdout
    (tmp_path / "wrong.json").write_text("{}")
    done = run("--import", "wrong.json")
    assert done.exit_code == 2
    assert "wrong.json: not a file from `toolglot models --export`" in done.stderr


def test_nothing_is_shown_where_it_is_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    worked("ollama", "qwen3:8b", native=(10, 2))
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "0")
    assert "what has worked" not in run("qwen3:8b").stdout
