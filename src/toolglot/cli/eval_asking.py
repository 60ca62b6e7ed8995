"""One question of an evaluation, put to a model as its users would put it: by the client, or by an agent where it is a loop."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, cast

import msgspec

from toolglot.agent.agent import Agent
from toolglot.agent.loop import AskModel, Done, Interrupted, Loop
from toolglot.agent.results import without_secrets
from toolglot.agent.runnable import Context, Runnable
from toolglot.catalog.profiles import server_kind
from toolglot.client.asking import AsyncClient
from toolglot.client.detect import detect
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.remembered import Remembered
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.core.reply import Reply
from toolglot.core.tools import Tool
from toolglot.errors import UpstreamError
from toolglot.evaluation.kept import Kept, Setting, mark
from toolglot.evaluation.questions import Question
from toolglot.pipeline.ways import choose_way

Policy = Literal["strict", "balanced", "eager"]
TURNS = 6  # of a loop: the longest of ours needs three
_LIMITS = Limits()


class Asker:
    """What has worked before counts for nothing here: every question of a run is asked in the same way."""

    def __init__(
        self,
        model: str,
        transport: Transport,
        *,
        ask: str = "auto",
        policy: Policy = "balanced",
        base_url: str | None = None,
        api_key: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.ask, self.policy = model, ask, policy
        self.options = dict(options or {})
        self._transport = transport
        self._base_url, self._api_key = base_url, api_key
        self._memory = Remembered()
        self._memory.on = False

    async def setting(self) -> Setting:
        """What the run comes down to. A wrong model, way or key is a CallerError now, not at the first question."""
        route = self._client(self._transport).route(self.model)
        row, profile = route.provider, route.profile
        headers = auth_headers(row, find_key(row, self._api_key))
        if self.ask == "auto" and server_kind(row.name) != "hosted":
            profile = await detect(route.model, row, self._transport, headers=headers)
        way = choose_way(self.ask, profile, row, None).name
        return Setting(self.model, self.ask, way, self.policy, self.options)

    async def put(self, question: Question) -> Kept:
        tape = _Tape(self._transport)
        begun = time.perf_counter()
        put = self._single if question.loop is None else self._loop
        try:
            kept = await put(question, self._client(tape))
        except UpstreamError as error:
            kept = Kept(question.id, mark(question), error=without_secrets(error.message) or "it failed without a word")
        seconds = round(time.perf_counter() - begun, 3)
        return msgspec.structs.replace(kept, seconds=seconds, raw=tuple(map(without_secrets, tape.heard)))

    async def _single(self, question: Question, client: AsyncClient) -> Kept:
        """As an agent asks: a call that is refused goes back to the model. The calls are what it would run then."""
        agent = Agent(self.model, [_scripted(tool, question) for tool in question.tools], client=client, **self.options)
        loop = Loop(agent.request(question.messages, route=client.route(self.model)))
        reply, step = Reply(), loop.next()
        while isinstance(step, AskModel):
            reply = await client.complete(step.request, self.model, ask=self.ask)
            step = loop.next(reply)
        run = (step if isinstance(step, Done) else cast("Done", loop.next(Interrupted("stopped", "nothing is run here")))).run
        return Kept(
            question.id,
            mark(question),
            run.calls,
            run.text,
            run.decisions,
            None if reply.stop is None else reply.stop.reason,
            run.usage,
            turns=run.turns,
            notes=run.notes,
            error=None if reply.error is None else without_secrets(f"the answer broke off: {reply.error.message}"),
        )

    async def _loop(self, question: Question, client: AsyncClient) -> Kept:
        tools = [_scripted(tool, question) for tool in question.tools]
        agent = Agent(self.model, tools, client=client, max_turns=TURNS, cache=None, ask=self.ask, **self.options)
        run = await agent.run(question.messages)
        return Kept(
            question.id,
            mark(question),
            run.calls,
            run.text,
            run.decisions,
            "stop" if run.ok else run.end,
            run.usage,
            turns=run.turns,
            notes=run.notes,
            error=run.why if run.end == "failed" else None,
        )

    def _client(self, transport: Transport) -> AsyncClient:
        return AsyncClient(
            self.model,
            api_key=self._api_key,
            base_url=self._base_url,
            policy=self.policy,
            transport=transport,
            remembered=self._memory,
        )


def _scripted(tool: Tool, question: Question) -> Runnable:
    async def run(_arguments: dict[str, Any], _context: Context) -> str:
        return question.result_of(tool.full_name)

    return Runnable(tool, run, source="question")


# -- what the server said, word for word


class _Tape:
    """A transport that keeps the bodies of the answers to questions; what it carries on is not its to close."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._answers: list[_Taped] = []

    @property
    def heard(self) -> list[str]:
        return [b"".join(answer.pieces).decode("utf-8", "replace") for answer in self._answers]

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        answer = await self._transport.send(method, url, headers, body, limits=limits)
        if method != "POST":
            return answer
        self._answers.append(_Taped(answer))
        return self._answers[-1]

    async def aclose(self) -> None:
        return


class _Taped:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status, self.headers = answer.status, answer.headers
        self.pieces: list[bytes] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer:
            self.pieces.append(piece)
            yield piece

    async def read(self) -> bytes:
        said = await self._answer.read()
        self.pieces.append(said)
        return said

    async def aclose(self) -> None:
        await self._answer.aclose()
