"""What a probe observed: each question with the reply as received and as validated, and the facts that the server reports."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import server_kind
from toolglot.catalog.providers import Provider
from toolglot.client.detect import NoAnswer
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.evaluation.questions import Question, read_questions

QUICK, STREAMED = "quick", "streamed"  # tags of questions


@cache
def questions() -> tuple[Question, ...]:
    return tuple(read_questions(files("toolglot.client.probe").joinpath("questions.jsonl").read_text(encoding="utf-8")))


class Observation(msgspec.Struct, frozen=True):
    """One question in one tool mode, and the reply."""

    tool_mode: str
    question: Question
    received: Reply = Reply()  # as the provider sent it
    validated: Reply = Reply()  # parsed and validated: what a caller of toolglot gets
    stream: bool = False
    seconds: float = 0.0
    limit: int | None = None  # the limit of output tokens
    error: UpstreamError | None = None
    notes: tuple[str, ...] = ()

    @property
    def expects_call(self) -> bool:
        return not self.question.no_call


class WindowTest(msgspec.Struct, frozen=True):
    """A long prompt of `words`, each at least a token, and how many tokens the server counted."""

    words: int
    counted: int | None
    error: UpstreamError | None = None


class Observations(msgspec.Struct, frozen=True):
    model: str
    row: Provider
    profile: Profile
    server: ServerFacts | NoAnswer | None = None
    replies: tuple[Observation, ...] = ()
    without_tools: int | None = None  # prompt tokens of the first question without tools
    window: WindowTest | None = None
    listed: ServerFacts | None = None  # where the model is unknown: the most similar names of the server's list

    @property
    def kind(self) -> str:
        return server_kind(self.row.name)

    def tool_mode(self, name: str, *, stream: bool | None = False) -> list[Observation]:
        """The replies in a tool mode, in order; whole ones, streamed ones, or both (None)."""
        return [one for one in self.replies if one.tool_mode == name and stream in (None, one.stream)]

    @property
    def tool_modes(self) -> list[str]:
        return list(dict.fromkeys(one.tool_mode for one in self.replies))


# Every fault that a probe can find, and what it means.
FAULTS = {
    "not_reachable": "nothing responds there, or another API",
    "wrong_key": "the server does not accept the key",
    "unknown_model": "the server has no model of this name",
    "refused": "the server answers with an error",
    "tools_dropped": "the model never sees the tools",
    "parser_flag_missing": "the model writes calls in its dialect, and the server does not parse them",
    "calls_as_text": "the model writes calls as text in a dialect that no server parses",
    "context_too_small": "prompts or answers do not fit into the context window",
    "finish_reason_wrong": "the finish reason does not match the calls",
    "stream_differs": "the streamed reply differs from the whole one",
    "unknown_name": "it calls tools that do not exist",
    "invalid_arguments": "its arguments do not match the tool's schema",
    "false_call": "it calls where no call is needed",
}


class Finding(msgspec.Struct, frozen=True):
    """A fault; `code` is a key of FAULTS. `grave`: the tool mode does not work; else it is a warning."""

    code: str
    evidence: str
    advice: str
    tool_mode: str = ""
    grave: bool = True
