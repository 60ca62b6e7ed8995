"""The probe: asks a running server a few real tool questions in each way of asking. `probe/` says what follows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import Provider
from toolglot.client.detect import Answers as ServerAnswers
from toolglot.client.detect import detect
from toolglot.client.detection import listed
from toolglot.client.detection.questions import Question as Asked
from toolglot.client.detection.told import Told
from toolglot.client.exchange import begin, events_of, new_call_id, sending, whole
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.probe.findings import content
from toolglot.client.probe.refusals import blocking
from toolglot.client.probe.seen import QUICK, STREAMED, Heard, Room, Seen, questions
from toolglot.client.probe.verdict import Verdict, outcome, verdict
from toolglot.client.remembered import Remembered, server_name
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.retry import with_retries
from toolglot.client.transport import Limits, Transport
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.questions import Question
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.prepare import read_question
from toolglot.pipeline.route import Route, resolve
from toolglot.pipeline.ways import FOR_OTHERS, FOR_SMALL, SMALL, choose_way, read_way
from toolglot.text.json_text import BadJson, decode

NATIVE, CONSTRAINED = "native", "constrained"
LIMITS = Limits(connect=5.0, first_byte=600.0, idle=120.0)
RETRIES = RetryPolicy(attempts=2, total=30.0)
_BRIEF, _ROOMY = 200, 2048  # tokens that a small model may write, and one that may think first
_FEWEST = 16  # where only the prompt's length is of interest; some APIs refuse less
_LIST = Asked(listed.MODELS, listed.read_plain, "version")
_FILLER = "the sea was calm and the wind was low and we sat by the fire until the moon rose over the hill"
_A_TURN = 400  # words in one message of the long prompt: servers that cut leave out whole messages

Progress = Callable[[int, int, str], None]  # which question, of how many (0: it is none), and what is done


def ways_of(profile: Profile, row: Provider, chosen: str, *, quick: bool) -> list[str]:
    """Native first, the model's own dialect, the two general ones, a schema where the server can, and what is taken anyway."""
    own = [f"dialect:{profile.dialect}"] if profile.dialect else []
    general = [] if quick else [f"dialect:{FOR_SMALL}", f"dialect:{FOR_OTHERS}"]
    schema = [CONSTRAINED] if row.constrains else []
    return list(dict.fromkeys([NATIVE, *own, *general, *schema, chosen]))


def read_ways(named: Sequence[str], row: Provider) -> list[str]:
    """As a person writes them: a dialect's name may stand alone."""
    plain = {NATIVE, CONSTRAINED}
    full = [name if name in plain or ":" in name else f"dialect:{name}" for name in named]
    return list(dict.fromkeys(read_way(name, row).name for name in full))


