"""Keys are found, sent, and never shown."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from toolglot.catalog.providers import Provider, provider
from toolglot.client.keys import Secret, auth_headers, find_key
from toolglot.errors import CallerError

NONE = Provider("openai-chat", "http://h", "none", "test", name="plain")
OPTIONAL = Provider("openai-chat", "http://h", "bearer", "test", name="opt", key="OPT_KEY", key_optional=True)


def test_where_a_key_comes_from() -> None:
    row = provider("openai")
    found = find_key(row, environ={"OPENAI_API_KEY": " hush\n"})
    assert found is not None
    assert (found.reveal(), found.source) == ("hush", "OPENAI_API_KEY")
    given = find_key(row, "mine", {"OPENAI_API_KEY": "hush"})
    assert given is not None
    assert given.reveal() == "mine"
    assert find_key(row, "mine\n", {}) == given
    other = find_key(row, "env:OTHER", {"OTHER": "there", "OPENAI_API_KEY": "hush"})
    assert other is not None
    assert (other.reveal(), other.source) == ("there", "OTHER")


def test_a_file_of_keys(tmp_path: Path) -> None:
    folder = tmp_path / "toolglot"
    folder.mkdir()
    (folder / "keys.toml").write_text('openai = "kept"\nopt = "env:OTHER"\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "OTHER": "there"}
    row = provider("openai")

    def found(row: Provider, given: str | None = None, **more: str) -> str | None:
        key = find_key(row, given, environ | more)
        return key.reveal() if key is not None else None

    assert found(row) == "kept"
    assert found(row, OPENAI_API_KEY="hush") == "hush"
    assert found(row, "mine") == "mine"
    assert found(OPTIONAL) == "there"
    assert found(NONE) is None
    with pytest.raises(CallerError, match=r"ANTHROPIC_API_KEY.*~/.config/toolglot/keys.toml"):
        found(provider("anthropic"))
    (tmp_path / ".config").mkdir()
    folder.rename(tmp_path / ".config" / "toolglot")
    key = find_key(row, environ={"HOME": str(tmp_path)})
    assert key is not None
    assert key.reveal() == "kept"


@pytest.mark.parametrize("text", ["openai = hush", 'openai = ["hush"]', "openai = 5\n"])
def test_an_invalid_key_file_is_not_quoted(text: str, tmp_path: Path) -> None:
    (tmp_path / "toolglot").mkdir()
    (tmp_path / "toolglot" / "keys.toml").write_text(text)
    with pytest.raises(CallerError, match=r"keys.toml: .*openai = ") as caught:
        find_key(provider("openai"), environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert "hush" not in str(caught.value)


def test_no_key_where_none_is_needed() -> None:
    assert find_key(NONE, environ={}) is None
    assert find_key(OPTIONAL, environ={}) is None
    assert auth_headers(NONE, None) == {}
    assert auth_headers(NONE, find_key(NONE, "mine", {})) == {"Authorization": "Bearer mine"}


@pytest.mark.parametrize("given", [None, "env:OPENAI_API_KEY"])
def test_a_missing_key_names_the_variable(given: str | None) -> None:
    with pytest.raises(CallerError, match="OPENAI_API_KEY"):
        find_key(provider("openai"), given, {})


@pytest.mark.parametrize("bad", ["hush hush", "hush\u201d", "", "hu\nsh"])
def test_a_key_that_was_copied_wrongly(bad: str) -> None:
    with pytest.raises(CallerError) as caught:
        find_key(provider("openai"), bad, {})
    assert "hu" not in str(caught.value)


def test_each_kind_of_header() -> None:
    key = Secret("hush", "X")
    assert auth_headers(provider("openai"), key) == {"Authorization": "Bearer hush"}
    assert auth_headers(provider("anthropic"), key) == {"x-api-key": "hush"}
    assert auth_headers(provider("gemini"), key) == {"x-goog-api-key": "hush"}


def test_a_secret_does_not_show_itself() -> None:
    key = Secret("hush", "OPENAI_API_KEY")
    for said in (repr(key), str(key), f"{key}", f"{[key]}"):
        assert "hush" not in said
    with pytest.raises(TypeError):
        pickle.dumps(key)
    assert key == Secret("hush", "elsewhere")
    assert len({key, Secret("hush", "elsewhere"), Secret("other", "X")}) == 2
