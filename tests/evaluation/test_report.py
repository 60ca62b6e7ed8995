"""The figures told: as text, as JSON, as a drawing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from tests.evaluation.test_figures import answered, made, question
from toolglot.core.reply import Decision
from toolglot.evaluation.figures import Judged, judge
from toolglot.evaluation.kept import Kept, Setting
from toolglot.evaluation.plot import as_svg
from toolglot.evaluation.report import as_object, as_text
from toolglot.text.json_text import encode

SETTING = Setting("vllm/<m>", "auto", "native")


def rows() -> list[Judged]:
    fixed = made('{"city":\n "Oslo"}', "weather", "native", "coerced_type")
    refused = Decision("rejected_schema", "weather: city is missing", made("{}"))
    return [
        judge(question("plain", tags=("one", "north")), answered(made()), "native"),
        judge(
            question("mended", tags=("one",)), answered(fixed, decisions=(Decision("coerced_type", "a type", fixed),)), "native"
        ),
        judge(question("refused", tags=("one",)), answered(text="I\ncan't.", decisions=(refused,)), "native"),
        judge(question("false", due=False, tags=("no_call",)), answered(made()), "native"),
        judge(question("loop", loop=True, tags=("loop",)), answered(made(), text="Sun."), "native"),
        judge(question("down", tags=("one",)), Kept("down", "x", error="503 overloaded"), "native"),
    ]


def test_each_figure_stands_twice_with_its_interval() -> None:
    lines = as_text(SETTING, rows()).splitlines()
    assert lines[0] == "vllm/<m>, asked native (auto), policy balanced: 6 questions"
    table = {line[:21].strip(): line[21:].split("  ") for line in lines[2:9]}
    shares = {title: [cell.strip() for cell in cells if cell.strip()] for title, cells in table.items()}
    assert shares[""] == ["AS THE MODEL WROTE IT", "AS IT LEFT", "BY THE LAYER", "OF"]
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


def test_the_layers_work_and_missing_answers_are_told() -> None:
    text = as_text(SETTING, rows())
    assert "decided   coerced_type 1, rejected_schema 1: this lies between" in text
    assert "Without an answer, and so never right: 1\n  down: 503 overloaded" in text


def test_what_the_way_of_asking_adds_is_told() -> None:
    gated = judge(
        question(), Kept("q", "x", (made(source="bare_json"),), notes=("tools: 1", "gate: a call is due")), "constrained"
    )
    told = {way: as_text(Setting("m", way, way), [gated, *rows()]) for way in ("native", "dialect:hermes", "constrained")}
    assert "asked     with the server's own tools" in told["native"]
    assert "asked     by a prompt of the layer's" in told["dialect:hermes"]
    assert "that calls are valid is not the model's merit" in told["constrained"]
    assert "gate      the layer, not the model, chose for 1 of them" in told["constrained"]
    assert "gate " not in as_text(SETTING, rows())
    assert as_object(SETTING, [gated])["gated"] == 1


def test_what_is_wrong_is_listed_on_demand() -> None:
    assert "due:" not in as_text(SETTING, rows())
    text = as_text(SETTING, rows(), wrong=True)
    told = text[text.index("Not right as it left:") :].splitlines()[1:]
    assert told == [
        "  refused: no call",
        '    due:  weather({"city":"Oslo"})',
        "    came: no call",
        "    said: I can't.",
        "    refused: rejected_schema: weather: city is missing",
        "  false: a call where none was due",
        "    due:  no call",
        '    came: weather({"city": "Oslo"})',
        "  loop: the last text does not say what the results said",
        '    due:  weather({"city":"Oslo"})',
        '    came: weather({"city": "Oslo"})',
        "    said: Sun.",
    ]
    assert as_text(SETTING, rows()[:1], wrong=True).endswith("Every answer is right as it left.")


def test_what_no_question_asks_for_is_left_out() -> None:
    text = as_text(SETTING, [judge(question(), answered(made()), "native")])
    for title in ("TAG", "false calls", "final text", "Without an answer"):
        assert title not in text


def test_json_has_every_figure() -> None:
    found = json.loads(encode(as_object(SETTING, rows())))
    assert (found["model"], found["way"], found["questions"]) == ("vllm/<m>", "native", 6)
    right = found["overall"]["right"]
    assert (right["written"]["hits"], right["left"]["hits"], right["left"]["of"]) == (1, 2, 6)
    assert 0 < right["left"]["low"] < right["left"]["share"] < right["left"]["high"] < 1
    assert set(found["by_tag"]) == {"one", "north", "no_call", "loop"}
    assert found["unanswered"] == {"down": "503 overloaded"}
    assert found["decisions"] == {"coerced_type": 1, "rejected_schema": 1}
    assert [one["right"] for one in found["answers"]] == [True, True, False, False, False, False]
    assert found["overall"]["false_calls"]["left"]["of"] == 1
    assert found["tokens"] is None


def test_the_drawing_is_sound_and_every_mark_stands_where_its_figure_is() -> None:
    svg = as_svg(SETTING, rows())
    root = ET.fromstring(svg)  # noqa: S314  (we wrote it ourselves)
    name = "{http://www.w3.org/2000/svg}"
    groups = {group.findtext(f"{name}title"): group for group in root.iter(f"{name}g")}
    right = groups["all right, as it left: 33% [10%, 70%]"]
    dot, line = right.find(f"{name}circle"), right.find(f"{name}line")
    assert dot is not None
    assert line is not None
    low, at, high = float(line.attrib["x1"]), float(dot.attrib["cx"]), float(line.attrib["x2"])
    zero, whole = 190, 460
    assert [round((x - zero) / whole, 2) for x in (low, at, high)] == [0.1, 0.33, 0.7]
    assert groups["false calls, as it left: 100% [21%, 100%]"].find(f"{name}circle[@class='bad']") is not None
    height = float(root.attrib["height"])
    assert all(float(one.attrib["cy"]) < height for one in root.iter(f"{name}circle"))
    assert "prefers-color-scheme: dark" in svg
    assert "vllm/&lt;m&gt;" in svg
