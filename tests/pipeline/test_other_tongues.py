"""Questions in German, French, Spanish, Italian, Portuguese and Dutch, to tools that are described in English."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool
from toolglot.evaluation.files import own_questions
from toolglot.pipeline.gate import gate
from toolglot.pipeline.glossed import glossed, tongue_of
from toolglot.pipeline.other_tongues import KEPT, NAMES, ROWS
from toolglot.pipeline.spoken_tongue import in_english
from toolglot.pipeline.tongue_talk import TALK
from toolglot.pipeline.tongue_things import THINGS


def tool(called: str, about: str, required: str, **properties: Any) -> Tool:
    return Tool(called, about, {"type": "object", "properties": properties, "required": required.split()})


def text(about: str = "", *options: str) -> dict[str, Any]:
    return {"type": "string", "description": about} | ({"enum": [*options]} if options else {})


NUMBER = {"type": "number"}
TOOLS = (
    tool("get_weather", "Get the current weather for a city.", "city", city=text("City name")),
    tool("set_alarm", "Set an alarm.", "time", time=text("Time in HH:MM (24h)")),
    tool("set_timer", "Start a timer.", "minutes", minutes={"type": "integer", "description": "Duration in minutes"}),
    tool("create_reminder", "Create a reminder.", "text", text=text("What to be reminded of"), time=text("Time in HH:MM")),
    tool("send_message", "Send a text message.", "contact message", contact=text("Name of the contact"), message=text()),
    tool(
        "set_light", "Turn a light on or off.", "room state", room=text("", "kitchen", "bedroom"), state=text("", "on", "off")
    ),
    tool("find_trains", "Find trains.", "origin destination", origin=text("From"), destination=text("To"), date=text("Day")),
    tool("set_heating", "Set the heating to a temperature.", "degrees", degrees={**NUMBER, "description": "Degrees Celsius"}),
    tool("translate_text", "Translate a text.", "text language", text=text("Text"), language=text("Language, e.g. French")),
)


def asked(words: str, *tools: Tool) -> list[tuple[str, dict[str, Any]]]:
    """The calls that are due, with the values that they are held to."""
    found = gate(tools or TOOLS, (Message("user", (Text(words),)),))
    calls = [options[0] for options in found.calls]
    return [
        (one.tool.name, {name: inner.get("enum") for name, inner in one.filled.schema["properties"].items()}) for one in calls
    ]


@pytest.mark.parametrize(
    ("words", "name", "values"),
    [
        ("Stell mir bitte einen Wecker auf halb acht.", "set_alarm", {"time": ["07:30"]}),
        (
            "Erinnere mich um 18 Uhr daran, die Blumen zu gießen.",
            "create_reminder",
            {"text": ["die Blumen zu gießen"], "time": ["18:00"]},
        ),
        ("Quel temps fait-il à Lyon demain ?", "get_weather", {"city": ["Lyon"]}),
        (
            "Envoie un message à Sophie : je serai en retard",
            "send_message",
            {"contact": ["Sophie"], "message": ["je serai en retard"]},
        ),
        ("Pon una alarma a las 7:30", "set_alarm", {"time": ["07:30"]}),
        ("Apaga la luz del dormitorio", "set_light", {"room": ["bedroom"], "state": ["off"]}),
        ("Imposta un timer di dieci minuti", "set_timer", {"minutes": [10]}),
        ("Imposta il riscaldamento a 21,5 gradi", "set_heating", {"degrees": [21.5]}),
        (
            "Quero comprar um bilhete de comboio de Lisboa para Faro",
            "find_trains",
            {"origin": ["Lisboa"], "destination": ["Faro"]},
        ),
        ("Define um alarme para as 7h", "set_alarm", {"time": ["07:00"]}),
        ("Doe het licht in de slaapkamer aan", "set_light", {"room": ["bedroom"], "state": ["on"]}),
        ("Zet een wekker om 7 uur", "set_alarm", {"time": ["07:00"]}),
    ],
)
def test_a_call_is_due(words: str, name: str, values: dict[str, Any]) -> None:
    assert asked(words) == [(name, values)]


@pytest.mark.parametrize(
    "words",
    [
        "Super, danke für die schnelle Hilfe!", "Was ist der Sinn des Lebens?", "Bonsoir, ça va ?", "J'habite à Paris",
        "Muchas gracias por tu ayuda", "¿Cómo te llamas?", "Grazie, a presto!", "Perché il mare è salato?",
        "Obrigado pela ajuda!", "Quem foi o primeiro presidente do Brasil?", "Bedankt voor je hulp!", "Ik ben moe vandaag",
    ],
)  # fmt: skip
def test_no_call_is_due(words: str) -> None:
    assert asked(words) == []


def test_a_quotation_stays_and_a_language_is_named_in_english() -> None:
    assert asked("Vertaal « Tot morgen » naar het Frans") == [
        ("translate_text", {"text": ["Tot morgen"], "language": ["French"]})
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Who will die in the next episode?", "My son has a fever", "Set the tempo to 120", "Play La Vie en Rose", "Die Hard",
        "Translate Ich bin müde into English", "Call my son", "What does 'das ist alles' mean?", "How far is La Paz?",
        "Find flights to Rio de la Plata", "Weather", "Hi!", "", "…", "Comment on the war in chapter 3", "Creates a new policy",
    ],
)  # fmt: skip
def test_english_is_english(words: str) -> None:
    assert tongue_of(words) is None


def test_the_questions_in_english_are_not_looked_at() -> None:
    assert [one.id for one in own_questions() if any(tongue_of(str(said.get("content"))) for said in one.messages)] == []


@pytest.mark.parametrize(
    ("words", "time"),
    [
        ("Weck mich um viertel nach sechs", "06:15"), ("Weck mich um 8 Uhr abends", "20:00"), ("Um 14.30 Uhr bitte", "14:30"),
        ("Réveille-moi à sept heures et demie", "07:30"), ("C'est à 6 heures du soir", "18:00"), ("Mets-le à 9 h 05", "09:05"),
        ("Despiértame a las seis menos cuarto", "05:45"), ("Es a las 9 de la noche", "21:00"),
        ("Svegliami alle sette e mezza", "07:30"), ("La sveglia è alle 18.45", "18:45"),
        ("Acorda-me às 6h30", "06:30"), ("É às três da tarde", "15:00"),
        ("Maak me wakker om half zeven", "06:30"), ("Het is om kwart voor acht", "07:45"),
    ],
)  # fmt: skip
def test_times(words: str, time: str) -> None:
    assert f"at {time}" in glossed(words, tongue_of(words) or "").text


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("Was kosten 1.250,50 Euro in Dollar am 3. März 2027?", "How much is 1250.50 euros in dollars on 3 March 2027?"),
        ("Il y a un train le 24/12/2026 ?", "There is a train on 24 December 2026?"),
        ("que hora es en Lima?", "what time is it in Lima?"),  # without accents
        ("Schalte die Heizung in der Küche ein", "Turn the heating in the kitchen on"),
        ("Was ist ein Rezept für Rösti?", "What is a recipe for Rösti?"),  # names stay
        ("Öffne die Datei die/der.txt und „der Tag“", 'Open the file die/der.txt and "der Tag"'),
    ],
)
def test_word_by_word(words: str, read: str) -> None:
    assert glossed(words, tongue_of(words) or "").text == read


def test_what_was_said_comes_back_in_its_own_words() -> None:
    said = "Erinnere mich um halb acht daran, Milch zu kaufen"
    gloss = glossed(said, "German")
    assert gloss.text == "Remind me at 07:30 to Milch to buy"
    assert gloss.back("Milch to buy") == "Milch zu kaufen"
    assert gloss.back("07:30") == "07:30"  # a time is one in any tongue
    assert gloss.back("elsewhere") == "elsewhere"


def test_a_question_that_goes_on_is_in_the_tongue_of_the_one_before() -> None:
    told = tuple(
        Message(role, (Text(words),))  # type: ignore[arg-type]
        for role, words in (("user", "Wie ist das Wetter in Rom?"), ("assistant", "Sonnig."), ("user", "Und in Bari?"))
    )
    found = in_english(told)
    assert found is not None
    assert [part.text for one in found.messages for part in one.parts if isinstance(part, Text)] == [
        "How is the weather in Rom?",
        "Sonnig.",
        "And in Bari?",
    ]
    assert [options[0].filled.schema["properties"]["city"]["enum"] for options in gate(TOOLS[:1], told).calls] == [["Bari"]]


def test_a_question_in_english_is_one_after_any_other() -> None:
    told = ("Wie ist das Wetter in Rom?", "What was the weather like in Bari yesterday?")
    assert in_english(tuple(Message("user", (Text(words),)) for words in told)) is None


def test_every_row_has_a_column_for_each_tongue() -> None:
    rows = [line for line in (ROWS + THINGS + KEPT + TALK).splitlines() if line]
    assert [line for line in rows if line.count("|") != len(NAMES) - 1 or line.count(":") != 1] == []


def test_only_a_word_has_any_ending() -> None:
    forms = [form.strip() for row in (ROWS + THINGS + KEPT + TALK).splitlines() for form in re.split(r"[:|,]", row)]
    assert [form for form in forms if "*" in form[:-1] or (form.endswith("*") and " " in form)] == []
