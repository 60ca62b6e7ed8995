"""`toolglot dialect check`: a good dialect keeps all laws, and each way to break one is found by a law."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from toolglot.cli.main import main
from toolglot.evaluation.dialect_laws import LAWS

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin" / "acme_toolglot"
GOOD = (EXAMPLE / "dialect.py").read_text(encoding="utf-8")
CASES = (EXAMPLE / "dialect.toml").read_text(encoding="utf-8")


def check(folder: Path, declaration: str = GOOD, cases: str = CASES, *options: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code and each law's failures. A process of its own: the dialect is registered in it."""
    (folder / "acme.py").write_text(declaration, encoding="utf-8")
    (folder / "acme.toml").write_text(cases, encoding="utf-8")
    command = [sys.executable, "-m", "toolglot", "dialect", "check", str(folder / "acme.py"), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, {row["law"]: row["failures"] for row in json.loads(done.stdout)["laws"]}


def test_a_good_one_keeps_all_laws(tmp_path: Path) -> None:
    code, found = check(tmp_path)
    assert (code, found) == (0, {name: [] for name in LAWS})


SLOW = """
class Slow:
    openers = ("<acme:call>",)

    def open(self, opener):
        return SlowRegion(TaggedJson(self.openers, ("</acme:call>",)).open(opener))


class SlowRegion:
    def __init__(self, region):
        self.region, self.text = region, ""
        self.parse = region.parse

    def feed(self, text):
        self.text += text
        for _ in self.text:
            pass
        return self.region.feed(text)


"""
LOOP = "        for _ in self.text:\n            pass\n"
RAISES = SLOW.replace(LOOP, '        if "\'" in self.text:\n            raise ValueError(text)\n')
PARSE = """
    def parse(self, text, tools, *, complete):
        return self.region.parse(text.replace("\\\\n", ""), tools, complete=complete)
"""
LOSES = SLOW.replace(LOOP, "").replace("        self.parse = region.parse\n", PARSE)
GRAMMAR = 'TaggedJson(("<acme:call>",), ("</acme:call>",))'

# what is broken -> declaration, and the laws that must fail
BROKEN = {
    "the renderer writes other tags": (GOOD.replace('each_call("<acme:call>', 'each_call("<other>'), {"render", "marks"}),
    "the prompt has no tools": (GOOD.replace("tool_lines()", 'lambda tools: "You have tools."'), {"prompt"}),
    "the closer is wrong": (GOOD.replace('("</acme:call>",)', '("</acme>",)'), {"calls"}),
    "the opener is wrong": (GOOD.replace('("<acme:call>",), (', '("<acme-call>",), ('), {"calls", "render", "auto"}),
    "the grammar is quadratic": (GOOD.replace("DIALECT =", f"{SLOW}DIALECT =").replace(GRAMMAR, "Slow()"), {"work"}),
    "the grammar raises": (GOOD.replace("DIALECT =", f"{RAISES}DIALECT =").replace(GRAMMAR, "Slow()"), {"calls", "damage"}),
    "the grammar changes values": (GOOD.replace("DIALECT =", f"{LOSES}DIALECT =").replace(GRAMMAR, "Slow()"), {"values"}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_one_fails(tmp_path: Path, what: str) -> None:
    declaration, laws = BROKEN[what]
    assert declaration != GOOD
    code, found = check(tmp_path, declaration)
    assert code == 1
    assert laws <= {name for name, failures in found.items() if failures}


def test_a_wrong_or_missing_fixture_fails(tmp_path: Path) -> None:
    code, found = check(tmp_path, GOOD, CASES.replace("Paris", "Rome", 1), "--law", "calls")
    assert (code, list(found)) == (1, ["calls"])
    assert "one call: expected" in found["calls"][0]
    code, found = check(tmp_path, GOOD, "", "--law", "fixture")
    assert (code, found["fixture"]) == (1, ["no case of kind broken, clean, not_a_call, parallel, text_around, truncated"])


def test_the_text_output_names_what_fails(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(BROKEN["the prompt has no tools"][0], encoding="utf-8")
    command = [sys.executable, "-m", "toolglot", "dialect", "check", str(tmp_path / "acme.py"), "--law", "prompt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "FAIL  prompt: the prompt names every tool",
        *(f"        {name} is missing" for name in ("get_weather", "get_time", "search", "write_file", "run.command")),
        "0 of 1 laws are kept",
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("none.py", None, "there is no such file"),
        ("a.txt", "x", "expected a Python file"),
        ("empty.py", "print('loading')", "it declares no DIALECT"),
        ("broken.py", "1 / 0", "ZeroDivisionError"),
        ("other.py", "DIALECT = 5", "it declares no DIALECT"),
    ],
)
def test_wrong_use(tmp_path: Path, name: str, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["dialect", "check", str(tmp_path / name)])
    assert (done.exit_code, problem in done.stderr) == (2, True), done.stderr


def test_a_fixture_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "acme.toml").write_text('[[case]]\nname = "x"\nkind = "odd"\ntext = ""\n', encoding="utf-8")
    done = CliRunner().invoke(main, ["dialect", "check", str(tmp_path / "acme.py")])
    assert (done.exit_code, "acme.toml" in done.stderr, "'odd'" in done.stderr) == (2, True, True)
