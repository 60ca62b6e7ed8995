"""A newcomer who follows the README from the top: every command line is run, and its output compared.

Everyday, the lines that use an installed toolglot are run, offline: the gateway with a scripted model behind it, and the lines
of the agents with a program that reads the same settings. `TOOLGLOT_NEWCOMER=1` also runs those that install it, in a fresh
clone with an empty home: they need the package index. The tutorial's lines are run by tests/test_docs.py.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.scripted import serving, text_reply
from tests.ports import reserved_port
from toolglot.cli.agents import agents, find_agent

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINES = [line.split("  #")[0].strip() for block in BLOCK.findall(README) for line in block.splitlines() if line.strip()]
ANSWER = "Hello from the model."
# line -> what it prints (a pattern)
CLONE = {
    "make demo": r"(?s).*get_weather.*",
    'pip install ".[gateway,local]"': r"(?s).*",
    'uv tool install ".[gateway,local]"': r"(?s).*toolglot.*",
}
SERVE = {"toolglot serve": r"http://127\.0\.0\.1:\d+"}
LAUNCH = [line for line in LINES if line.startswith("toolglot launch ")]
AGENTS = ("ANTHROPIC_BASE_URL=", "TOOLGLOT_KEY=", "mkdir -p ~/.gemini", "GOOGLE_GEMINI_BASE_URL=")
NOT_RUN = {
    "make test": "it runs this test",
    'uvx --from ".[gateway]" toolglot serve': "it does not end",
}


def test_each_line_is_run_or_says_why_not() -> None:
    known = {*CLONE, *SERVE, *NOT_RUN, *LAUNCH}
    assert [line for line in LINES if line not in known and not line.startswith(AGENTS)] == []
    assert known <= set(LINES)


@contextlib.contextmanager
def gateway(home: Path, upstream: str) -> Iterator[str]:
    """`toolglot serve` as in the README, with a scripted model as `local`. Its address."""
    with reserved_port() as port:
        yield from _served(home, upstream, port)


def _served(home: Path, upstream: str, port: int) -> Iterator[str]:
    config = home / "toolglot.toml"
    config.write_text(
        f'[server]\nport = {port}\n[[upstream]]\nname = "model"\nprovider = "openai"\nbase_url = "{upstream}"\n'
        'api_key = "env:KEY_OF_THE_TEST"\n[[route]]\nmodel = "local"\nto = "model/gpt-5"\n'
    )
    variables = {**os.environ, "HOME": str(home), "KEY_OF_THE_TEST": "none"}
    words = next(line for line in LINES if line.startswith("toolglot serve")).split()[1:]
    process = subprocess.Popen(
        [sys.executable, "-m", "toolglot", *words], cwd=home, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        seen = b""
        for line in process.stdout or ():
            seen += line
            if re.search(SERVE["toolglot serve"].encode(), line):
                break
        assert process.poll() is None, seen
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate()


def test_the_gateway_and_the_lines_of_the_agents(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("claude", "codex", "gemini"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/tests/stand_in.py" {name} "$@"\n')
        (programs / name).chmod(0o755)
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    lines = [line for line in LINES if line.startswith(AGENTS)]
    asking = [line for line in lines if not line.startswith("mkdir")]
    block = re.search(r"^```python no-run\n(import openai.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert block is not None
    with serving(*[text_reply(ANSWER)] * (len(asking) + 1)) as (upstream, bodies), gateway(tmp_path, upstream) as address:
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line.replace("http://127.0.0.1:8484", address)],  # noqa: S607
                env=variables,
                capture_output=True,
                text=True,
                check=False,
            )
            expected = f"{ANSWER}\n" if line in asking else ""
            assert (done.returncode, done.stdout) == (0, expected), f"{line}\n{done.stderr}"
        printed = io.StringIO()
        pytest.importorskip("openai")
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1].replace("http://127.0.0.1:8484", address), "README.md", "exec"), {})  # noqa: S102
        assert printed.getvalue() == f"{ANSWER}\n"
    assert len(bodies) == len(asking) + 1


def test_each_agent_has_a_line() -> None:
    assert [line.split()[2] for line in LAUNCH] == list(agents())


@pytest.mark.parametrize("line", LAUNCH)
def test_the_lines_that_start_an_agent(line: str, tmp_path: Path) -> None:
    """Up to the agent, which tests/cli/test_launch.py plays and tests/cli/test_launch_agents.py runs: `--dry-run` prints how it
    would be started, and without a model server `--force` is needed.
    """
    words = [sys.executable, "-m", *line.split(), "--dry-run", "--force"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{find_agent(line.split()[2]).title} uses qwen3-coder:30b of ollama" in done.stderr
    assert re.search(r"http://127\.0\.0\.1:\d+", done.stdout)
    assert "qwen3-coder:30b" in done.stdout


@pytest.mark.skipif(os.environ.get("TOOLGLOT_NEWCOMER") != "1", reason="set TOOLGLOT_NEWCOMER=1; needs the package index")
@pytest.mark.parametrize("line", CLONE)
def test_the_lines_that_install_it(line: str, tmp_path: Path) -> None:
    program = line.split(maxsplit=1)[0]
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    clone, environment = tmp_path / "toolglot", tmp_path / "env"
    subprocess.run(["git", "clone", "--quiet", "--local", str(ROOT), str(clone)], check=True)  # noqa: S607
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    network = {name: value for name, value in os.environ.items() if name.startswith(("SSL_", "UV_", "PIP_"))}
    variables = {**network, "PATH": f"{environment}/bin{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", line],  # noqa: S607
        cwd=clone,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.fullmatch(CLONE[line], done.stdout), done.stdout
    if program != "make":
        folder = environment / "bin" if program == "pip" else tmp_path / ".local" / "bin"
        shown = subprocess.run([folder / "toolglot", "--version"], env=variables, capture_output=True, text=True, check=True)
        assert "toolglot" in shown.stdout
