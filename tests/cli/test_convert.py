"""`toolglot convert`, run as a process: what a user types and sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": 7, "max_tokens": 5}


def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolglot.cli.main", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_a_request_from_standard_input_with_its_notes_apart() -> None:
    done = run("convert", "--from", "openai-chat", "--to", "anthropic", given=json.dumps(REQUEST))
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}
    assert "note: seed" in done.stderr


def test_a_file_and_json_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    done = run("convert", "--to", "ollama", "--model", "other", "--json", str(path))
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert found["result"]["model"] == "other"
    assert found["notes"] == []


def test_files_as_other_programs_write_them(tmp_path: Path) -> None:
    """A byte order mark, as Windows has it; half a surrogate pair, as a cut text has it."""
    path = tmp_path / "in.json"
    path.write_bytes(b'\xef\xbb\xbf{"model": "m", "messages": [{"role": "user", "content": "\\ud83d"}]}')
    done = run("convert", "--to", "ollama", str(path))
    assert json.loads(done.stdout)["messages"][0]["content"] == "\ufffd"
    path.write_text("[" * 100_000 + "]" * 100_000)
    done = run("convert", "--to", "ollama", str(path))
    assert (done.returncode, "it is nested too deeply" in done.stderr) == (2, True)


def test_a_stream() -> None:
    line = '{"model":"m","message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}\n'
    done = run("convert", "--from", "ollama", "--to", "openai-chat", "--kind", "stream", given=line)
    assert done.returncode == 0
    assert '"content":"hi"' in done.stdout
    assert done.stdout.endswith("data: [DONE]\n\n")


def test_what_a_stream_can_not_express_is_reported_with_json_too() -> None:
    image = {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "video/mp4", "data": "AA=="}}]}}]}
    given = f"data: {json.dumps(image)}\n\n"
    done = run("convert", "--from", "gemini", "--to", "openai-chat", "--kind", "stream", "--json", given=given)
    assert "has no place for a" in done.stderr


@pytest.mark.parametrize(
    ("words", "given", "expected"),
    [
        ((), "{not json", "not JSON"),
        ((), "", "it is empty"),
        ((), "{}", "request: is an empty object"),
        (("--kind", "tools"), "[]", "the input has no tools: it is []"),
        (("--kind", "stream"), "\n", "the input has no stream"),
        (
            ("--kind", "response", "--tools", "no-such-file.json"),
            "{}",
            "--tools: no-such-file.json: there is no such file",
        ),
        ((), '{"model": "m", "messages": [{"role": "user", "content": 3}]}', "messages[0].content: expected a string"),
        (("--to", "antropic"), "{}", "did you mean anthropic?"),
        (("--kind", "nothing"), "{}", "--kind"),
        (("no-such-file.json",), "", "No such file"),
    ],
)
def test_usage_errors_exit_with_2(words: tuple[str, ...], given: str, expected: str) -> None:
    done = run("convert", *words, given=given)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_help_shows_examples() -> None:
    assert "Examples:" in run("convert", "--help").stdout
    assert "convert" in run("--help").stdout
