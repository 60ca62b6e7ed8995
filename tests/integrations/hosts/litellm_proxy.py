"""Five forms of calls in text through a real LiteLLM proxy, without and with the callback. test_hosts.py runs it in its host.

`main()` prints how many calls arrive, whole and streamed, as JSON.
"""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.integrations.hosts.pages import URL, block
from tests.integrations.hosts.text_server import serving

FORMS = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    "<|tool_call_start|>[get_weather(city='Paris')]<|tool_call_end|>",
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
KEY = f"sk-{secrets.token_hex(32)}"
START = 300  # seconds: LiteLLM imports for long on a busy machine


@contextmanager
def proxy(upstream: str, *, callback: bool) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = block("litellm.md", "yaml").replace(URL, upstream) + f"general_settings:\n  master_key: {KEY}\n"
    if not callback:
        config = config.replace("callbacks:", "# callbacks:").replace("litellm_settings:", "litellm_settings: {}")
    with TemporaryDirectory() as folder:
        path, log = Path(folder) / "config.yaml", Path(folder) / "log"
        path.write_text(config, encoding="utf-8")
        command = [str(Path(sys.executable).with_name("litellm")), "--config", str(path), "--port", str(port)]
        with log.open("wb") as output:
            server = subprocess.Popen([*command, "--host", "127.0.0.1"], stdout=output, stderr=output)
        try:
            _wait(f"http://127.0.0.1:{port}/health/liveliness", server, log)
            yield f"http://127.0.0.1:{port}/v1/chat/completions"
        finally:
            server.terminate()
            server.wait()


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(START):
        try:
            with urlopen(url):
                return
        except (URLError, ConnectionError):
            assert server.poll() is None, log.read_text(encoding="utf-8")[-3000:]
            time.sleep(1)
    raise AssertionError(log.read_text(encoding="utf-8")[-3000:])


def arrives(url: str, form: int, *, stream: bool) -> bool:
    body = {"model": "my-model", "messages": [{"role": "user", "content": str(form)}], "tools": TOOLS, "stream": stream}
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    with urlopen(Request(url, json.dumps(body).encode(), headers)) as response:
        text = response.read().decode()
    if not stream:
        choice = json.loads(text)["choices"][0]
        calls, reasons = choice["message"].get("tool_calls") or [], {choice["finish_reason"]}
    else:
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        calls = [call for choice in choices for call in choice["delta"].get("tool_calls") or []]
        reasons = {choice.get("finish_reason") for choice in choices}
    arguments = "".join(call["function"].get("arguments") or "" for call in calls)
    names = [call["function"].get("name") for call in calls if call["function"].get("name")]
    return names == ["get_weather"] and json.loads(arguments) == {"city": "Paris"} and "tool_calls" in reasons


def main() -> None:
    found: dict[str, dict[str, int]] = {}
    with serving(lambda body: FORMS[int(body["messages"][-1]["content"])]) as (upstream, _):
        for callback in (False, True):
            with proxy(upstream, callback=callback) as url:
                ways = {"whole": False, "streamed": True}
                found["with" if callback else "without"] = {
                    way: sum(arrives(url, form, stream=stream) for form in range(len(FORMS))) for way, stream in ways.items()
                }
    print(json.dumps(found))
