"""The report of an evaluation: as text, as JSON, as SVG."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from tests.evaluation.test_figures import answered, question, tool_call
from toolglot.core.reply import Decision
from toolglot.evaluation.figures import Judged, judge
from toolglot.evaluation.plot import as_svg
from toolglot.evaluation.report import as_object, as_text
from toolglot.evaluation.saved_answers import SavedAnswer, Setting
from toolglot.io.json_codec import encode

SETTING = Setting("vllm/<m>", "auto", "native")


def rows() -> list[Judged]:
    fixed = tool_call('{"city":\n "Oslo"}', "weather", "native", "coerced_type")
    rejected = Decision("rejected_schema", "weather: city is missing", tool_call("{}"))
    return [
        judge(question("plain", tags=("one", "north")), answered(tool_call()), "native"),
        judge(
            question("repaired", tags=("one",)),
            answered(fixed, decisions=(Decision("coerced_type", "a type", fixed),)),
            "native",
        ),
        judge(question("rejected", tags=("one",)), answered(text="I\ncan't.", decisions=(rejected,)), "native"),
        judge(question("false", expects_call=False, tags=("no_call",)), answered(tool_call()), "native"),
        judge(question("loop", loop=True, tags=("loop",)), answered(tool_call(), text="Sun."), "native"),
        judge(question("down", tags=("one",)), SavedAnswer("down", "x", error="503 overloaded"), "native"),
    ]


def test_each_figure_has_both_shares_with_intervals() -> None:
    lines = as_text(SETTING, rows()).splitlines()
    assert lines[0] == "vllm/<m>, asked native (auto), policy balanced: 6 questions"
    table = {line[:21].strip(): line[21:].split("  ") for line in lines[2:9]}
    shares = {title: [cell.strip() for cell in cells if cell.strip()] for title, cells in table.items()}
    assert shares[""] == ["AS THE MODEL WROTE IT", "AS EMITTED", "BY TOOLGLOT", "OF"]
    assert shares["valid"] == ["40% [12%, 77%]", "60% [23%, 88%]", "+20 points", "5"]
    assert shares["right tool"] == ["80% [38%, 96%]", "60% [23%, 88%]", "-20 points", "5"]
    assert shares["right arguments"] == ["40% [12%, 77%]", "60% [23%, 88%]", "+20 points", "5"]
    assert shares["final text of loops"] == ["0% [0%, 79%]", "0% [0%, 79%]", "-", "1"]
    assert shares["false calls"] == ["100% [21%, 100%]", "100% [21%, 100%]", "-", "1"]
    assert shares["all right"] == ["17% [3%, 56%]", "33% [10%, 70%]", "+17 points", "6"]


def test_kinds_are_shown_and_other_tags_on_demand() -> None:
    text = as_text(SETTING, rows())
    (one,) = (line for line in text.splitlines() if line.startswith("one "))
    assert one.split("  ")[-1].strip() == "25% [5%, 70%]"
    assert "north" not in text
    assert "\nnorth " in as_text(SETTING, rows(), all_tags=True)


def test_decisions_and_missing_answers_are_reported() -> None:
    text = as_text(SETTING, rows())
    assert "decided   coerced_type 1, rejected_schema 1: the difference between" in text
    assert "Without an answer, counted as wrong: 1\n  down: 503 overloaded" in text


def test_the_effect_of_the_tool_mode_is_reported() -> None:
    texts = {
        tool_mode: as_text(Setting("m", tool_mode, tool_mode), rows())
        for tool_mode in ("native", "dialect:hermes", "constrained")
    }
    assert "asked     with native tools" in texts["native"]
    assert "asked     with toolglot's prompt" in texts["dialect:hermes"]
    assert "so calls are always valid" in texts["constrained"]


def test_what_is_wrong_is_listed_on_demand() -> None:
    assert "expected:" not in as_text(SETTING, rows())
    text = as_text(SETTING, rows(), wrong=True)
    lines = text[text.index("Wrong as emitted:") :].splitlines()[1:]
    assert lines == [
        "  rejected: no call",
        '    expected: weather({"city":"Oslo"})',
        "    got:      no call",
        "    text:     I can't.",
        "    rejected: rejected_schema: weather: city is missing",
        "  false: a call although none was expected",
        "    expected: no call",
        '    got:      weather({"city": "Oslo"})',
        "  loop: the final text does not contain the results",
        '    expected: weather({"city":"Oslo"})',
        '    got:      weather({"city": "Oslo"})',
        "    text:     Sun.",
    ]
    assert as_text(SETTING, rows()[:1], wrong=True).endswith("Every answer is right as emitted.")


def test_measures_without_questions_are_left_out() -> None:
    text = as_text(SETTING, [judge(question(), answered(tool_call()), "native")])
    for title in ("TAG", "false calls", "final text", "Without an answer"):
        assert title not in text


def test_json_has_every_figure() -> None:
    found = json.loads(encode(as_object(SETTING, rows())))
    assert (found["model"], found["tool_mode"], found["questions"]) == ("vllm/<m>", "native", 6)
    right = found["overall"]["right"]
    assert (right["written"]["hits"], right["left"]["hits"], right["left"]["of"]) == (1, 2, 6)
    assert 0 < right["left"]["low"] < right["left"]["share"] < right["left"]["high"] < 1
    assert set(found["by_tag"]) == {"one", "north", "no_call", "loop"}
    assert found["unanswered"] == {"down": "503 overloaded"}
    assert found["decisions"] == {"coerced_type": 1, "rejected_schema": 1}
    assert [one["right"] for one in found["answers"]] == [True, True, False, False, False, False]
    assert found["overall"]["false_calls"]["left"]["of"] == 1
    assert found["tokens"] is None


def test_the_svg_is_valid_and_each_mark_is_at_its_figure() -> None:
    svg = as_svg(SETTING, rows())
    root = ET.fromstring(svg)  # noqa: S314  (we wrote it ourselves)
    name = "{http://www.w3.org/2000/svg}"
    groups = {group.findtext(f"{name}title"): group for group in root.iter(f"{name}g")}
    right = groups["all right, as emitted: 33% [10%, 70%]"]
    dot, line = right.find(f"{name}circle"), right.find(f"{name}line")
    assert dot is not None
    assert line is not None
    low, at, high = float(line.attrib["x1"]), float(dot.attrib["cx"]), float(line.attrib["x2"])
    zero, whole = 190, 460
    assert [round((x - zero) / whole, 2) for x in (low, at, high)] == [0.1, 0.33, 0.7]
    assert groups["false calls, as emitted: 100% [21%, 100%]"].find(f"{name}circle[@class='bad']") is not None
    height = float(root.attrib["height"])
    assert all(float(one.attrib["cy"]) < height for one in root.iter(f"{name}circle"))
    assert "prefers-color-scheme: dark" in svg
    assert "vllm/&lt;m&gt;" in svg
