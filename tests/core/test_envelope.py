"""State of one wire, sealed for the way through another."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.envelope import seal, unseal
from toolglot.core.messages import Extra

STATE: Extra = {"anthropic": {"signature": "Eq0B", "n": [1, None]}, "openai-responses": {"id": "rs_1", "more": {"a": "\u00fc"}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(["anthropic", "gemini"]),
        st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, min_size=1),
        min_size=1,
    )
)
def test_round_trip(extra: Extra) -> None:
    sealed = seal(extra, but="openai-chat")
    assert sealed is not None
    assert b64decode(sealed, validate=True).startswith(b"toolglot:")
    assert unseal(sealed) == extra


def test_state_of_the_same_wire_is_not_sealed() -> None:
    assert unseal(seal(STATE, but="anthropic")) == {"openai-responses": STATE["openai-responses"]}
    assert seal({"anthropic": {"signature": "s"}}, but="anthropic") is None
    assert seal({"gemini": {}}, but="anthropic") is None
    assert seal({}, but="anthropic") is None


MARK = b64encode(b"toolglot:").decode()


def wrapped(data: bytes) -> str:
    return MARK + b64encode(data).decode()


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        b"dG9vbGdsb3Q6",
        "",
        "Eq0B",
        MARK,
        MARK + "!",
        MARK + "\u00fc",
        MARK + "e30",
        MARK + "*" + wrapped(b'{"a": {"b": 1}}').removeprefix(MARK),
        wrapped(b"{"),
        wrapped(b"[]"),
        wrapped(b'{"anthropic": 1}'),
        wrapped(b'{"anthropic": [1]}'),
        wrapped(b"\xff\xfe"),
        wrapped(b'{"a":' * 100_000),
    ],
)
def test_a_foreign_string_is_not_unsealed(text: object) -> None:
    assert unseal(text) is None


@given(st.binary(), st.integers(0, 200), st.integers(0, 255))
def test_damage_never_raises(noise: bytes, at: int, byte: int) -> None:
    unseal(MARK + noise.decode("latin-1"))
    sealed = bytearray((seal(STATE, but="x") or "").encode())
    sealed[at % len(sealed)] = byte
    unseal(sealed.decode("latin-1"))
