"""`toolglot ask` as a process: over HTTP, on a terminal, interrupted, with streams that are closed."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.scripted import call_reply, serving, text_reply
from tests.cli.test_ask import CALL, TOOLS
from toolglot.agent.record import replay


@pytest.fixture
def tools(tmp_path: Path) -> str:
    (tmp_path / "my_tools.py").write_text(TOOLS)
    return str(tmp_path / "my_tools.py")


SLOW = '''
import sys, time

def slow() -> int:
    """Slow."""
    sys.stderr.write("begun\\n")
    sys.stderr.flush()
    time.sleep(60)
    return 1
'''
PROGRAM = "from toolglot.cli.ask import command; command()"


def environment() -> dict[str, str]:
    return {**os.environ, "OPENAI_API_KEY": "k", "NO_COLOR": "1", "TOOLGLOT_REMEMBER": "0"}


def test_a_process_over_http(tools: str) -> None:
    with serving(CALL, text_reply("Mild.")) as (address, _):
        words = ["Weather?", "-m", "openai/gpt-5", "--tools", tools, "--base-url", address]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], input="", capture_output=True, text=True, env=environment(), check=False
        )
    assert (done.returncode, done.stdout) == (0, "Mild.\n")
    assert "result get_weather: 18C in Rome" in done.stderr


def test_output_of_a_child_process_of_a_tool_goes_to_stderr(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'print(1)'])\n"
        "def work() -> str:\n    'Works.'\n    subprocess.run([sys.executable, '-c', 'print(2)'])\n    return 'done'\n"
    )
    with serving(call_reply(("a", "work", "{}")), text_reply("ok")) as (address, _):
        words = ["go", "-m", "openai/gpt-5", "--base-url", address, "--tools", str(tools)]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], input="", capture_output=True, text=True, env=environment(), check=False
        )
    assert (done.returncode, done.stdout) == (0, "ok\n")
    first, note, *rest = done.stderr.splitlines()
    assert (first, rest[:2]) == ("1", ["call work({})", "2"])
    assert note.startswith("runs without approval: work ")


def test_an_mcp_server_that_prints_causes_no_traceback(tmp_path: Path) -> None:
    server = Path(__file__).parents[1] / "agent" / "mcp_server.py"
    noisy = tmp_path / "noisy.py"
    noisy.write_text(f"import runpy\nprint('ready!', flush=True)\nrunpy.run_path({str(server)!r}, run_name='__main__')\n")
    with serving(text_reply("ok")) as (address, bodies):
        words = ["go", "-m", "openai/gpt-5", "--base-url", address, "--mcp", f"{sys.executable} {noisy} stdio"]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], input="", capture_output=True, text=True, env=environment(), check=False
        )
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert done.stderr.count("\n") == 1  # what runs without approval
    assert len(bodies[0]["tools"]) == 8


def test_streams_that_are_closed_or_know_few_signs() -> None:
    def asked(closed: int | None, **variables: str) -> bytes:
        with serving(text_reply("na\u00efve \u2713")) as (address, _):
            words = ["go", "-m", "openai/gpt-5", "--base-url", address]
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=environment() | variables,
                preexec_fn=None if closed is None else lambda: os.close(closed),
                check=False,
            )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert asked(None, PYTHONIOENCODING="ascii") == b"na?ve ?\n"
    assert asked(0, PYTHONIOENCODING="utf-8") == "na\u00efve \u2713\n".encode()
    assert asked(1) == b""


def test_an_interrupt_ends_it_at_once_and_is_on_record(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    record = tmp_path / "runs.sqlite"
    with serving(call_reply(("a", "slow", "{}"))) as (address, _):
        words = [
            "go",
            "-m",
            "openai/gpt-5",
            "--tools",
            str(tmp_path / "slow.py"),
            "--base-url",
            address,
            "--record",
            str(record),
        ]
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        ) as process:
            assert process.stderr is not None
            assert [process.stderr.readline() for _ in range(3)][1:] == ["call slow({})\n", "begun\n"]
            process.send_signal(signal.SIGINT)
            assert process.stderr.read() == "stopped\n"
            assert process.wait() == 1
    run = replay(record)
    assert run.end == "stopped"
    assert run.messages[-1]["content"].startswith("Error: Interrupted, maybe half done")


def test_a_chat_on_a_terminal(tools: str) -> None:
    """The conversation is kept: the second question goes out with the first answer before it."""
    with serving(CALL, text_reply("Mild."), text_reply("Rome."), text_reply("New.")) as (address, bodies):
        words = ["-m", "openai/gpt-5", "--tools", tools, "--base-url", address]
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        ) as process:
            os.write(ours, b"Weather?\nWhere?\n/new\nHello\n\x04")
            out, err = process.communicate()
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 0, err
    assert out.splitlines() == ["Mild.", "Rome.", "New."]
    assert [len(body["messages"]) for body in bodies] == [1, 3, 5, 1]
    assert "/new starts a new chat, Ctrl-D quits." in err


TWO = """
import asyncio, sys

def quick() -> str:
    'Quick.'
    return "done"

async def slow() -> str:
    'Slow.'
    print("begun", file=sys.stderr, flush=True)
    await asyncio.sleep(60)
    return ""
"""


def test_what_was_done_before_an_interrupt_stays_in_the_chat(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(TWO)
    with serving(call_reply(("a", "quick", "{}")), call_reply(("b", "slow", "{}")), text_reply("Well.")) as (address, bodies):
        words = ["-m", "openai/gpt-5", "--tools", str(tmp_path / "t.py"), "--base-url", address]
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        ) as process:
            assert process.stderr is not None
            os.write(ours, b"Go.\n")
            assert "begun\n" in iter(process.stderr.readline, "")
            process.send_signal(signal.SIGINT)
            assert "stopped\n" in iter(process.stderr.readline, "")
            os.write(ours, b"And?\n\x04")
            out, err = process.communicate()
        os.close(ours)
        os.close(theirs)
    assert (process.returncode, out) == (0, "Well.\n"), err
    roles = [message["role"] for message in bodies[2]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert bodies[2]["messages"][4]["content"].startswith("Error: Interrupted, maybe half done")


def test_an_interrupt_while_it_asks_for_approval_ends_it(tools: str) -> None:
    with serving(CALL) as (address, _):
        words = ["go", "-m", "openai/gpt-5", "--tools", tools, "--approve", "--base-url", address]
        ours, theirs = pty.openpty()
        program = f"import toolglot.cli.ask as ask; ask.TERMINAL = {os.ttyname(theirs)!r}; ask.command()"
        with subprocess.Popen(
            [sys.executable, "-c", program, *words],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as process:
            assert process.stderr is not None
            seen = b""
            while not seen.endswith(b"a reason to refuse: "):
                seen += process.stderr.read(1)
            process.send_signal(signal.SIGINT)
            assert process.stderr.read() == b"stopped\n"
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 1


def test_a_chat_has_no_json_form() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--json", "-m", "openai/gpt-5"],
        stdin=theirs,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (2, "error: --json: a chat can't be printed as JSON; give a question\n")