async def probe(
    model: str,
    transport: Transport,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    ways: Sequence[str] = (),
    quick: bool = False,
    only: Sequence[str] = (),
    remembered: Remembered | None = None,
    retries: RetryPolicy = RETRIES,
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> Verdict:
    """`model` is provider/model. `only` names questions by id; `ways` are asked instead of all. Bad use is a CallerError."""
    route = resolve(model)
    row = route.provider if base_url is None else msgspec.structs.replace(route.provider, base_url=check_base(base_url))
    named = read_ways(ways, row)
    headers = auth_headers(row, find_key(row, api_key))
    said = ServerAnswers()
    told_progress = progress or (lambda done, total, what: None)
    told_progress(0, 0, "asking the server about the model")
    profile = await detect(route.model, row, transport, headers=headers, answers=said)
    route = msgspec.structs.replace(route, provider=row, profile=profile)
    tallies = remembered.tallies(server_name(row), route.model) if remembered is not None else {}
    chosen = choose_way("auto", profile, row, None, tallies).name
    asking = _Asking(route, transport, headers, limits, retries)
    seen = Seen(route.model, row, profile, said.get(row.base_url, route.model))
    asked = _chosen_questions(quick, only)
    named = named or ways_of(profile, row, chosen, quick=quick)
    seen = await asking.everything(seen, named, asked, quick=quick, progress=told_progress)
    if remembered is not None:
        _remember(seen, remembered)
    return verdict(seen, chosen)


def _chosen_questions(quick: bool, only: Sequence[str]) -> list[Question]:
    known = {question.id: question for question in questions()}
    strange = [name for name in only if name not in known]
    if strange:
        raise CallerError(f"there is no question {strange[0]!r}; there are {', '.join(known)}", "only")
    return [one for one in known.values() if (one.id in only if only else not quick or QUICK in one.tags)]


def _remember(seen: Seen, remembered: Remembered) -> None:
    """Where a call was due: was it the right tool, with valid arguments?"""
    server = server_name(seen.row)
    for one in seen.heard:
        if one.due and not one.stream and one.error is None:
            scored = outcome(one)
            remembered.note(server, seen.model, one.way, bool(scored.valid and scored.right_tool))
    remembered.flush()


class _Overheard(Answers):
    """Answers that keep what came in beside what goes out."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, make_id=new_call_id)
        self.came: list[Event] = []

    def feed(self, *events: Event) -> list[Event]:
        self.came += events
        return super().feed(*events)


class _Asking:
    def __init__(
        self, route: Route, transport: Transport, headers: dict[str, str], limits: Limits, retries: RetryPolicy
    ) -> None:
        self.route, self.transport, self.headers = route, transport, headers
        self.limits, self.retries = limits, retries
        small = route.profile.parameters is not None and route.profile.parameters <= SMALL and not route.profile.reasoning
        self.limit = _BRIEF if small else _ROOMY
        self.temperature: float | None = 0.0

    async def everything(self, seen: Seen, ways: list[str], asked: list[Question], *, quick: bool, progress: Progress) -> Seen:
        heard: list[Heard] = []
        total = len(ways) * len(asked)
        for number, way in enumerate(ways):
            for at, question in enumerate(asked, 1):
                progress(number * len(asked) + at, total, f"{way}: {question.id}")
                one = await self.ask(question, way)
                heard.append(one)
                if one.error is not None and len(heard) == 1:
                    stuck = await self.stuck(seen, one, one.error)
                    if stuck is not None:
                        return stuck
                if one.error is not None:
                    break  # the next question would be refused as well
                if STREAMED in question.tags:
                    progress(number * len(asked) + at, total, f"{way}: {question.id}, streamed")
                    heard += await self.streamed(one)
        seen = msgspec.structs.replace(seen, heard=tuple(heard))
        progress(0, 0, "looking for what is dropped or cut")
        first = next((one for one in seen.way(NATIVE) if one.due), None)
        if first is not None:
            seen = msgspec.structs.replace(seen, without_tools=await self.without_tools(first.question))
        return seen if quick else msgspec.structs.replace(seen, room=await self.room())

    async def stuck(self, seen: Seen, one: Heard, error: UpstreamError) -> Seen | None:
        """All that is known where the first question shows that no other would fare better."""
        seen = msgspec.structs.replace(seen, heard=(one,))
        if not isinstance(seen.told, Told) and error.status in {400, 404}:
            seen = msgspec.structs.replace(seen, listed=await self.listed())
        return seen if blocking(error, seen) is not None else None

    async def ask(self, question: Question, way: str, *, stream: bool = False) -> Heard:
        request = read_question(question.messages, self.route, question.tools, stream=stream, max_tokens=self.limit)
        return await self.sent(msgspec.structs.replace(request, stream_usage=stream), question, way)

    async def sent(self, request: Request, question: Question, way: str) -> Heard:
        request = msgspec.structs.replace(request, temperature=self.temperature)
        plan = fit(request, self.route, ask=way)
        this = sending(plan, self.transport, self.headers, self.limits)
        answers = _Overheard(this.plan)
        began = time.monotonic()
        error: UpstreamError | None = None
        left: list[Event] = []
        try:
            if request.stream:
                begun = await with_retries(lambda: begin(this), self.retries)
                left = [event async for event in events_of(begun, answers)]
            else:
                left = await with_retries(lambda: whole(this, answers), self.retries)
        except UpstreamError as failed:
            error = failed
            if failed.status == 400 and self.temperature is not None and "temperature" in failed.message:
                self.temperature = None  # models that think allow none
                return await self.sent(request, question, way)
        reply = fold(left)
        return Heard(
            way,
            question,
            fold(answers.came),
            reply,
            request.stream,
            round(time.monotonic() - began, 3),
            request.max_tokens,
            error or reply.error,
            plan.notes,
        )

    async def streamed(self, first: Heard) -> list[Heard]:
        """The same as a stream; where that differs, both again: not every server gives the same answer twice."""
        stream = await self.ask(first.question, first.way, stream=True)
        if stream.error is None and content(stream.said) == content(first.said):
            return [stream]
        return [
            stream,
            await self.ask(first.question, first.way),
            await self.ask(first.question, first.way, stream=True),
        ]

    async def without_tools(self, question: Question) -> int | None:
        """How long the prompt is when no tools go with it: where that is the same, they never reach the model."""
        request = read_question(question.messages, self.route, max_tokens=_FEWEST)
        one = await self.sent(request, question, NATIVE)
        return one.said.usage.input if one.error is None and one.said.usage is not None else None

    async def room(self) -> Room | None:
        """A prompt just over the window that a server gives unasked, where it is known to cut without a word."""
        window = self.route.provider.default_context
        if window is None:
            return None
        words = [str(time.time_ns()), *islice(cycle(_FILLER.split()), window + window // 8)]  # new, so that no part is cached
        turns = [" ".join(words[at : at + _A_TURN]) for at in range(0, len(words), _A_TURN)]
        messages = [Message("assistant" if at % 2 else "user", (Text(turn),)) for at, turn in enumerate(turns)]
        if len(turns) % 2 == 0:
            messages.append(Message("user", (Text("Go on."),)))
        one = await self.sent(Request(self.route.model, tuple(messages), max_tokens=_FEWEST), questions()[0], NATIVE)
        return Room(len(words), one.said.usage.input if one.said.usage is not None else None, one.error)

    async def listed(self) -> Told | None:
        """The server's list of models, where it has one of the usual shape."""
        url = _LIST.url(self.route.provider.base_url, self.route.model)
        headers = {"accept": "application/json", **self.route.provider.headers, **self.headers}
        try:
            answer = await self.transport.send(_LIST.method, url, headers, limits=self.limits)
            try:
                body = await answer.read() if answer.status < 400 else b""
            finally:
                await answer.aclose()
            return _LIST.read(decode(body), self.route.model) if body else None
        except (UpstreamError, *BadJson):
            return None
