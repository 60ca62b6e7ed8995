"""Messages that were read before are known by their bytes: the same result as if they were read again."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import msgspec
import pytest

from tests.laws.conversations import CASES, body
from toolglot import CallerError
from toolglot.core.request import Request
from toolglot.pipeline.request import request_bytes
from toolglot.pipeline.request.history_cache import HistoryCache
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.request.route import wire_format

CHAT, ANTHROPIC = "openai-chat", "anthropic"
encode = msgspec.json.encode


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> HistoryCache:
    cache = HistoryCache(least=0)
    monkeypatch.setattr(request_bytes, "_HISTORIES", cache)
    return cache


def read(data: bytes, wire: str = CHAT, owner: str = "", seen: list[bytes] | None = None) -> Request:
    return read_request_bytes(data, wire_format(wire).wire, None if seen is None else seen.append, owner)


def outcome(data: bytes, wire: str) -> Request | str:
    try:
        return read(data, wire)
    except CallerError as error:
        return str(error)


def chat(*texts: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts], **more}


@pytest.mark.parametrize("wire", [CHAT, ANTHROPIC])
@pytest.mark.parametrize("spaced", [False, True])
def test_a_growing_conversation_is_read_as_one_that_is_new(wire: str, spaced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in CASES:
        payload = body(case, wire, "request")
        bodies = [{**payload, "messages": payload["messages"][:number]} for number in range(1, len(payload["messages"]) + 1)]
        texts = [json.dumps(one, indent=1).encode() if spaced else encode(one) for one in bodies]
        growing = [outcome(text, wire) for text in texts]
        again = [outcome(text, wire) for text in reversed(texts)]
        with monkeypatch.context() as patch:
            patch.setattr(request_bytes, "_HISTORIES", HistoryCache(most=0))
            new = [outcome(text, wire) for text in texts]
        assert growing == new == again[::-1]


def test_only_what_is_new_is_checked() -> None:
    seen: list[bytes] = []
    for texts in (["one"], ["one", "two"], ["one", "two", "three"], ["one", "two", "other", "four"]):
        read(encode(chat(*texts)), seen=seen)
    assert b'"one"' in seen[0]
    assert b'"one"' not in seen[1]
    assert b'"two"' in seen[1]
    assert b'"two"' not in seen[2]
    assert b'"three"' in seen[2]
    assert b'"two"' not in seen[3]
    assert b'"other"' in seen[3]


def test_another_owner_does_not_find_them() -> None:
    seen: list[bytes] = []
    for owner in ("a", "b"):
        read(encode(chat("secret")), owner=owner, seen=seen)
    assert seen == [encode(chat("secret"))] * 2


def test_the_same_text_elsewhere_is_not_the_requests_messages() -> None:
    known = chat("one", "two")["messages"]
    read(encode(chat("one", "two")))
    seen: list[bytes] = []
    nested = encode({"metadata": {"messages": known}, **chat("mine")})
    assert [message.parts[0].text for message in read(nested, seen=seen).messages] == ["mine"]  # type: ignore[union-attr]
    assert seen[-1] == nested
    twice = encode(chat("one", "two"))[:-1] + b',"messages":[]}'  # the last one counts
    assert read(twice).messages == ()


def test_an_error_names_the_message_as_it_came(fresh: HistoryCache) -> None:
    for bad in ([*chat("one")["messages"], {"role": "nobody"}], [*chat("one")["messages"], 7]):
        data = encode({"model": "m", "messages": bad})
        with pytest.raises(CallerError) as unknown:
            read(data)
        read(encode(chat("one")))
        with pytest.raises(CallerError) as known:
            read(data)
        assert str(known.value) == str(unknown.value)
        assert "messages[1]" in str(known.value)
    broken = encode(chat("one", "two"))[:-3]
    assert outcome(broken, CHAT) == outcome(broken.replace(b"one", b"new"), CHAT)


def test_a_conversation_is_cached_once_and_all_are_bounded() -> None:
    cache = HistoryCache(most=3, most_bytes=1_000_000, least=0)
    request_bytes._HISTORIES = cache
    for number in range(1, 20):
        read(encode(chat(*map(str, range(number)))))
    assert len(cache) == 1
    for number in range(9):
        read(encode(chat(f"conversation {number}")))
    assert len(cache) == 3
    read(encode(chat("x" * 100_000)))
    assert len(cache) == 3  # one this large is not kept
    small = HistoryCache(most_bytes=20_000, least=0)
    request_bytes._HISTORIES = small
    for number in range(50):
        read(encode(chat(f"{number}: {'x' * 500}")))
    assert 3 <= len(small) <= 7


def test_a_short_history_is_not_kept() -> None:
    request_bytes._HISTORIES = cache = HistoryCache()
    read(encode(chat("short")))
    assert len(cache) == 0
    read(encode(chat("x" * 40_000)))
    assert len(cache) == 1


@pytest.mark.parametrize("value", ["[]", "{}", "1000", "1.5", '"a"', '{"a":1}'])
def test_the_memory_that_is_used_is_counted(value: str) -> None:
    """A block that is kept as it came takes up to 30 times its JSON."""
    cache = request_bytes._HISTORIES = HistoryCache(least=0)
    values = ",".join([value] * 20_000)
    data = f'{{"model":"m","messages":[{{"role":"user","content":[{{"type":"thing","a":[{values}]}}]}}]}}'.encode()
    read(encode(chat("warm")), ANTHROPIC)
    tracemalloc.start()
    read(data, ANTHROPIC)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert cache._bytes > 0.9 * used


def test_what_is_counted_does_not_depend_on_how_the_conversation_came() -> None:
    """Each message is weighed once, when it is new: turn by turn, and where the last ones change."""
    texts = [f"{at} {'{[,' * at}" for at in range(12)]

    def counted(*turns: list[str]) -> int:
        cache = request_bytes._HISTORIES = HistoryCache(least=0)
        for turn in turns:
            read(encode(chat(*turn)))
        return cache._bytes

    whole = counted(texts)
    assert whole > 0
    assert counted(*(texts[:end] for end in range(1, 13))) == whole
    assert counted([*texts[:9], "other", "last"], texts) == whole


@pytest.mark.parametrize("wire", [CHAT, ANTHROPIC])
def test_a_long_history_is_read_in_parts(wire: str) -> None:
    texts = [f"{at} {'x' * 600}" for at in range(2500)]
    request = read(encode(chat(*texts)), wire)
    assert [part.text for message in request.messages for part in message.parts] == texts  # type: ignore[union-attr]
    bad = chat(*texts)
    bad["messages"][2400]["role"] = 7
    with pytest.raises(CallerError, match=r"messages\[2400\]"):
        read(encode(bad), wire)
