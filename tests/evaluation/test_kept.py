"""Answers kept in a file: read back as they were, and what is damaged told."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.evaluation.test_figures import made, question
from toolglot.core.reply import Decision, Usage
from toolglot.errors import CallerError
from toolglot.evaluation.kept import Keeper, Kept, Setting, mark, read_kept, still_good

SETTING = Setting("vllm/m", "auto", "native", "balanced", {"temperature": 0})
FULL = Kept(
    "q",
    "x",
    (made(),),
    "Oslo ☂",
    (Decision("coerced_type", "a type", made()),),
    "calls",
    Usage(3, 4),
    1.5,
    2,
    None,
    ("{}",),
    ("a note",),
)


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    keeper = Keeper(path, SETTING)
    keeper.add(Kept("q", "x", error="503"))
    keeper.add(Kept("other", "y"))
    Keeper(path, SETTING).add(FULL)
    assert read_kept(path) == (SETTING, {"q": FULL, "other": Kept("other", "y")})


def test_a_line_that_was_cut_off_is_dropped_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Keeper(path, SETTING).add(FULL)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind":"answer","quest')
    assert read_kept(path) == (SETTING, {"q": FULL})
    Keeper(path, SETTING).add(Kept("next", "z"))
    assert list(read_kept(path)[1]) == ["q", "next"]


def test_damage_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Keeper(path, SETTING)
    first = path.read_text()
    for content, told in (
        (first + "{}\n", "line 2"),
        (first + '{"kind":"answer","question":7}\n', "line 2"),
        (first + "\xff\n", "line 2"),
        (first + first, "a second setting"),
        ('{"kind":"answer","question":"q","asked":"x"}\n', "does not say what was asked"),
        ("", "does not say what was asked"),
    ):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(CallerError, match=told) as raised:
            read_kept(path)
        assert str(path) in str(raised.value)
    with pytest.raises(CallerError, match="can't be read"):
        read_kept(tmp_path / "none.jsonl")
    with pytest.raises(CallerError, match="can't be written"):
        Keeper(tmp_path / "none" / "a.jsonl", SETTING)


def test_an_answer_holds_as_long_as_the_question_is_put_the_same() -> None:
    asked = question()
    good = Kept("q", mark(asked))
    assert still_good([good], [asked]) == {"q": good}
    assert still_good([msgspec.structs.replace(good, error="503")], [asked]) == {}
    assert still_good([good], []) == {}
    reworded = msgspec.structs.replace(asked, messages=[{"role": "user", "content": "other"}])
    assert still_good([good], [reworded]) == {}
    other_gold = msgspec.structs.replace(asked, expected=(), tags=("new",))
    assert still_good([good], [other_gold]) == {"q": good}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} has no end"))
    with pytest.raises(CallerError, match="it can't be written: No space left"):
        Keeper(Path("/dev/full"), SETTING)
