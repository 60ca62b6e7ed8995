"""Packages that add to toolglot: the example is installed and used, and what is wrong with others is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"
CALL = 'Here: <acme:call>{"name": "f", "arguments": {"a": 1}}</acme:call>'


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, in a folder of its own."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(folder), str(EXAMPLE)], check=True)
    return folder


def run(site: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """toolglot, with the packages of a folder."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "XDG_CONFIG_HOME": str(site)}
    command = [sys.executable, *words] if words[0] == "-c" else [sys.executable, "-m", "toolglot", *words]
    return subprocess.run(command, env=variables, input=given, capture_output=True, text=True, check=False)


def test_the_example_is_listed(installed: Path) -> None:
    done = run(installed, "plugins", "--json")
    assert [(one["group"], one["name"], one["package"], one["problem"]) for one in json.loads(done.stdout)] == [
        ("toolglot.dialects", "acme", "acme-toolglot 0.1.0", ""),
        ("toolglot.wires", "acme-chat", "acme-toolglot 0.1.0", ""),
        ("toolglot.providers", "acme", "acme-toolglot 0.1.0", ""),
        ("toolglot.models", "acme", "acme-toolglot 0.1.0", ""),
    ]
    done = run(installed, "plugins")
    assert (done.returncode, "acme-chat  acme-toolglot 0.1.0, acme_toolglot.wire:WIRE: ok" in done.stdout) == (0, True)


def test_its_dialect_is_found_by_auto(installed: Path) -> None:
    found = json.loads(run(installed, "parse", given=CALL).stdout)
    assert (found["dialect"], [call["arguments"] for call in found["calls"]]) == ("acme", [{"a": 1}])


def test_its_dialect_is_named_where_dialects_are(installed: Path) -> None:
    code = "from toolglot.integrations.engine_parser import parser_names; print(parser_names()['toolglot_acme'])"
    assert run(installed, "-c", code).stdout == "acme\n"
    assert "did you mean acme?" in run(installed, "parse", "--dialect", "acmee", given=CALL).stderr


def test_its_models_provider_and_wire_make_a_request(installed: Path) -> None:
    profile = json.loads(run(installed, "models", "acme/acme-tiny-7b", "--json").stdout)
    assert (profile["dialect"], profile["supports_tools"], profile["context_length"]) == ("acme", False, 8192)
    code = (
        "import json, toolglot; r = toolglot.prepare('hi', 'acme/acme-tiny-7b', [{'name': 'f'}], max_tokens=5);"
        "print(json.dumps([r.url, r.headers['Authorization'], r.body, r.notes]))"
    )
    url, key, body, notes = json.loads(run(installed, "-c", code).stdout)
    assert (url, key, body["max_tokens"]) == ("https://api.acme.example/v1/acme/chat", "Bearer $ACME_API_KEY", 5)
    assert "tools: 1 in the system prompt, in the dialect acme" in notes
    assert "<acme:call>" in body["messages"][0]["content"]


def test_its_own_test_passes(installed: Path) -> None:
    code = f"import pytest; raise SystemExit(pytest.main([{str(EXAMPLE)!r}, '-q', '-p', 'no:cacheprovider']))"
    done = run(installed, "-c", code)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_plugins() -> None:
    done = run(ROOT / "none", "plugins")
    assert (done.returncode, done.stdout) == (0, "no plugins are installed\n")


POINTS = """
[toolglot.dialects]
hermes = faulty:DIALECT
other = faulty:DIALECT
none = no_such_module:DIALECT

[toolglot.wires]
pipes = faulty:DIALECT

[toolglot.providers]
ollama = faulty:PROVIDER
nowhere = faulty:MODELS

[toolglot.models]
wrong = faulty:MODELS
"""
FAULTY = """
from toolglot.plugin import Dialect, TaggedJson, each_call, result_text, tool_lines

DIALECT = Dialect("hermes", (TaggedJson(("<x>",), ("</x>",)),), tool_lines(), each_call("<x>", "</x>"), result_text("", ""))
PROVIDER = {"wire": "ollama", "base_url": "http://x", "auth": "none", "source": "x"}
MODELS = [{"name": "m", "context": 5}]
"""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    meta = tmp_path / "faulty-2.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 2.0\n", encoding="utf-8")
    (meta / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return tmp_path


def test_what_is_wrong_is_named_and_the_rest_works(faulty: Path) -> None:
    done = run(faulty, "plugins", "--json")
    problems = {f"{one['group'].removeprefix('toolglot.')} {one['name']}": one["problem"] for one in json.loads(done.stdout)}
    assert problems == {
        "dialects hermes": "not used: toolglot has one of this name",
        "dialects none": "it can't be loaded: No module named 'no_such_module'",
        "dialects other": "its own name is hermes; both must be the same",
        "wires pipes": "it is not a Wire but Dialect",
        "providers nowhere": "it can't be loaded: provider nowhere: 'list' object is not a mapping",
        "providers ollama": "not used: toolglot has one of this name",
        "models wrong": "it can't be loaded: faulty:MODELS: [[model]] 1 (m): Object contains unknown field `context`",
    }
    assert done.returncode == 1
    done = run(faulty, "models", "ollama/qwen3:8b", "--json")
    assert json.loads(done.stdout)["dialect"] == "hermes"
    assert "can't be loaded" in done.stderr
