"""`Client`, the twin for programs without an event loop: its threads, its end, and who may wait for what."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from inspect import signature

import pytest

from tests.agent.scripted import Scripted, serving, text_reply
from toolglot import AsyncClient, CallerError, Client, ToolglotError, UpstreamError
from toolglot.client.async_client import ClientOptions
from toolglot.client.retry import Policy


def test_the_blocking_twin() -> None:
    with Client("openai/m", base_url="http://127.0.0.1:9", api_key="k", retries=Policy(attempts=1)) as client:
        with pytest.raises(UpstreamError) as caught:
            client.complete("hello")
        assert caught.value.code == "connect_failed"
        with pytest.raises(UpstreamError):
            list(client.stream("hello"))


def test_the_text_of_a_reply() -> None:
    transport = Scripted(text_reply("It is| mild."), text_reply("It is| mild.")[:2], text_reply("It is| mild."))
    with Client("openai/m", api_key="k", transport=transport) as client:
        assert "".join(client.stream_text("hello")) == "It is mild."
        with pytest.raises(UpstreamError):
            list(client.stream_text("hello"))

        async def work() -> str:
            asking = AsyncClient("openai/m", api_key="k", transport=transport)
            return "".join([text async for text in asking.stream_text("hello", temperature=0)])

        assert asyncio.run(work()) == "It is mild."
    assert transport.sent[2]["temperature"] == 0


def test_the_typed_options_are_those_of_the_async_client() -> None:
    assert set(signature(AsyncClient).parameters) - {"model"} == ClientOptions.__optional_keys__


def test_a_blocking_client_that_is_closed_says_so_and_one_that_is_dropped_leaves_no_thread() -> None:
    with Client("openai/m", base_url="http://127.0.0.1:9", api_key="k") as client:
        begun = client.stream("hello")
    for use in (lambda: client.complete("hello"), lambda: next(begun)):
        with pytest.raises(CallerError, match="closed"):
            use()
    client.close()
    dropped = Client("openai/m", api_key="k")
    thread = dropped._thread._thread
    assert thread.is_alive()
    del dropped
    gc.collect()
    assert not thread.is_alive()


def test_closing_a_blocking_client_cuts_off_what_other_threads_wait_for() -> None:
    patient = Policy(first=60.0, most=60.0)
    client = Client("openai/m", base_url="http://127.0.0.1:9", api_key="k", retries=patient)
    ended: list[Exception] = []

    def work() -> None:
        try:
            client.complete("hello")
        except ToolglotError as error:
            ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while not asyncio.all_tasks(client._thread._loop):
        time.sleep(0.01)
    client.close()
    thread.join()
    assert ["closed" in str(error) for error in ended] == [True]


def test_a_blocking_stream_may_be_dropped_by_the_clients_own_thread() -> None:
    """A garbage collection there would else wait for itself."""
    ended = threading.Event()
    with serving(text_reply("Well")) as (address, _), Client("openai/m", base_url=address, api_key="k") as client:
        events = client.stream("hello")
        next(events)

        def drop() -> None:
            events.close()  # type: ignore[attr-defined]
            ended.set()

        client._thread._loop.call_soon_threadsafe(drop)
        assert ended.wait(300)
        assert client._thread.run(asyncio.sleep(0, "alive")) == "alive"


FORKED = """
import os, sys
from toolglot import CallerError, Client
client = Client("openai/m", base_url="http://127.0.0.1:9", api_key="k")
if os.fork() == 0:
    try:
        client.complete("hello")
    except CallerError as error:
        print(error, flush=True)
    sys.exit()  # what is done at a program's end is done here too
_, status = os.wait()
client.close()
print("left with", status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_in_a_forked_process_it_says_so_and_neither_waits_nor_keeps_the_process() -> None:
    ended = subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=300, capture_output=True, text=True)
    told, left = ended.stdout.splitlines()
    assert told == "client: it was created before this process was forked: create one in each process"
    assert left == "left with 0"
