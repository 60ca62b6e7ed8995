"""A model without native tools does a two-step job in each framework, whole and streamed. test_hosts.py runs each in its host.

`main(name)` prints the answer and the calls of each way as JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.integrations.hosts.text_server import QUESTION, serving, two_steps, with_final_answer

USERS, BALANCES = {"Ada": "u-17"}, {"u-17": 42}
Result = tuple[str, list[Any]]  # the answer, and the calls that ran
CALLS: list[Any] = []
SEEN: list[Any] = []  # streamed events


def find_user(name: str) -> str:
    """The id of a user.

    Args:
        name: The user's first name.
    """
    CALLS.append(["find_user", name])
    return USERS[name]


def get_balance(user_id: str) -> str:
    """A user's balance in euros.

    Args:
        user_id: The id that find_user returned.
    """
    CALLS.append(["get_balance", user_id])
    return f"{BALANCES[user_id]} euros"


def pydantic_ai(url: str, *, stream: bool) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from toolglot.integrations.pydantic_ai import ToolglotModel

    model = OpenAIChatModel("plain", provider=OpenAIProvider(base_url=url, api_key="any"))
    agent = Agent(ToolglotModel(model, ask="dialect:hermes"), tools=[find_user, get_balance], instructions="Be brief.")

    async def see(_: Any, events: Any) -> None:
        SEEN.append([event async for event in events])

    return str(agent.run_sync(QUESTION, event_stream_handler=see if stream else None).output)


def openai_agents(url: str, *, stream: bool) -> str:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    from toolglot.integrations.openai_agents import ToolglotModel

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("plain", AsyncOpenAI(base_url=url, api_key="any"))
    tools = [function_tool(find_user), function_tool(get_balance)]
    agent = Agent(name="a", instructions="Be brief.", model=ToolglotModel(model, ask="dialect:hermes"), tools=tools)

    async def work() -> str:
        if not stream:
            return str((await Runner.run(agent, QUESTION)).final_output)
        result = Runner.run_streamed(agent, QUESTION)
        SEEN.append([event async for event in result.stream_events()])
        return str(result.final_output)

    return asyncio.run(work())


def smolagents(url: str, *, stream: bool) -> str:
    from smolagents import OpenAIModel, ToolCallingAgent, tool

    from toolglot.integrations.smolagents import ToolglotModel

    model = ToolglotModel(OpenAIModel("plain", api_base=url, api_key="any"), ask="dialect:hermes")
    agent = ToolCallingAgent([tool(find_user), tool(get_balance)], model, stream_outputs=stream, verbosity_level=0, max_steps=4)
    return str(agent.run(QUESTION))


def llama_index(url: str, *, stream: bool) -> str:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    from toolglot.integrations.llama_index import ToolglotLLM

    model = OpenAILike(model="plain", api_base=url, api_key="any", is_chat_model=True)
    agent = FunctionAgent(tools=[find_user, get_balance], llm=ToolglotLLM(model), system_prompt="Be brief.", streaming=stream)

    async def work() -> str:
        handler = agent.run(QUESTION)
        SEEN.append([event async for event in handler.stream_events()])
        return str(await handler)

    return asyncio.run(work())


def langchain(url: str, *, stream: bool) -> str:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from toolglot.integrations.langchain import ToolglotMiddleware

    model = ChatOpenAI(model="plain", base_url=url, api_key="any", streaming=stream)
    middleware = [ToolglotMiddleware(ask="dialect:hermes")]
    agent = create_agent(model, [find_user, get_balance], system_prompt="Be brief.", middleware=middleware)
    asked: Any = {"messages": [{"role": "user", "content": QUESTION}]}
    if stream:
        return str(asyncio.run(agent.ainvoke(asked))["messages"][-1].content)
    return str(agent.invoke(asked)["messages"][-1].content)


def main(name: str) -> None:
    work: Callable[..., str] = globals()[name]
    found = {}
    for way in ("whole", "streamed"):
        CALLS.clear()
        script = with_final_answer if name == "smolagents" else two_steps
        with serving(script) as (url, requests):
            answer = work(url, stream=way == "streamed")
            streamed = [bool(body.get("stream")) for body in requests]
        found[way] = [answer, list(CALLS), streamed]
    print(f"\n{json.dumps(found)}")  # smolagents leaves its last line open
