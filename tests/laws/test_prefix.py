"""Law 7: within one tool mode the prompt of turn n is the beginning of the prompt of turn n+1, up to the new messages.

A sentence that toolglot adds may only stand at the very end of a prompt.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests.laws.conversations import CASES, meaning
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.io.json_codec import dumps
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.route import Route, WireFormat, resolve

REFUSALS = ((), ("late_system",), ("alternation", "late_system"), ("system", "tool", "alternation"))
SERVERS = (
    *("openai/gpt-5", "openai-responses/gpt-5", "anthropic/claude-opus-5"),
    *("gemini/gemini-3-pro", "gemini-interactions/gemini-3-pro", "ollama-cloud/kimi-k2"),
)
MODES = ("native", "dialect:hermes", "dialect:tagged", "dialect:qwen3_coder")
# sentences that stand at the end of a prompt with results
ADDED = ("Now answer the user", "Make the call that is needed now", " was not run yet.")


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def turn(number: int, name: str = "read_file", *, failed: bool = False) -> tuple[Message, Message]:
    call = ToolCall(f"call_{number:024x}", name, dumps({"path": f"f{number}"}))
    result = ToolResult(call.id, name, (Text(f"content {number}"),), is_error=failed)
    return Message("assistant", (Text(f"I read {number}."), call)), Message("tool", (result,))


def system(text: str, at: int) -> Message:
    return Message("system", (Text(f"x-anthropic-billing-header: cch={at};"), Text(text)))


LONG = (
    user("Read."),
    Message("system", (Text("A hook."),)),
    *turn(1),
    *turn(2, failed=True),
    Message("assistant", (Text("Done."),)),
    user("More."),
    user("Much more."),
    *turn(3),
    Message("system", (Text("A reminder."),)),
    *turn(4),
    user("Stop."),
    Message("assistant", (Text("Stopped."),)),
    Message("developer", (Text("Be brief."),)),
    user("Go on."),
    *turn(5),
)
TOOLS = tuple(
    Tool(f"{verb}_file", f"{verb} a file", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
    for verb in ("read", "write", "delete", "find")
)


def turns(messages: tuple[Message, ...]) -> list[tuple[Message, ...]]:
    """The conversation as it is sent in each turn: up to a message that is not the model's."""
    return [messages[: at + 1] for at, one in enumerate(messages) if one.role != "assistant"]


def prompt(request: Request, route: Route, ask: str) -> str:
    """All that becomes tokens, in the order in which a template renders it."""
    plan = fit_request(request, route, ask=ask)
    body: Any = write_request(plan.request, WireFormat(route.wire, route.provider.quirks), [])
    head = [body.pop(key, None) for key in ("tools", "system", "systemInstruction", "instructions")]
    messages = next(body[key] for key in ("messages", "input", "contents") if key in body)
    return dumps(head) + "".join(map(_flat, messages))


def _flat(value: Any) -> str:
    """The strings of a message without the brackets around them, which no template shows, and without signatures."""
    if isinstance(value, dict):
        return "\n" + "".join(_flat(inner) for key, inner in value.items() if key not in ("type", "role", "thoughtSignature"))
    if isinstance(value, list):
        return "".join(map(_flat, value))
    return str(value)


def without_added(text: str) -> str:
    places = [at for sentence in ADDED if (at := text.rfind(sentence)) >= 0]
    return text[: min(places)].rstrip() if places and min(places) > len(text) - 200 else text.rstrip()


def assert_prefixes(prompts: list[str]) -> None:
    for before, after in pairwise(prompts):
        start = without_added(before)
        same = next((at for at, (a, b) in enumerate(zip(start, after, strict=False)) if a != b), min(len(start), len(after)))
        assert same == len(start), (start[max(0, same - 80) : same + 80], after[max(0, same - 80) : same + 80])


@pytest.mark.parametrize("ask", MODES)
@pytest.mark.parametrize("refuses", REFUSALS)
@pytest.mark.parametrize("multi_turn", ["poor", "excellent"])
def test_a_long_session(ask: str, refuses: tuple[str, ...], multi_turn: str) -> None:
    route = resolve("vllm/my-model")
    known = msgspec.structs.replace(route.profile, refuses=refuses, multi_turn=multi_turn, parameters=3.0, family="fam")
    route = msgspec.structs.replace(route, profile=known)
    sent = [(system("You are an agent.", at), *messages) for at, messages in enumerate(turns(LONG))]
    assert_prefixes([prompt(Request("m", messages, TOOLS), route, ask) for messages in sent])


@pytest.mark.parametrize("server", SERVERS)
def test_a_long_session_on_each_wire(server: str) -> None:
    route = resolve(server)
    sent = [(Message("system", (Text("You are an agent."),)), *messages) for messages in turns(LONG)]
    assert_prefixes([prompt(Request("m", messages, TOOLS), route, "auto") for messages in sent])


@pytest.mark.parametrize("ask", MODES[:2])
@pytest.mark.parametrize("case", CASES)
def test_each_fixture(case: str, ask: str) -> None:
    request = meaning(case).request
    sent = [msgspec.structs.replace(request, messages=messages) for messages in turns(request.messages)]
    assert_prefixes([prompt(one, resolve("vllm/qwen3-8b"), ask) for one in sent])


@pytest.mark.parametrize("ask", MODES[:2])
def test_too_many_tools_are_the_same_from_one_question_to_the_next(ask: str) -> None:
    route = resolve("vllm/my-model")
    route = msgspec.structs.replace(route, profile=msgspec.structs.replace(route.profile, max_tools=2))
    steps = (*turn(1), user("Hook: find and delete."), *turn(2), Message("assistant", (Text("Find, delete."),)))
    sent = turns((user("Read and write it."), *steps))
    assert_prefixes([prompt(Request("m", messages, TOOLS), route, ask) for messages in sent])
