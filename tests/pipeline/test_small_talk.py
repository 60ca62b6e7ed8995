"""What is only talk, and what is not."""

from __future__ import annotations

import pytest

from toolglot.pipeline.small_talk import is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Hi Toolglot!",
        "Thanks, that's all!",
        "Ha ha, that was funny!",
        "Haha, you're funny. I like talking to you.",
        "Perfect, you've been a great help. Have a nice weekend!",
        "Never mind, I've figured it out myself.",
        "Good morning! How are you today?",
        "OK, thanks a lot for your help - see you tomorrow",
        "That’s all I needed. Bye!",
        "When I lived in Lisbon I loved the weather there.",
        "Who are you?",
    ],
)
def test_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, what's the weather in Oslo?",
        "Thanks! Now send it to Ana.",
        "OK, delete the file.",
        "Great, book it.",
        "Never mind the price, find a hotel in Graz.",
        "I've found three files. Read them.",
        "You're late, call a taxi.",
        "Tell me a joke about cats, and set a timer for ten minutes.",
        "No, the other one: notes.txt",
        "",
        "?!",
        "thanks " * 60,
    ],
)
def test_no_talk(text: str) -> None:
    assert not is_small_talk(text)
