from __future__ import annotations

import msgspec
import pytest

from toolglot.client.lessons import Lesson, Lessons, lesson_in, with_tokens_left
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.route import resolve

LLAMACPP = (
    "Unable to generate parser for this template. Automatic parser generation failed: \n------------\nWhile executing "
    "CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at "
    "the beginnin...\nError: Jinja Exception: System message must be at the beginning."
)
VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 65536 tokens and your "
    "request has 12345 input tokens (64000 > 65536 - 12345)."
)
OPENAI = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the "
    "completion). Please reduce the length of the messages or completion."
)
SGLANG = (
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: "
    "8000 tokens from the input messages and 32000 tokens for the completion."
)
MOST = "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-x"


@pytest.mark.parametrize(
    ("status", "message", "lesson", "left"),
    [
        (400, "System message must be at the beginning.", Lesson(frozenset({"late_system"})), None),
        (500, LLAMACPP, Lesson(frozenset({"late_system"})), None),
        (400, VLLM, Lesson(window=65536), 53191),
        (400, OPENAI, Lesson(window=4096), 3096),
        (400, SGLANG, Lesson(window=32768), 24768),
        (400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", Lesson(window=200000), 11760),
        (400, MOST, Lesson(max_output=64000), None),
        (404, "No endpoints found that support image input", Lesson(frozenset({"image"})), None),
        (400, "Unrecognized request arguments supplied: store, user", Lesson(unknown=frozenset({"store", "user"})), None),
        (400, "Unknown parameter: 'store'.", Lesson(unknown=frozenset({"store"})), None),
        (400, "property 'store' is unsupported", Lesson(unknown=frozenset({"store"})), None),
        (422, '{"detail":[{"type":"extra_forbidden","loc":["body","store"]}]}', Lesson(unknown=frozenset({"store"})), None),
        (400, "store: Extra inputs are not permitted", Lesson(unknown=frozenset({"store"})), None),
    ],
)
def test_what_an_error_teaches(status: int, message: str, lesson: Lesson, left: int | None) -> None:
    assert lesson_in(UpstreamError(message, status)) == (lesson, left)


@pytest.mark.parametrize("message", ["the system prompt is too long", "unknown field", "image too large", "", "x" * 100_000])
def test_any_other_error_teaches_nothing(message: str) -> None:
    assert lesson_in(UpstreamError(message, 400)) is None
    assert lesson_in(UpstreamError(VLLM, 429)) is None


def test_lessons_add_up_and_expire() -> None:
    now = [0.0]
    lessons, route = Lessons(lambda: now[0]), resolve("vllm/my-model")
    lessons.add(route, Lesson(frozenset({"late_system"}), window=4096))
    lessons.add(route, Lesson(frozenset({"image"}), window=8192))
    known = lessons.applied(route).profile
    assert (known.refuses, known.vision, known.context_length) == (("late_system",), False, 8192)
    assert lessons.applied(resolve("vllm/other")) == resolve("vllm/other")
    elsewhere = msgspec.structs.replace(route, provider=msgspec.structs.replace(route.provider, base_url="http://b"))
    assert lessons.applied(elsewhere) is elsewhere
    now[0] = 4000.0
    assert lessons.applied(route) is route


def test_many_models_do_not_fill_the_memory() -> None:
    lessons = Lessons()
    for number in range(2000):
        lessons.add(resolve(f"vllm/m{number}"), Lesson(window=1))
    assert len(lessons) <= 512


def test_only_the_tokens_that_are_left() -> None:
    assert with_tokens_left(Request("m", max_tokens=100), 40).max_tokens == 40
    for asked, left in ((100, 400), (100, None), (100, -5), (None, 40)):
        assert with_tokens_left(Request("m", max_tokens=asked), left).max_tokens == asked
