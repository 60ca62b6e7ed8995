"""What a server's errors taught about a model: what its template refuses, its window, its most output, images, unknown fields.

A request that fails for one of these reasons is sent once more, corrected; later ones are right from the start. An error is
recognized by the server's own message. Whatever these rows do not match stays an error.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.route import Route

_STATUSES = frozenset({400, 404, 413, 422, 500})  # llama.cpp reports a template's exception as 500, OpenRouter images as 404
_LONGEST = 4000  # characters of an error message that are searched
_LIFETIME = 3600.0  # seconds: a server may be started anew with another template or window
_MOST = 512

# In the messages of servers: what the template refuses, or `image`.
_REFUSED: tuple[tuple[str, str], ...] = (
    # Qwen3.5 and later, under vLLM, llama.cpp, Ollama and Fireworks: vllm#41114, llama.cpp#20733, ollama#17774
    ("late_system", r"system messages? must be at the beginning"),
    # Gemma 2: its chat template
    ("system", r"system role not supported"),
    # Mistral: its chat templates
    ("late_system", r"exception of an initial (?:optional )?system message"),
    # Gemma, Mistral: their chat templates
    ("alternation", r"conversation roles must alternate"),
    # vLLM entrypoints/chat_utils.py, multimodal/processing.py
    ("image", r"is not a multimodal model"),
    ("image", r"at most 0 image\(s\) may be provided"),
    # llama.cpp common/chat.cpp, tools/server
    ("image", r"image input is not supported"),
    ("image", r"unsupported content\[\]\.type"),
    # Ollama server/prompt.go
    ("image", r"missing data required for image input"),
    # OpenRouter
    ("image", r"no endpoints found that support image input"),
    # OpenAI
    ("image", r"image_url is only supported by certain models"),
    # DeepSeek
    ("image", r"unknown variant `image_url`"),
)

# The numbers in the messages of servers: `window` and `prompt` in tokens, `most`: output tokens of a request.
_NUMBERS: tuple[str, ...] = (
    # vLLM entrypoints/renderer.py
    r"is too large: \d+\. this model's maximum context length is (?P<window>\d+) tokens and your request has (?P<prompt>\d+)",
    # vLLM before, OpenAI
    r"maximum context length is (?P<window>\d+) tokens\. however, you requested \d+ tokens \((?P<prompt>\d+) in the messages",
    # vLLM 0.2x: "... your prompt contains at least N input tokens"
    r"maximum context length is (?P<window>\d+) tokens\. however, you requested \d+ output tokens and your prompt contains at "
    r"least (?P<prompt>\d+)",
    # SGLang managers/tokenizer_manager.py
    r"maximum context length of (?P<window>\d+) tokens\. you requested a total of \d+ tokens: (?P<prompt>\d+) tokens from",
    # Anthropic
    r"input length and `max_tokens` exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<window>\d+)",
    r"max_tokens: \d+ > (?P<most>\d+), which is the maximum allowed number of output tokens",
    # OpenAI
    r"max_(?:completion_)?tokens is too large: \d+\. this model supports at most (?P<most>\d+) completion tokens",
    # Groq
    r"`max_(?:completion_)?tokens` must be less than or equal to `(?P<most>\d+)`",
)
# A field of the request that the server rejects.
_UNKNOWN: tuple[str, ...] = (
    # OpenAI
    r"unrecognized request arguments? supplied: (?P<fields>[a-z_, ]+)",
    r"unknown parameter: '(?P<fields>[a-z_]+)'",
    # Groq
    r"property '(?P<fields>[a-z_]+)' is unsupported",
    # Mistral, and other servers with pydantic
    r'"extra_forbidden",\s*"loc":\s*\["body",\s*"(?P<fields>[a-z_]+)"\]',
    # Anthropic
    r"^(?P<fields>[a-z_]+): extra inputs are not permitted",
)
_UNKNOWN_PATTERNS = tuple(map(re.compile, _UNKNOWN))
_REFUSED_PATTERNS = tuple((what, re.compile(pattern)) for what, pattern in _REFUSED)
_NUMBER_PATTERNS = tuple(map(re.compile, _NUMBERS))


class Lesson(msgspec.Struct, frozen=True):
    refuses: frozenset[str] = frozenset()
    window: int | None = None
    max_output: int | None = None
    unknown: frozenset[str] = frozenset()  # fields of a request

    def __or__(self, other: Lesson) -> Lesson:
        """The later one, `other`, wins in numbers."""
        window, most = other.window or self.window, other.max_output or self.max_output
        return Lesson(self.refuses | other.refuses, window, most, self.unknown | other.unknown)

    def applied(self, profile: Profile) -> Profile:
        refuses = tuple(dict.fromkeys((*profile.refuses, *sorted(self.refuses - {"image"}))))
        vision = False if "image" in self.refuses else profile.vision
        window, most = self.window or profile.context_length, self.max_output or profile.max_output
        return msgspec.structs.replace(profile, refuses=refuses, vision=vision, context_length=window, max_output=most)


def lesson_in(error: UpstreamError) -> tuple[Lesson, int | None] | None:
    """What the error teaches, and how many output tokens this very request may ask for, if the server counted its prompt."""
    if error.status is not None and error.status not in _STATUSES:
        return None
    message = error.message[:_LONGEST].lower()
    refused = frozenset(what for what, pattern in _REFUSED_PATTERNS if pattern.search(message))
    found = next((match.groupdict() for pattern in _NUMBER_PATTERNS if (match := pattern.search(message))), {})
    window, prompt, most = (int(found[key][:12]) if found.get(key) else None for key in ("window", "prompt", "most"))
    unknown = frozenset(
        name
        for pattern in _UNKNOWN_PATTERNS
        for match in pattern.finditer(message)
        for name in match["fields"].replace(",", " ").split()
    )
    if not refused and not unknown and window is None and most is None:
        return None
    left = window - prompt if window is not None and prompt is not None else None
    return Lesson(refused, window, most, unknown), left


def without_fields(request: Request, fields: frozenset[str], notes: list[str]) -> Request:
    """Without those that only pass through here."""
    left_out = {key for values in request.extra.values() for key in fields & values.keys()}
    if not left_out:
        return request
    notes.append(f"request: the server rejects {', '.join(sorted(left_out))}; left out")
    extra = {name: {key: value for key, value in values.items() if key not in fields} for name, values in request.extra.items()}
    return msgspec.structs.replace(request, extra=extra)


def with_tokens_left(request: Request, left: int | None) -> Request:
    if left is None or left < 1 or request.max_tokens is None or request.max_tokens <= left:
        return request
    return msgspec.structs.replace(request, max_tokens=left)


class Lessons:
    """By address and model; the oldest are dropped first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[tuple[str, str], tuple[float, Lesson]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def applied(self, route: Route) -> Route:
        until, lesson = self._entries.get((route.provider.base_url, route.model), (0.0, None))
        if lesson is None or self._clock() >= until:
            return route
        return msgspec.structs.replace(route, profile=lesson.applied(route.profile))

    def unknown(self, route: Route) -> frozenset[str]:
        """The fields that the server rejects."""
        until, lesson = self._entries.get((route.provider.base_url, route.model), (0.0, None))
        return lesson.unknown if lesson is not None and self._clock() < until else frozenset()

    def add(self, route: Route, lesson: Lesson) -> None:
        key = (route.provider.base_url, route.model)
        until, known = self._entries.pop(key, (0.0, Lesson()))
        if self._clock() >= until:
            known = Lesson()
        self._entries[key] = (self._clock() + _LIFETIME, known | lesson)
        while len(self._entries) > _MOST:
            del self._entries[next(iter(self._entries))]
