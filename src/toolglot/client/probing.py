"""The probe: sends a few real tool questions to a running server in each tool mode. `probe/` evaluates the replies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import Provider, unknown
from toolglot.client.detect import ServerAnswers, detect
from toolglot.client.detection import model_lists as listed
from toolglot.client.detection.questions import ServerQuestion
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.mode_stats import ModeStats, server_name
from toolglot.client.probe.blockers import blocking
from toolglot.client.probe.findings import content
from toolglot.client.probe.observations import QUICK, STREAMED, Observation, Observations, WindowTest, questions
from toolglot.client.probe.verdict import Verdict, outcome, verdict
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.session import Session, Target
from toolglot.client.transport import Limits, Transport
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text
from toolglot.core.request import Request
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.questions import Question
from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.pipeline.request.prepare import build_request
from toolglot.pipeline.request.route import Route, resolve
from toolglot.pipeline.request.tool_mode import DEFAULT_DIALECT, SMALL, SMALL_MODEL_DIALECT, choose_mode, read_mode

NATIVE, CONSTRAINED = "native", "constrained"
LIMITS = Limits(connect=5.0, first_byte=600.0, idle=120.0)
RETRIES = RetryPolicy(attempts=2, total=30.0)
_BRIEF, _ROOMY = 200, 2048  # output tokens for a small model, and for one that may reason first
_FEWEST = 16  # where only the prompt length matters; some APIs reject less
_LIST = ServerQuestion(listed.MODELS, listed.read_plain, "version")
_FILLER = "the sea was calm and the wind was low and we sat by the fire until the moon rose over the hill"
_WORDS_PER_TURN = 400  # words in one message of the long prompt: servers that truncate drop whole messages

Progress = Callable[[int, int, str], None]  # number of the question, how many (0: not a question), and the step


def modes_to_test(profile: Profile, row: Provider, chosen: str, *, quick: bool) -> list[str]:
    """Native, the model's dialect, the two general dialects, constrained where the server can, and the default mode."""
    dialect = [f"dialect:{profile.dialect}"] if profile.dialect else []
    general = [] if quick else [f"dialect:{SMALL_MODEL_DIALECT}", f"dialect:{DEFAULT_DIALECT}"]
    schema = [CONSTRAINED] if row.constrains else []
    return list(dict.fromkeys([NATIVE, *dialect, *general, *schema, chosen]))


def read_modes(named: Sequence[str], row: Provider) -> list[str]:
    """The user may write a dialect's name without `dialect:`."""
    plain = {NATIVE, CONSTRAINED}
    full = [name if name in plain or ":" in name else f"dialect:{name}" for name in named]
    wrong = next((name for name in named if ":" not in name and name not in plain and find_dialect(name) is None), None)
    if wrong is not None:
        raise CallerError(unknown("tool mode", wrong, [*plain, *known_dialects()]), "tool_modes")
    try:
        return list(dict.fromkeys(read_mode(name, row).name for name in full))
    except CallerError as error:
        error.where = "tool_modes"  # for `read_mode` it is the option `ask`
        raise


