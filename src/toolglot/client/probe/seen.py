"""What a probe has seen: the questions that were asked, each answer as it came and as it left, and what the server told."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import server_kind
from toolglot.catalog.providers import Provider
from toolglot.client.detect import Silence
from toolglot.client.detection.told import Told
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.evaluation.questions import Question, read_questions

QUICK, STREAMED = "quick", "streamed"  # tags of questions


@cache
def questions() -> tuple[Question, ...]:
    return tuple(read_questions(files("toolglot.client.probe").joinpath("questions.jsonl").read_text(encoding="utf-8")))


class Heard(msgspec.Struct, frozen=True):
    """One question, asked in one way, and what came."""

    way: str
    question: Question
    said: Reply = Reply()  # as the provider sent it
    left: Reply = Reply()  # listened to and guarded: what a caller of toolglot gets
    stream: bool = False
    seconds: float = 0.0
    limit: int | None = None  # the tokens that it might write
    error: UpstreamError | None = None
    notes: tuple[str, ...] = ()

    @property
    def due(self) -> bool:
        return not self.question.no_call


class Room(msgspec.Struct, frozen=True):
    """A long prompt of so many words, each a token at least, and how many tokens the server counted."""

    words: int
    counted: int | None
    error: UpstreamError | None = None


class Seen(msgspec.Struct, frozen=True):
    model: str
    row: Provider
    profile: Profile
    told: Told | Silence | None = None
    heard: tuple[Heard, ...] = ()
    without_tools: int | None = None  # tokens of the first question's prompt when no tools go with it
    room: Room | None = None
    listed: Told | None = None  # where the model is unknown: the server's list, the nearest names in its notes

    @property
    def kind(self) -> str:
        return server_kind(self.row.name)

    def way(self, name: str, *, stream: bool | None = False) -> list[Heard]:
        """The answers to a way, in the order they came; whole ones, streamed ones, or both."""
        return [one for one in self.heard if one.way == name and stream in (None, one.stream)]

    @property
    def ways(self) -> list[str]:
        return list(dict.fromkeys(one.way for one in self.heard))


# Every fault that can be found, and what it means.
FAULTS = {
    "not_reachable": "nothing answers there, or not such an API",
    "wrong_key": "the server does not accept the key",
    "unknown_model": "the server has no model of this name",
    "refused": "the server answers with an error",
    "tools_dropped": "the model never sees the tools",
    "parser_flag_missing": "the model calls in its own form, and the server does not read it",
    "calls_as_text": "the model writes its calls in a form that no server reads",
    "context_too_small": "prompts or answers do not fit into the context window",
    "finish_reason_wrong": "the word at the end does not fit the calls",
    "stream_differs": "streamed it says something else than whole",
    "unknown_name": "it calls tools that are not there",
    "invalid_arguments": "its arguments do not fit the tool's schema",
    "false_call": "it calls where no call is due",
}


class Finding(msgspec.Struct, frozen=True):
    """A fault by its name, of FAULTS. `grave`: it keeps a way from working; else it is a warning."""

    code: str
    evidence: str
    advice: str
    way: str = ""
    grave: bool = True
