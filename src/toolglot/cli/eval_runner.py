"""Asks a model one question of an evaluation, as a user would: through the client, or through an agent for a loop."""

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
from toolglot.client.async_client import AsyncClient
from toolglot.client.detect import detect
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.mode_stats import ModeStats
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.core.reply import Reply
from toolglot.core.tools import Tool
from toolglot.errors import UpstreamError
from toolglot.evaluation.questions import Question
from toolglot.evaluation.saved_answers import SavedAnswer, Setting, mark
from toolglot.pipeline.request.tool_mode import choose_mode

Policy = Literal["strict", "balanced", "eager"]
TURNS = 6  # of a loop; the longest built-in question needs three
_LIMITS = Limits()


class EvalRunner:
    """Does not use the mode statistics: every question of a run is asked in the same tool mode."""

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
        self.model, self.policy = model, policy
        self.options = dict(options or {})
        self._ask = ask
        self._transport = transport
        self._base_url, self._api_key = base_url, api_key
        self._stats = ModeStats()
        self._stats.on = False

    async def setting(self) -> Setting:
        """The settings of the run. Raises CallerError at once for a wrong model, tool mode or key."""
        route = self._client(self._transport).route(self.model)
        row, profile = route.provider, route.profile
        headers = auth_headers(row, find_key(row, self._api_key))
        if self._ask == "auto" and server_kind(row.name) != "hosted":
            profile = await detect(route.model, row, self._transport, headers=headers)
        tool_mode = choose_mode(self._ask, profile, row, None).name
        return Setting(self.model, self._ask, tool_mode, self.policy, self.options)

    async def ask(self, question: Question) -> SavedAnswer:
        recorder = _Recorder(self._transport)
        start = time.perf_counter()
        ask = self._single if question.loop is None else self._loop
        try:
            answer = await ask(question, self._client(recorder))
        except UpstreamError as error:
            message = without_secrets(error.message) or "it failed without a message"
            answer = SavedAnswer(question.id, mark(question), error=message)
        seconds = round(time.perf_counter() - start, 3)
        return msgspec.structs.replace(answer, seconds=seconds, raw=tuple(map(without_secrets, recorder.bodies)))

    async def _single(self, question: Question, client: AsyncClient) -> SavedAnswer:
        """Like an agent: a rejected call goes back to the model. The result has the calls that would run; none is run."""
        agent = Agent(self.model, [_scripted(tool, question) for tool in question.tools], client=client, **self.options)
        loop = Loop(agent.request(question.messages, route=client.route(self.model)))
        reply, step = Reply(), loop.next()
        while isinstance(step, AskModel):
            reply = await client.complete(step.request, self.model, ask=self._ask)
            step = loop.next(reply)
        run = (step if isinstance(step, Done) else cast("Done", loop.next(Interrupted("stopped", "nothing is run here")))).run
        return SavedAnswer(
            question.id,
            mark(question),
            run.calls,
            run.text,
            run.decisions,
            None if reply.stop is None else reply.stop.reason,
            run.usage,
            turns=run.turns,
            notes=run.notes,
            error=None if reply.error is None else without_secrets(f"the answer was interrupted: {reply.error.message}"),
        )

    async def _loop(self, question: Question, client: AsyncClient) -> SavedAnswer:
        tools = [_scripted(tool, question) for tool in question.tools]
        agent = Agent(self.model, tools, client=client, max_turns=TURNS, cache=None, ask=self._ask, **self.options)
        run = await agent.run(question.messages)
        return SavedAnswer(
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
            mode_stats=self._stats,
            call_retries=0,  # the loop retries, as in an agent
        )


def _scripted(tool: Tool, question: Question) -> Runnable:
    async def run(_arguments: dict[str, Any], _context: Context) -> str:
        return question.result_of(tool.full_name)

    return Runnable(tool, run, source="question")


# -- the server's responses, unchanged


class _Recorder:
    """A transport that records the bodies of POST responses. It does not close the transport that it wraps."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._answers: list[_RecordedAnswer] = []

    @property
    def bodies(self) -> list[str]:
        return [b"".join(answer.pieces).decode("utf-8", "replace") for answer in self._answers]

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        answer = await self._transport.send(method, url, headers, body, limits=limits)
        if method != "POST":
            return answer
        self._answers.append(_RecordedAnswer(answer))
        return self._answers[-1]

    async def aclose(self) -> None:
        return


class _RecordedAnswer:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status, self.headers = answer.status, answer.headers
        self.pieces: list[bytes] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer:
            self.pieces.append(piece)
            yield piece

    async def read(self) -> bytes:
        body = await self._answer.read()
        self.pieces.append(body)
        return body

    async def aclose(self) -> None:
        await self._answer.aclose()

    def release(self) -> None:
        self._answer.release()
