"""What the running server says of a model: the catalog's profile, corrected by it.

Nothing that a server does or leaves undone is an error here: what can't be learned is a note, and the catalog counts.
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
from toolglot.client.detection.questions import QUESTIONS, Question
from toolglot.client.detection.told import Told
from toolglot.client.http.url import PORTS
from toolglot.client.transport import Limits, Transport
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import BadJson, decode

LIMITS = Limits(connect=3.0, first_byte=5.0, idle=5.0, body=16 * 1024 * 1024)  # OpenRouter's list is the largest
WITHIN = 15.0  # seconds for all questions together
_OK, _REFUSED = 200, frozenset({401, 403})


class Silence(msgspec.Struct, frozen=True):
    """The server could not be asked, and why."""

    why: str


class Answers:
    """What servers said, for a while. The same name on the same server is asked once; a silence is forgotten sooner."""

    def __init__(
        self, lifetime: float = 600.0, silence: float = 30.0, most: int = 512, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lifetime, self._silence, self._most, self._clock = lifetime, silence, most, clock
        self._held: dict[tuple[str, str], tuple[float, Told | Silence]] = {}

    def get(self, base_url: str, model: str) -> Told | Silence | None:
        until, said = self._held.get((base_url, model), (0.0, None))
        return said if said is not None and self._clock() < until else None

    def put(self, base_url: str, model: str, said: Told | Silence) -> None:
        """Nor does `there is no such model` hold long: someone may be fetching it."""
        brief = isinstance(said, Silence) or said.missing
        self._held.pop((base_url, model), None)
        self._held[base_url, model] = (self._clock() + (self._silence if brief else self._lifetime), said)
        while len(self._held) > self._most:
            del self._held[next(iter(self._held))]

    def clear(self) -> None:
        self._held.clear()


ANSWERS = Answers()


async def detect(
    model: str,
    row: Provider,
    transport: Transport,
    *,
    headers: Mapping[str, str] | None = None,
    answers: Answers = ANSWERS,
    limits: Limits = LIMITS,
    within: float = WITHIN,
) -> Profile:
    """The profile of a model on a server. `model` is as the provider calls it; `headers` carry the key, if there is one."""
    known = profile(model, row.name or None)
    kind = server_kind(row.name)
    questions = QUESTIONS.get(kind)
    if questions is None:
        return _noted(known, f"{row.name} tells nothing about its models: this is what the catalog knows")
    said = answers.get(row.base_url, model)
    if said is None:
        asking = _Asking(model, row.base_url, transport, {**row.headers, **(headers or {})}, limits)
        said = await asking.all(questions, within)
        answers.put(row.base_url, model, said)
    if isinstance(said, Silence):
        return _noted(known, f"the server could not be asked, so this is what the catalog knows: {said.why}")
    return corrected(known, said, kind, row.name or None)


def _noted(known: Profile, note: str) -> Profile:
    return msgspec.structs.replace(known, notes=(*known.notes, note))


class _Asking(msgspec.Struct, frozen=True):
    """All that the questions about one model share."""

    model: str
    base_url: str
    transport: Transport
    headers: Mapping[str, str]
    limits: Limits

    async def all(self, questions: tuple[Question, ...], within: float) -> Told | Silence:
        # A model in this process is loaded first, and perhaps fetched: that takes as long as it takes.
        remote = urlsplit(self.base_url).scheme in PORTS
        first: Silence | None = None
        try:
            async with asyncio.timeout(within if remote else None):
                for question in questions:
                    said = await self.one(question)
                    if isinstance(said, Told):
                        return said
                    first = first or said
        except TimeoutError:
            return first or Silence(f"no whole answer within {within:g} seconds")
        except UpstreamError as error:  # below HTTP: the next question would fare no better
            return first or Silence(error.message)
        except CallerError as error:  # an address that is none, a model that is no file
            return Silence(str(error))
        return first or Silence("there is nothing to ask")

    async def one(self, question: Question) -> Told | Silence:
        sent = {"accept": "application/json", **self.headers}
        if question.names_model:
            sent["content-type"] = "application/json"
        url = question.url(self.base_url, self.model)
        answer = await self.transport.send(question.method, url, sent, question.body(self.model), limits=self.limits)
        try:
            if answer.status != _OK:
                key = ": check the key" if answer.status in _REFUSED else ""
                return Silence(f"{question.asked} answered HTTP {answer.status}{key}")
            data = await answer.read()
        finally:
            await answer.aclose()
        return _read(question, data, self.model)


def _read(question: Question, data: bytes, model: str) -> Told | Silence:
    try:
        said: Any = decode(data)
    except BadJson:
        return Silence(f"{question.asked} answered no JSON: is base_url right?")
    return question.read(said, model) or Silence(f"{question.asked} answered another shape than such a server does")
