"""The processes of this bench: the upstream, the servers in front of it, and the load. Linux only: it reads /proc."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OUT = ROOT / ".bench" / "gateway"
LITELLM = ROOT / ".bench" / "litellm"
_TICK = os.sysconf("SC_CLK_TCK")
_TOOLGLOT = "import sys; from toolglot.cli.main import main; sys.exit(main())"

TOML = """\
[server]
port = {port}
{server}
[[upstream]]
name = "chat"
provider = "openai"
base_url = "http://127.0.0.1:{upstream}/v1"
api_key = "none"
[[upstream]]
name = "anthropic"
provider = "anthropic"
base_url = "http://127.0.0.1:{upstream}"
api_key = "none"
[[route]]
model = "to-chat"
to = "chat/gpt-5.2"
[[route]]
model = "to-anthropic"
to = "anthropic/claude-sonnet-4-5"
"""

YAML = """\
model_list:
- model_name: to-chat
  litellm_params: {{model: openai/gpt-5.2, api_base: "http://127.0.0.1:{upstream}/v1", api_key: none}}
- model_name: to-anthropic
  litellm_params: {{model: anthropic/claude-sonnet-4-5, api_base: "http://127.0.0.1:{upstream}", api_key: none}}
litellm_settings:
  drop_params: true
  use_chat_completions_url_for_anthropic_messages: true
general_settings:  # no key, as the others here: it listens on loopback only, and for the length of this run
  dangerously_permit_weak_or_unset_master_key: true
