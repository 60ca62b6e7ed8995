"""The gateway between a client of Anthropic's API and any model. Needs `toolglot[gateway]`."""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

MODEL, URL = os.environ.get("TOOLGLOT_MODEL", "local/smollm2"), os.environ.get("TOOLGLOT_BASE_URL")
PROVIDER, _, NAME = MODEL.partition("/")
CONFIG = f"""
[server]
port = 0                     # a free one
[[upstream]]
name = "model"
provider = "{PROVIDER}"
{f'base_url = "{URL}"' if URL else ""}
[[route]]
model = "claude-*"
to = "model/{NAME}"
"""
REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 200,
    "messages": [{"role": "user", "content": "Weather in Rome?"}],
    "tools": [{"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}],
}

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "toolglot.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONFIG)
    command = [sys.executable, "-m", "toolglot", "serve", "--config", path]
    gateway = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = next(found[0] for line in gateway.stdout or () if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        request = urllib.request.Request(f"{address}/v1/messages", json.dumps(REQUEST).encode(), headers)
        with urllib.request.urlopen(request) as response:
            message = json.load(response)
            print(response.headers["x-toolglot-decisions"])
        for block in message["content"]:
            print(block["type"], block.get("text") or (block["name"], block["input"]))
    finally:
        gateway.terminate()
        gateway.communicate()
