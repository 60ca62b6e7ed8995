"""Detect a model's profile: query the running server, and correct the catalog's profile with what it reports.

No behaviour of a server is an error here. Where it can't be queried, the catalog's profile applies, with a note.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import profile, server_kind
from toolglot.catalog.providers import Provider
from toolglot.client.detection.correct import corrected
from toolglot.client.detection.questions import QUESTIONS, ServerQuestion
from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.http.url import PORTS
from toolglot.client.transport import Limits, Transport
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import JSON_ERRORS, decode

LIMITS = Limits(connect=3.0, first_byte=5.0, idle=5.0, body=16 * 1024 * 1024)  # OpenRouter's list is the largest
WITHIN = 15.0  # seconds for all questions together
_OK, _REFUSED = 200, frozenset({401, 403})


class NoAnswer(msgspec.Struct, frozen=True):
    """Why the server could not be queried."""

    why: str


class ServerAnswers:
    """A cache of server responses by address and model. Failures expire sooner than facts."""

    def __init__(
        self,
        lifetime: float = 600.0,
        failure_lifetime: float = 30.0,
        limit: int = 512,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lifetime, self._failure_lifetime, self._limit, self._clock = lifetime, failure_lifetime, limit, clock
        self._entries: dict[tuple[str, str], tuple[float, ServerFacts | NoAnswer]] = {}

    def get(self, base_url: str, model: str) -> ServerFacts | NoAnswer | None:
        until, facts = self._entries.get((base_url, model), (0.0, None))
        return facts if facts is not None and self._clock() < until else None

    def put(self, base_url: str, model: str, facts: ServerFacts | NoAnswer) -> None:
        """A missing model expires soon as well: it may be downloading."""
        brief = isinstance(facts, NoAnswer) or facts.missing
        self._entries.pop((base_url, model), None)
        self._entries[base_url, model] = (self._clock() + (self._failure_lifetime if brief else self._lifetime), facts)
        while len(self._entries) > self._limit:
            del self._entries[next(iter(self._entries))]

    def clear(self) -> None:
        self._entries.clear()


ANSWERS = ServerAnswers()


async def detect(
    model: str,
    row: Provider,
    transport: Transport,
    *,
    headers: Mapping[str, str] | None = None,
    answers: ServerAnswers = ANSWERS,
    limits: Limits = LIMITS,
    within: float = WITHIN,
) -> Profile:
    """The profile of a model on a server. `model` is the provider's name for it; `headers` contain the key, if any."""
    known = profile(model, row.name or None)
    kind = server_kind(row.name)
    questions = QUESTIONS.get(kind)
    if questions is None:
        return _noted(known, f"{row.name} does not describe its models: this is from the catalog")
    facts = answers.get(row.base_url, model)
    if facts is None:
        query = _Query(model, row.base_url, transport, {**row.headers, **(headers or {})}, limits)
        facts = await query.run(questions, within)
        answers.put(row.base_url, model, facts)
    if isinstance(facts, NoAnswer):
        return _noted(known, f"the server could not be queried, so this is from the catalog: {facts.why}")
    return corrected(known, facts, kind, row.name or None)


def _noted(known: Profile, note: str) -> Profile:
    return msgspec.structs.replace(known, notes=(*known.notes, note))


class _Query(msgspec.Struct, frozen=True):
    """What all questions about one model share."""

    model: str
    base_url: str
    transport: Transport
    headers: Mapping[str, str]
    limits: Limits

    async def run(self, questions: tuple[ServerQuestion, ...], within: float) -> ServerFacts | NoAnswer:
        # An embedded model is loaded first, and maybe downloaded: no time limit.
        remote = urlsplit(self.base_url).scheme in PORTS
        first: ServerFacts | NoAnswer | None = None
        try:
            async with asyncio.timeout(within if remote else None):
                for question in questions:
                    facts = await self.ask(question)
                    if isinstance(facts, ServerFacts):
                        first = facts
                        return await self._with_more(facts, question)
                    first = first or facts
        except TimeoutError:
            return first or NoAnswer(f"no complete response within {within:g} seconds")
        except UpstreamError as error:  # below HTTP: the next question would fail too
            return first or NoAnswer(error.message)
        except CallerError as error:  # an invalid address, or a model file that does not exist
            return NoAnswer(str(error))
        return first or NoAnswer("there is no question for this server")

    async def _with_more(self, facts: ServerFacts, question: ServerQuestion) -> ServerFacts:
        """What the other endpoints add. What the first one shows stays."""
        for other in () if facts.missing else question.also:
            more = await self.ask(other)
            if isinstance(more, ServerFacts):
                facts = facts.with_more(more)
        return facts

    async def ask(self, question: ServerQuestion) -> ServerFacts | NoAnswer:
        headers = {"accept": "application/json", **self.headers}
        if question.names_model:
            headers["content-type"] = "application/json"
        url = question.url(self.base_url, self.model)
        answer = await self.transport.send(question.method, url, headers, question.body(self.model), limits=self.limits)
        try:
            if answer.status != _OK:
                key = ": check the key" if answer.status in _REFUSED else ""
                return NoAnswer(f"{question.endpoint} returned HTTP {answer.status}{key}")
            data = await answer.read()
        finally:
            await answer.aclose()
        return _read(question, data, self.model)


def _read(question: ServerQuestion, data: bytes, model: str) -> ServerFacts | NoAnswer:
    try:
        body: Any = decode(data)
    except JSON_ERRORS:
        return NoAnswer(f"{question.endpoint} did not return JSON: is base_url right?")
    return question.read(body, model) or NoAnswer(f"{question.endpoint} returned JSON of an unexpected shape")
