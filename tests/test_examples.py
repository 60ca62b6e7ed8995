"""Each script in `examples/` is run as a user runs it; a scripted server on loopback answers for the model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.scripted import call_reply, serving, text_reply

EXAMPLES = Path(__file__).parents[1] / "examples"
ADD = [call_reply(("a", "add", '{"a": "2", "b": 3}')), text_reply("It is 5.")]
IN_TEXT = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
# script -> what the model answers, and what the script prints (a pattern)
RUNS: dict[str, tuple[list[list[bytes]], str]] = {
    "agent": (
        [call_reply(("a", "get_weather", '{"city": "Paris"}')), text_reply("It is| mild.")],
        r"It is mild\.\nRun\(finished, 'It is mild\.', calls=\[get_weather\(.*\)\], turns=2\)\n",
    ),
    "typed_output": (
        [text_reply('{"name": "Ada Lovelace"}'), text_reply('{"name": "Ada Lovelace", "born": 1815}')],
        r"Ada Lovelace was born in 1815\.\n",
    ),
    "approve": (
        [
            call_reply(("a", "delete_file", '{"path": "tmp/old.txt"}'), ("b", "delete_file", '{"path": "notes.txt"}')),
            text_reply("One is deleted."),
        ],
        r"(?s)call: delete_file .*allowed\ncall: delete_file .*denied\nOne is deleted\.\nfinished 2 Usage.*",
    ),
    "record_replay": (ADD, r"Run\(finished, 'It is 5\.', calls=\[add\(.*\)\], turns=2\)\nthe replay is equal: True\n"),
    "own_loop": (ADD, r"request 1\ncall add \{'a': 2, 'b': 3\}\nrequest 2\nIt is 5\.\n"),
    "extract_calls": ([], r"(?s)get_weather \{'city': 'Rome'\} from hermes\n.*from mistral.*rejected_schema\nno call\n"),
    "extract_stream": ([], r"(?s)'Let me' .*\{'city': 'Rome'\}\n"),
    "translate": ([], r"(?s)openai-chat: .*anthropic: model, .*note: max_tokens.*ollama: .*"),
    "translate_stream": ([], r"\d pieces\nLet me see\. \['now'\] calls\n"),
    "gateway": ([text_reply(IN_TEXT)], r"rescued_text\ntool_use \('get_weather', \{'city': 'Rome'\}\)\n"),
}


def test_each_script_is_run_and_listed() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts == RUNS.keys()
    listed = re.findall(r"^\| \[(\w+)\.py\]\(\1\.py\) \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(scripts)


@pytest.mark.parametrize("name", RUNS)
def test_a_script_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    answers, expected = RUNS[name]
    with serving(*answers) as (address, bodies):
        variables = {
            **{key: value for key, value in os.environ.items() if not key.startswith("TOOLGLOT_")},
            "TOOLGLOT_MODEL": "openai/gpt-5",
            "TOOLGLOT_BASE_URL": address,
            "OPENAI_API_KEY": "none",
            "HOME": str(tmp_path),
        }
        command = [sys.executable, str(EXAMPLES / f"{name}.py")]
        done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(expected, done.stdout), done.stdout
    assert len(bodies) == len(answers)