async def probe(
    model: str,
    transport: Transport,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    tool_modes: Sequence[str] = (),
    quick: bool = False,
    only: Sequence[str] = (),
    mode_stats: ModeStats | None = None,
    retries: RetryPolicy = RETRIES,
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> Verdict:
    """`model` is provider/model. `only` names questions by id, `tool_modes` the modes to test. Wrong use is a CallerError."""
    route = resolve(model)
    row = route.provider if base_url is None else msgspec.structs.replace(route.provider, base_url=check_base(base_url))
    named = read_modes(tool_modes, row)
    headers = auth_headers(row, find_key(row, api_key))
    answers = ServerAnswers()
    report = progress or (lambda done, total, what: None)
    report(0, 0, "querying the server about the model")
    profile = await detect(route.model, row, transport, headers=headers, answers=answers)
    route = msgspec.structs.replace(route, provider=row, profile=profile)
    mode_counts = mode_stats.mode_counts(server_name(row), route.model) if mode_stats is not None else {}
    chosen = choose_mode("auto", profile, row, None, mode_counts).name
    prober = _Prober(route, transport, headers, limits, retries)
    seen = Observations(route.model, row, profile, answers.get(row.base_url, route.model))
    asked = _chosen_questions(quick, only)
    named = named or modes_to_test(profile, row, chosen, quick=quick)
    seen = await prober.run(seen, named, asked, quick=quick, progress=report)
    if mode_stats is not None:
        _remember(seen, mode_stats)
    return verdict(seen, chosen)


def _chosen_questions(quick: bool, only: Sequence[str]) -> list[Question]:
    known = {question.id: question for question in questions()}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise CallerError(f"unknown question {unknown[0]!r}; the questions are {', '.join(known)}", "only")
    return [one for one in known.values() if (one.id in only if only else not quick or QUICK in one.tags)]


def _remember(seen: Observations, mode_stats: ModeStats) -> None:
    """Count the questions that need a call: right tool and valid arguments, or not."""
    server = server_name(seen.row)
    for one in seen.replies:
        if one.expects_call and not one.stream and one.error is None:
            scored = outcome(one)
            mode_stats.note(server, seen.model, one.tool_mode, bool(scored.valid and scored.right_tool))
    mode_stats.flush()


class _Prober:
    def __init__(
        self, route: Route, transport: Transport, headers: dict[str, str], limits: Limits, retries: RetryPolicy
    ) -> None:
        self.route, self.headers = route, headers
        self.session = Session(transport, limits, retries, detects=False)
        small = route.profile.parameters is not None and route.profile.parameters <= SMALL and not route.profile.reasoning
        self.limit = _BRIEF if small else _ROOMY
        self.temperature: float | None = 0.0

    async def run(
        self, seen: Observations, tool_modes: list[str], asked: list[Question], *, quick: bool, progress: Progress
    ) -> Observations:
        replies: list[Observation] = []
        total = len(tool_modes) * len(asked)
        for number, tool_mode in enumerate(tool_modes):
            for at, question in enumerate(asked, 1):
                progress(number * len(asked) + at, total, f"{tool_mode}: {question.id}")
                one = await self.ask(question, tool_mode)
                replies.append(one)
                if one.error is not None and len(replies) == 1:
                    stuck = await self.stuck(seen, one, one.error)
                    if stuck is not None:
                        return stuck
                if one.error is not None:
                    break  # the next question would fail too
                if STREAMED in question.tags:
                    progress(number * len(asked) + at, total, f"{tool_mode}: {question.id}, streamed")
                    replies += await self.streamed(one)
        seen = msgspec.structs.replace(seen, replies=tuple(replies))
        progress(0, 0, "checking for dropped tools and truncated prompts")
        first = next((one for one in seen.tool_mode(NATIVE) if one.expects_call), None)
        if first is not None:
            seen = msgspec.structs.replace(seen, without_tools=await self.without_tools(first.question))
        return seen if quick else msgspec.structs.replace(seen, window=await self.window())

    async def stuck(self, seen: Observations, one: Observation, error: UpstreamError) -> Observations | None:
        """The observations so far, if the first error shows that every question would fail."""
        seen = msgspec.structs.replace(seen, replies=(one,))
        if not isinstance(seen.server, ServerFacts) and error.status in {400, 404}:
            seen = msgspec.structs.replace(seen, listed=await self.listed())
        return seen if blocking(error, seen) is not None else None

    async def ask(self, question: Question, tool_mode: str, *, stream: bool = False) -> Observation:
        request = build_request(question.messages, self.route, question.tools, stream=stream, max_tokens=self.limit)
        return await self.send(msgspec.structs.replace(request, stream_usage=stream), question, tool_mode)

    async def send(self, request: Request, question: Question, tool_mode: str) -> Observation:
        request = msgspec.structs.replace(request, temperature=self.temperature)
        response = self.session.prepare(request, Target(self.route, self.headers, tool_mode))
        response.received = received = list[Event]()
        began = time.monotonic()
        error: UpstreamError | None = None
        emitted: list[Event] = []
        try:
            await response.begin()
            emitted = [event async for batch in response for event in batch]
        except UpstreamError as failed:
            error = failed
            if failed.status == 400 and self.temperature is not None and "temperature" in failed.message:
                self.temperature = None  # reasoning models reject it
                return await self.send(request, question, tool_mode)
        reply = fold(emitted)
        return Observation(
            tool_mode,
            question,
            fold(received),
            reply,
            request.stream,
            round(time.monotonic() - began, 3),
            request.max_tokens,
            error or reply.error,
            response.plan.notes,
        )

    async def streamed(self, first: Observation) -> list[Observation]:
        """The same question streamed. If the replies differ, both again: not every server is deterministic."""
        stream = await self.ask(first.question, first.tool_mode, stream=True)
        if stream.error is None and content(stream.received) == content(first.received):
            return [stream]
        return [
            stream,
            await self.ask(first.question, first.tool_mode),
            await self.ask(first.question, first.tool_mode, stream=True),
        ]

    async def without_tools(self, question: Question) -> int | None:
        """The prompt tokens without tools. If they are the same as with tools, the tools never reach the model."""
        request = build_request(question.messages, self.route, max_tokens=_FEWEST)
        one = await self.send(request, question, NATIVE)
        return one.received.usage.input if one.error is None and one.received.usage is not None else None

    async def window(self) -> WindowTest | None:
        """A prompt just over the default window, on servers that are known to truncate silently."""
        size = self.route.provider.default_context
        if size is None:
            return None
        words = [str(time.time_ns()), *islice(cycle(_FILLER.split()), size + size // 8)]  # unique, so that nothing is cached
        turns = [" ".join(words[at : at + _WORDS_PER_TURN]) for at in range(0, len(words), _WORDS_PER_TURN)]
        messages = [Message("assistant" if at % 2 else "user", (Text(turn),)) for at, turn in enumerate(turns)]
        if len(turns) % 2 == 0:
            messages.append(Message("user", (Text("Go on."),)))
        one = await self.send(Request(self.route.model, tuple(messages), max_tokens=_FEWEST), questions()[0], NATIVE)
        return WindowTest(len(words), one.received.usage.input if one.received.usage is not None else None, one.error)

    async def listed(self) -> ServerFacts | None:
        """The server's list of models, if it has a standard one."""
        url = _LIST.url(self.route.provider.base_url, self.route.model)
        headers = {"accept": "application/json", **self.route.provider.headers, **self.headers}
        try:
            answer = await self.session.transport.send(_LIST.method, url, headers, limits=self.session.limits)
            try:
                body = await answer.read() if answer.status < 400 else b""
            finally:
                await answer.aclose()
            return _LIST.read(decode(body), self.route.model) if body else None
        except (UpstreamError, *JSON_ERRORS):
            return None
