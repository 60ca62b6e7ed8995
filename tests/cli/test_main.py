"""The program as a whole: its help, and shell completion."""

from __future__ import annotations

import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from toolglot.cli.main import COMMANDS, main
from toolglot.speed import figures


def offered(*words: str) -> list[str]:
    """What completes the last word: the words themselves, or the kind of thing (a file)."""
    shell = ShellComplete(main, {}, "toolglot", "_TOOLGLOT_COMPLETE")
    found = shell.get_completions(list(words[:-1]), words[-1])
    return [item.value if item.type == "plain" else item.type for item in found]


def test_help_names_every_command_and_how_the_shell_learns_them() -> None:
    output = CliRunner().invoke(main, ["--help"]).stdout
    for word in (*COMMANDS, "_TOOLGLOT_COMPLETE=bash_source", "zsh_source", "fish_source"):
        assert word in output


def test_a_misspelt_command_gets_a_suggestion() -> None:
    done = CliRunner().invoke(main, ["modles"])
    assert (done.exit_code, "No such command 'modles'. Did you mean 'models'?" in done.stderr) == (2, True)
    assert "Did you mean" not in CliRunner().invoke(main, ["xyz"]).stderr


def test_a_command_whose_package_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    for name in [name for name in sys.modules if name.startswith("toolglot.gateway") or name == "toolglot.cli.doctor"]:
        monkeypatch.delitem(sys.modules, name)
    done = CliRunner().invoke(main, ["doctor"])
    assert (done.exit_code, "pip install 'toolglot[gateway]'" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_json_and_documents_its_exit_codes(name: str) -> None:
    output = CliRunner().invoke(main, [name, "--help"]).stdout
    assert "--json" in output
    assert "Exit codes: 0 " in output


@pytest.mark.parametrize("words", [["models"], ["bench", "--only", "validate", "--rounds", "1"]], ids=lambda words: words[0])
def test_colours_where_they_are_wanted(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "SECONDS", 0.001)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in CliRunner().invoke(main, words, color=True).stdout
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in CliRunner().invoke(main, words, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    done = CliRunner().invoke(main, words, color=True)
    assert (done.exit_code, "\x1b[" in done.stdout) == (0, False)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("ex",), ["explain"]),
        (("ask", "--dry"), ["--dry-run"]),
        (("ask", "-m", "local/smol"), ["local/smollm2"]),
        (("ask", "-m", "ollama"), ["ollama-cloud/", "ollama/"]),
        (("ask", "--tools", "my"), ["file"]),
        (("ask", "--record", ""), ["file"]),
        (("explain", "runs"), ["file"]),
        (("bench", "--only", "va"), ["validate"]),
        (("bench", "-m", "vl"), ["vllm/"]),
        (("eval", "-m", "vl"), ["vllm/"]),
        (("eval", "--ask", "nat"), ["native"]),
        (("eval", "--questions", ""), ["file"]),
        (("probe", "anth"), ["anthropic/"]),
        (("convert", "--from", "openai-r"), ["openai-responses"]),
        (("convert", "--to", "groq"), ["groq"]),
        (("parse", "--dialect", "herm"), ["hermes"]),
        (("models", "--provider", "lms"), ["lmstudio"]),
    ],
)
def test_what_the_shell_offers(words: tuple[str, ...], wanted: list[str]) -> None:
    assert offered(*words) == wanted