"""


@dataclass
class Server:
    name: str
    port: int
    process: subprocess.Popen[str]
    start: float = 0.0  # seconds from its start to its first answer
    version: str = ""
    headers: dict[str, str] = field(
        default_factory=dict
    )  # by the model that is asked for: one more line of each request's head

    def cpu(self) -> float:
        """Seconds of CPU that the process has used, user and system, in all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def memory(self) -> float:
        """Resident, in MB (10^6 bytes)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
        return 0.0

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Load:
    """The other end of `load.py`."""

    def __init__(self, stack: ExitStack, core: int | None) -> None:
        self._process = started(
            stack, [sys.executable, str(HERE / "load.py")], core, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, **asked: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "error" in result:
            raise RuntimeError(f"port {asked['port']}: {result['error']}")
        return result


# -- starting


def cores() -> tuple[int | None, int | None]:
    """One core for the server under test, one for all else, where there are two."""
    free = sorted(os.sched_getaffinity(0))
    return (free[0], free[1]) if len(free) > 1 else (None, None)


def started(stack: ExitStack, command: list[str], core: int | None, **more: Any) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    process = subprocess.Popen(command, text=True, env=environ, **more)
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    stack.callback(_stop, process)
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def upstream(stack: ExitStack, files: list[str], core: int | None, pause_us: int) -> Server:
    """Compiled where the program is older than its source."""
    source, program = HERE / "upstream.c", OUT / "upstream"
    OUT.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
    process = started(stack, [str(program), "0", str(pause_us), *files], core, stdout=subprocess.PIPE)
    assert process.stdout is not None
    return Server("direct", int(process.stdout.readline()), process)


def _serving(
    stack: ExitStack, name: str, core: int | None, make: Callable[[int], list[str]], *, path: str, wait: float
) -> Server:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    log = stack.enter_context((OUT / f"{name}.log").open("w", encoding="utf-8"))
    begun = time.perf_counter()
    server = Server(name, port, started(stack, make(port), core, stdout=log, stderr=log))
    while time.perf_counter() < begun + wait:
        if server.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                answer.read()
        except OSError:
            time.sleep(0.01)
            continue
        server.start = time.perf_counter() - begun
        return server
    raise RuntimeError(f"{name} does not answer; see {OUT / f'{name}.log'}")


def floor(stack: ExitStack, behind: Server, core: int | None, *, under: Sequence[str] = ()) -> Server:
    """`under`: a program that runs it, as valgrind does."""
    command = [*under, sys.executable, str(HERE / "floor.py")]
    return _serving(stack, "floor", core, lambda port: [*command, str(port), str(behind.port)], path="/", wait=30)


def toolglot(
    stack: ExitStack, behind: Server, core: int | None, server: str = "", more: str = "", *, under: Sequence[str] = ()
) -> Server:
    def command(port: int) -> list[str]:
        file = OUT / f"toolglot-{port}.toml"  # its own: a gateway takes up what its file says, and another run may go on beside
        stack.callback(file.unlink, missing_ok=True)
        file.write_text(TOML.format(port=port, upstream=behind.port, server=server) + more, encoding="utf-8")
        return [*under, sys.executable, "-c", _TOOLGLOT, "serve", "--config", str(file)]

    return _serving(stack, "toolglot", core, command, path="/healthz", wait=30)


# -- others, each in an environment of its own, installed when it is first asked for


def _installed(folder: Path, *commands: list[str]) -> None:
    ready = folder / ".gateway-ready"
    if ready.exists():
        return
    print(f"installing into {folder} (once, some minutes) ...", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for command in commands:
        subprocess.run(command, check=True, timeout=1200, cwd=folder, stdout=subprocess.DEVNULL)
    ready.touch()


def _python_packages(folder: Path, *packages: str) -> Path:
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    _installed(folder, [sys.executable, "-m", "venv", str(folder)], install)
    return folder / "bin"


def _version(programs: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([str(programs / "python"), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def litellm(stack: ExitStack, behind: Server, core: int | None) -> Server:
    """Its proxy, in the environment that the other benches use."""
    programs = _python_packages(LITELLM, "litellm[proxy]", "orjson")
    file = OUT / "litellm.yaml"
    file.write_text(YAML.format(upstream=behind.port), encoding="utf-8")
    start = [str(programs / "litellm"), "--config", str(file), "--host", "127.0.0.1", "--telemetry", "False"]
    server = _serving(stack, "litellm", core, lambda port: [*start, "--port", str(port)], path="/health/liveliness", wait=180)
    server.version = _version(programs, "litellm")
    return server


def llm_rosetta(stack: ExitStack, behind: Server, core: int | None) -> Server:
    programs = _python_packages(ROOT / ".bench" / "llm-rosetta", "llm-rosetta")
    there = f"http://127.0.0.1:{behind.port}"
    providers = {
        "openai_chat": {"api_key": "none", "base_url": f"{there}/v1"},
        "anthropic": {"api_key": "none", "base_url": there},
    }
    settings = {"providers": providers, "models": {"to-chat": "openai_chat", "to-anthropic": "anthropic"}}
    file = OUT / "llm-rosetta.json"
    file.write_text(
        json.dumps({**settings, "server": {"host": "127.0.0.1", "port": 0, "open_on_no_keys": True}}), encoding="utf-8"
    )
    start = [str(programs / "llm-rosetta-gateway"), "--config", str(file), "--no-banner", "--log-level", "warning"]
    start += ["--host", "127.0.0.1", "--data-dir", str(OUT / "llm-rosetta")]
    server = _serving(stack, "llm-rosetta", core, lambda port: [*start, "--port", str(port)], path="/health", wait=60)
    server.version = _version(programs, "llm-rosetta")
    return server


def portkey(stack: ExitStack, behind: Server, core: int | None) -> Server:
    """Its gateway on Node.js. It has no configuration: each request says where it goes."""
    folder = ROOT / ".bench" / "portkey"
    _installed(folder, ["npm", "install", "--silent", "--ignore-scripts", "--prefix", str(folder), "@portkey-ai/gateway"])
    package = folder / "node_modules" / "@portkey-ai" / "gateway"
    start = ["node", str(package / "build" / "start-server.js"), "--headless"]
    server = _serving(stack, "portkey", core, lambda port: [*start, f"--port={port}"], path="/", wait=60)
    there = f"http://127.0.0.1:{behind.port}/v1"
    server.version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    for model, provider, name in (("to-chat", "openai", "gpt-5.2"), ("to-anthropic", "anthropic", "claude-sonnet-4-5")):
        config = {"provider": provider, "api_key": "none", "custom_host": there, "override_params": {"model": name}}
        server.headers[model] = f"x-portkey-config: {json.dumps(config)}"
    return server


OTHERS = (litellm, llm_rosetta, portkey)
