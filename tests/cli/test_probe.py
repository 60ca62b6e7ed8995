"""`toolglot probe`: what it prints, its exit codes, and a real llama.cpp server with a real model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.client.probe.upstream import Body, Said, completion, good, tool_calls, upstream
from tests.llamacpp import LlamaServer
from toolglot.cli.probe import HEADS, command

LISTED = {"object": "list", "data": [{"id": "my-qwen", "object": "model", "max_model_len": 32768}]}


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "TOOLGLOT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), catch_exceptions=False)


def test_a_table_and_a_verdict_on_stdout_progress_on_stderr() -> None:
    with upstream(good, listed=LISTED) as server:
        done = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native,tagged")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == f"vllm/my-qwen at {server.url}"
    head = next(at for at, line in enumerate(lines) if line.startswith("MODE"))
    assert [word for word in HEADS if word not in lines[head]] == []
    assert lines[head + 1].split()[:8] == ["native", "works", "well", "3/3", "2/2", "2/2", "2/2", "0/1"]
    assert lines[head + 2].split()[:3] == ["dialect:tagged", "fails", "1/3"]
    assert lines[-1] == "It works well in mode native: 3 of 3 right; toolglot uses it by default."
    assert "1/6 native: one_tool\n" in done.stderr
    assert "6/6 dialect:tagged: no_call\n" in done.stderr
    assert "\x1b" not in done.output


def in_fences(body: Body) -> Said:
    """Talks natively, and calls when it is asked for fenced JSON."""
    if body.get("tools") or "```" not in json.dumps(body["messages"]):
        return 200, completion(body, "Hello")
    asked = json.dumps(body["messages"])
    calls = {"Lisbon right now": ("get_weather", "Lisbon"), "time is it in Tokyo": ("get_time", "Tokyo")}
    call = next((value for words, value in calls.items() if words in asked), None)
    text = json.dumps({"name": call[0], "arguments": {"city": call[1]}}) if call else ""
    return 200, completion(body, f"```json\n{text}\n```" if call else "Goodbye!")


def test_a_better_mode_than_the_chosen_one_is_printed_as_a_row(tmp_path: Path) -> None:
    with upstream(in_fences, listed=LISTED) as server:
        done = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native,fenced_json")
        assert done.exit_code == 0, done.output
        assert "  [[model]]\n" in done.stdout
        assert '  ask = "dialect:fenced_json"' in done.stdout
        row = "\n".join(line.strip() for line in done.stdout[done.stdout.index("[[model]]") :].splitlines())
        (tmp_path / "toolglot.toml").write_text(row)
        again = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native,fenced_json", "--json")
    found = json.loads(again.stdout)
    assert (found["chosen"], found["recommended"], found["toml"]) == ("dialect:fenced_json", "dialect:fenced_json", None)


def test_a_fault_is_shown_with_what_was_seen_and_what_to_do() -> None:
    done = run("vllm/my-qwen", "--base-url", "http://127.0.0.1:9/v1")
    assert done.exit_code == 1
    assert "fault: not_reachable: nothing responds there" in done.stdout
    assert "  seen: http://127.0.0.1:9/v1: " in done.stdout
    assert "  do:   check that the server runs" in done.stdout
    assert "MODE " not in done.stdout
    assert done.stdout.splitlines()[-1] == "Nothing works: not_reachable."


def test_rejected_calls_are_in_the_verdict_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    def inventing(body: Body) -> Said:
        return 200, completion(body, None, tool_calls([("browse_the_web", {})]) if body.get("tools") else None)

    with upstream(inventing, listed=LISTED) as server:
        done = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native")
    assert done.exit_code == 1
    assert "fault: unknown_name (mode native)" in done.stdout
    assert caplog.records == []


def test_a_damaged_statistics_file_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "toolglot").mkdir()
    (tmp_path / "toolglot" / "tool_modes.json").write_text("{")
    with upstream(good, listed=LISTED) as server:
        done = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native")
    assert done.exit_code == 0
    assert "tool_modes.json is damaged" in done.stderr


def test_json_is_for_machines() -> None:
    with upstream(good, listed=LISTED) as server:
        done = run("vllm/my-qwen", "--base-url", server.url, "--quick", "--modes", "native", "--json")
    found = json.loads(done.stdout)
    assert (found["works"], found["recommended"], found["findings"], found["server"]) == (True, "native", [], "vllm")
    (tool_mode,) = found["tool_modes"]
    assert (tool_mode["tool_mode"], tool_mode["right"], tool_mode["asked"], tool_mode["mark"]) == ("native", 3, 3, "works well")
    assert tool_mode["tokens"] > 0


def test_usage_errors_exit_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cases: list[tuple[tuple[str, ...], str]] = [
        (("qwen",), "provider/model"),
        (("olama/qwen",), "did you mean ollama?"),
        (("vllm/m", "--modes", "taged"), "did you mean tagged?"),
        (("deepseek/m", "--modes", "constrained"), "does not support constrained decoding"),
        (("openai/gpt-x",), "OPENAI_API_KEY"),
        (("vllm/m", "--api-key", "env:NOT_THERE"), "NOT_THERE"),
        (("vllm/m", "--api-key", "sk-1"), "--api-key env:NAME"),
        ((), "MODEL"),
    ]
    for words, expected in cases:
        done = run(*words)
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert expected in done.stderr


def test_help_shows_examples_and_exit_codes() -> None:
    output = run("--help").stdout
    assert "toolglot probe ollama/qwen3:8b" in output
    assert "Exit codes" in output


# -- a real server


@pytest.fixture(scope="module")
def probed(llamacpp_server: LlamaServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("probed")
        for name in ("XDG_CONFIG_HOME", "TOOLGLOT_CACHE"):
            patch.setenv(name, str(home))
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.delenv("TOOLGLOT_REMEMBER", raising=False)
        address = llamacpp_server.address
        done = run("llamacpp/smollm2", "--base-url", address, "--quick", "--modes", "native,constrained", "--json")
        found = json.loads(done.stdout)
        assert done.exit_code == (0 if found["works"] else 1), done.output
        stats = json.loads((home / "toolglot" / "tool_modes.json").read_text())
    return {**found, "stats": stats}


def test_a_real_server_that_drops_tools_is_found_out(probed: dict[str, Any]) -> None:
    dropped = next(finding for finding in probed["findings"] if finding["code"] == "tools_dropped")
    assert dropped["tool_mode"] == "native"
    assert "GET /props reports that its template takes no tools" in dropped["evidence"]
    assert "tokens with tools" in dropped["evidence"]
    tool_modes = {tool_mode["tool_mode"]: tool_mode for tool_mode in probed["tool_modes"]}
    assert (tool_modes["native"]["mark"], tool_modes["native"]["valid"]) == ("fails", 0)


def test_constrained_mode_on_a_real_server(probed: dict[str, Any]) -> None:
    """SmolLM2 is too small for reliable calls, so only the structure is checked."""
    mode = next(mode for mode in probed["tool_modes"] if mode["tool_mode"] == "constrained")
    assert (mode["asked"], mode["due"], mode["no_call_due"]) == (3, 2, 1), "the server refused none of the requests"
    assert mode["tokens"] > 0
    assert probed["chosen"] == "constrained"
    assert probed["recommended"] == ("constrained" if probed["works"] else None)
    assert "stream_differs" not in [finding["code"] for finding in probed["findings"]]


def test_a_probe_adds_to_the_mode_statistics(probed: dict[str, Any]) -> None:
    (entry,) = probed["stats"]["entries"]
    assert entry["model"] == "smollm2"
    assert entry["tool_modes"]["native"] == [2, 0]


@pytest.mark.big_model
def test_a_real_model_whose_calls_come_as_text(qwen_server: LlamaServer) -> None:
    tool_modes = ["native", "constrained", "hermes", "tagged", "fenced_json", "bare_json", "pythonic"]
    asked = ("--base-url", qwen_server.address, "--quick", "--modes", ",".join(tool_modes), "--json")
    found = json.loads(run("llamacpp/qwen2.5-coder-1.5b", *asked).stdout)
    assert found["works"]
    assert {"calls_as_text", "parser_flag_missing"} & {finding["code"] for finding in found["findings"]}
    by_name = {tool_mode["tool_mode"].removeprefix("dialect:"): tool_mode for tool_mode in found["tool_modes"]}
    assert set(by_name) == set(tool_modes)
    assert all(
        by_name[tool_mode]["right"] >= 2 for tool_mode in ("constrained", "tagged")
    )  # of three: none is due in the third
