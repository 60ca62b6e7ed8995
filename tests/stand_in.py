"""Stands in for the coding agents `claude`, `codex` and `gemini`: reads the settings that they read, and asks for one answer.

The real ones are in tests/gateway/test_agents.py. This one is there everywhere, so that the README's lines are always run.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
import urllib.request
from pathlib import Path
from typing import Any


def post(url: str, body: dict[str, Any], **headers: str) -> Any:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})  # noqa: S310
    with urllib.request.urlopen(request) as response:  # noqa: S310
        return json.load(response)


def after(option: str, words: list[str]) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]


def claude(words: list[str]) -> str:
    body = {"model": after("--model", words)[0], "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
    key = f"Bearer {os.environ['ANTHROPIC_AUTH_TOKEN']}"
    reply = post(f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages", body, authorization=key)
    return str(reply["content"][0]["text"])


def codex(words: list[str]) -> str:
    settings: dict[str, Any] = {}
    for word in after("-c", words):
        name, _, value = word.partition("=")
        try:
            settings[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:  # a bare word is a string, as in codex
            settings[name] = value
    provider = settings[f"model_providers.{settings['model_provider']}"]
    assert provider["wire_api"] == "responses"
    key = f"Bearer {os.environ[provider['env_key']]}"
    reply = post(f"{provider['base_url']}/responses", {"model": after("-m", words)[0], "input": "Hi"}, authorization=key)
    return str(reply["output"][0]["content"][0]["text"])


def gemini(words: list[str]) -> str:
    settings = json.loads((Path.home() / ".gemini" / "settings.json").read_text(encoding="utf-8"))
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"
    url = f"{os.environ['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/{after('-m', words)[0]}:generateContent"
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    reply = post(url, body, **{"x-goog-api-key": os.environ["GEMINI_API_KEY"]})
    return str(reply["candidates"][0]["content"]["parts"][0]["text"])


if __name__ == "__main__":
    program = {"claude": claude, "codex": codex, "gemini": gemini}[sys.argv[1]]
    sys.stdout.write(program(sys.argv[2:]) + "\n")
