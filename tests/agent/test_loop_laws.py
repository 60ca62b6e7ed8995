"""Whatever a model replies, the loop ends, and every call has exactly one result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.agent.test_loop import REQUEST, answered, results
from toolglot.agent.limits import Limits
from toolglot.agent.loop import AskModel, Done, Interrupted, Loop, RunTools
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Decision, Reply, Stop, Usage
from toolglot.errors import UpstreamError

IDS = st.sampled_from(["", "a", "b", "call_0", "get_weather_0"])
MADE = st.builds(
    ToolCall,
    IDS,
    st.sampled_from(["get_weather", "launch", ""]),
    st.sampled_from(["{}", '{"city":"Rome"}', '{"city":"Oslo"}', "[", ""]),
    sealed=st.booleans(),
)
CODES = st.sampled_from(
    ["rejected_schema", "rejected_unknown_tool", "rejected_truncated", "rejected_malformed", "rescued_text"]
)
REPLIES = st.builds(
    Reply,
    parts=st.lists(st.builds(Text, st.sampled_from(["", "hi"])) | MADE, max_size=4).map(tuple),
    stop=st.none() | st.builds(Stop, st.sampled_from(["stop", "calls", "length", "pause"])),
    usage=st.none() | st.builds(Usage, st.integers(0, 50), st.none() | st.integers(0, 50)),
    decisions=st.lists(st.builds(Decision, CODES, st.just("x: why"), st.none() | MADE), max_size=3).map(tuple),
    error=st.none() | st.sampled_from([None, None, UpstreamError("broke", 500)]),
)


@given(st.lists(REPLIES, min_size=1, max_size=8), st.integers(1, 12), st.none() | st.integers(1, 200), st.integers(0, 30))
def test_whatever_is_replied_it_ends_and_every_call_has_one_result(
    replies: list[Reply], turns: int, tokens: int | None, stop_at: int
) -> None:
    loop = Loop(REQUEST, Limits(turns=turns, tokens=tokens))
    step = loop.next()
    ran: list[str] = []
    steps = 0
    while not isinstance(step, Done):
        steps += 1
        assert steps <= 2 * turns + 1
        if isinstance(step, RunTools):
            ran += [call.id for call in step.calls]
        if steps == stop_at:
            step = loop.next(Interrupted("stopped", "enough", reply=replies[0]))
        elif isinstance(step, AskModel):
            step = loop.next(replies[(step.turn - 1) % len(replies)])
        else:
            step = loop.next(results(step, str(steps)))
    assert len(ran) == len(set(ran))
    assert [call.id for call in step.run.calls] == ran
    assert step.run.turns <= turns
    assert step.run.why
    answered(step.run)
