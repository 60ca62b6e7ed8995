"""A user's rows override ours; an invalid one is reported with its file and key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from toolglot.catalog import user_rows
from toolglot.catalog.profiles import profile
from toolglot.errors import CallerError
from toolglot.pipeline.request.route import resolve

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes `toolglot.toml` of the project, or `models.toml` of the user's configuration."""
    project, config = tmp_path / "project", tmp_path / "config"
    project.mkdir()
    (config / "toolglot").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    places = {"project": project / "toolglot.toml", "user": config / "toolglot" / "models.toml"}

    def place(which: str, text: str) -> Path:
        places[which].write_text(text, encoding="utf-8")
        return places[which]

    return place


def test_a_row_of_the_user_overrides_ours_fact_by_fact(write: Write) -> None:
    path = write("user", '[[model]]\nname = "mistral"\nmax_tools = 5\n')
    known = profile("mistral")
    assert known.max_tools == 5
    assert (known.multi_turn, known.dialect) == ("excellent", "mistral"), "unset facts stay"
    assert known.source == f"your row mistral in {path}"
    assert known.facts["multi_turn"].startswith("catalog row mistral (")


def test_the_projects_row_overrides_the_users(write: Write) -> None:
    write("user", '[[model]]\nname = "mistral"\nmax_tools = 5\nmulti_turn = "poor"\n')
    write("project", '[server]\nport = 1\n[[model]]\nname = "mistral"\nmax_tools = 6\nsource = "we tried"\n')
    known = profile("mistral")
    assert (known.max_tools, known.multi_turn) == (6, "poor")
    assert known.source == "your row mistral in toolglot.toml (we tried)"
    assert "models.toml" in known.facts["multi_turn"]


def test_a_new_model_and_patterns_from_general_to_specific(write: Write) -> None:
    write(
        "project",
        '[[model]]\nname = "house-7b"\nask = "constrained"\n'
        '[[model]]\nname = "house"\nmatch = ["House-*"]\ndialect = "glm45"\nask = "native"\nsupports_tools = true\n'
        "on.ollama = { native = false, max_tools = 3 }\n",
    )
    small = profile("us/House:7B-q4")
    assert (small.ask, small.dialect, small.supports_tools, small.parameters) == ("constrained", "glm45", True, 7.0)
    assert small.native == {"ollama": False}
    assert profile("house-70b", "ollama").max_tools == 3
    assert profile("house-70b", "ollama").ask == "native"
    assert profile("mouse-70b").family == "unknown"


def test_a_changed_file_is_reloaded(write: Write) -> None:
    path = write("project", '[[model]]\nname = "mistral"\nmax_tools = 5\n')
    assert profile("mistral").max_tools == 5
    write("project", '[[model]]\nname = "mistral"\nmax_tools = 7\n')
    os.utime(path, ns=(1, 1))
    assert profile("mistral").max_tools == 7
    path.unlink()
    assert profile("mistral").max_tools == 128


def test_an_invalid_change_is_logged_and_the_previous_rows_stay(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write("project", '[[model]]\nname = "mistral"\nmax_tools = 5\n')
    assert profile("mistral").max_tools == 5
    write("project", '[[model]]\nname = "mistral"\nmax_tool = 7\n')
    os.utime(path, ns=(1, 1))
    assert profile("mistral").max_tools == 5
    assert "[[model]] 1 (mistral)" in caplog.text
    write("project", '[[model]]\nname = "mistral"\nmax_tools = 7\n')
    assert profile("mistral").max_tools == 7


def test_a_config_file_with_another_name_is_read_too(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_rows, "_also", [])
    write("project", '[[model]]\nname = "mistral"\nmax_tools = 5\n')
    Path("gate.toml").write_text('[[model]]\nname = "mistral"\nmax_tools = 6\n', encoding="utf-8")
    user_rows.also_read("./toolglot.toml")
    assert profile("mistral").max_tools == 5
    user_rows.also_read("gate.toml")
    assert profile("mistral").max_tools == 6


def test_the_home_directory_is_the_default_place(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write("user", '[[model]]\nname = "mistral"\nmax_tools = 5\n')
    (tmp_path / "config").rename(tmp_path / ".config")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profile("mistral").max_tools == 5


def test_the_rows_of_the_documentation_are_valid(write: Write) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "models.md").read_text(encoding="utf-8")
    write("project", page.split("```toml\n")[1].split("```")[0])
    known = profile("Acme/acme-house:1b", "ollama")
    assert (known.family, known.ask, known.dialect) == ("house", "dialect:qwen3_coder", "qwen3_coder")
    assert profile("house:1b").ask == "constrained"


@pytest.mark.parametrize(
    ("which", "text", "parts"),
    [
        (
            "user",
            '[[model]]\nname = "x"\n[[model]]\nname = "house"\nmax_tools = "many"\n',
            ["models.toml", "[[model]] 2 (house)", "max_tools", "int"],
        ),
        ("project", '[[model]]\nname = "house"\nmax_tool = 3\n', ["toolglot.toml: [[model]] 1 (house)", "max_tool"]),
        ("project", "[[model]]\nmax_tools = 3\n", ["toolglot.toml: [[model]] 1", "name"]),
        ("project", '[[model]]\nname = "h"\nask = "nicely"\n', ["ask"]),
        ("project", '[[model]]\nname = "h"\nmax_tools = 0\n', ["max_tools", ">= 1"]),
        ("project", '[[model]]\nname = "h"\nmulti_turn = "fair"\n', ["multi_turn", "fair"]),
        ("project", '[[model]]\nname = "h"\non.olama.native = true\n', ["on", "olama"]),
        ("project", '[model]\nname = "h"\n', ["toolglot.toml", "[[model]], with two brackets"]),
        ("project", "[[model]\n", ["toolglot.toml", "can't be read"]),
        ("user", '[[modle]]\nname = "h"\n', ["models.toml", "did you mean model?"]),
    ],
)
def test_an_invalid_row_is_reported_with_its_file_and_key(write: Write, which: str, text: str, parts: list[str]) -> None:
    write(which, text)
    with pytest.raises(CallerError) as caught:
        profile("anything")
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("fact", "where"),
    [
        ('dialect = "hermess"', "your row house in toolglot.toml: dialect"),
        ('ask = "dialect:hermess"', "your row house in toolglot.toml: ask"),
        ('on.ollama.ask = "dialect:hermess"', "your row house in toolglot.toml, on ollama: ask"),
    ],
)
def test_an_unknown_dialect_is_reported_when_the_model_is_used(write: Write, fact: str, where: str) -> None:
    write("project", f'[[model]]\nname = "house"\n{fact}\n')
    with pytest.raises(CallerError, match="there is no dialect 'hermess'; did you mean hermes") as caught:
        resolve("ollama/house-7b")
    assert str(caught.value).startswith(f"{where}: ")
