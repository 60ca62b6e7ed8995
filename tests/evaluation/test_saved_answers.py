"""Answers saved to a file: they round-trip, and damage is reported."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.evaluation.test_figures import question, tool_call
from toolglot.core.reply import Decision, Usage
from toolglot.errors import CallerError
from toolglot.evaluation.saved_answers import AnswerFile, SavedAnswer, Setting, mark, read_saved, still_good

SETTING = Setting("vllm/m", "auto", "native", "balanced", {"temperature": 0})
FULL = SavedAnswer(
    "q",
    "x",
    (tool_call(),),
    "Oslo ☂",
    (Decision("coerced_type", "a type", tool_call()),),
    "calls",
    Usage(3, 4),
    1.5,
    2,
    None,
    ("{}",),
    ("a note",),
)


def test_saved_answers_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    keeper = AnswerFile(path, SETTING)
    keeper.add(SavedAnswer("q", "x", error="503"))
    keeper.add(SavedAnswer("other", "y"))
    AnswerFile(path, SETTING).add(FULL)
    assert read_saved(path) == (SETTING, {"q": FULL, "other": SavedAnswer("other", "y")})


def test_an_incomplete_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    AnswerFile(path, SETTING).add(FULL)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind":"answer","quest')
    assert read_saved(path) == (SETTING, {"q": FULL})
    AnswerFile(path, SETTING).add(SavedAnswer("next", "z"))
    assert list(read_saved(path)[1]) == ["q", "next"]


def test_damage_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    AnswerFile(path, SETTING)
    first = path.read_text()
    for content, message in (
        (first + "{}\n", "line 2"),
        (first + '{"kind":"answer","question":7}\n', "line 2"),
        (first + "\xff\n", "line 2"),
        (first + first, "a second setting"),
        ('{"kind":"answer","question":"q","asked":"x"}\n', "the setting is missing"),
        ("", "the setting is missing"),
    ):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(CallerError, match=message) as raised:
            read_saved(path)
        assert str(path) in str(raised.value)
    with pytest.raises(CallerError, match="there is no such file"):
        read_saved(tmp_path / "none.jsonl")
    with pytest.raises(CallerError, match="can't be written"):
        AnswerFile(tmp_path / "none" / "a.jsonl", SETTING)


def test_an_answer_is_valid_until_the_question_changes() -> None:
    original = question()
    good = SavedAnswer("q", mark(original))
    assert still_good([good], [original]) == {"q": good}
    assert still_good([msgspec.structs.replace(good, error="503")], [original]) == {}
    assert still_good([good], []) == {}
    reworded = msgspec.structs.replace(original, messages=[{"role": "user", "content": "other"}])
    assert still_good([good], [reworded]) == {}
    other_gold = msgspec.structs.replace(original, expected=(), tags=("new",))
    assert still_good([good], [other_gold]) == {"q": good}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} has no end"))
    with pytest.raises(CallerError, match="can't be written: No space left"):
        AnswerFile(Path("/dev/full"), SETTING)
