"""Law 5 for contents: a value comes back byte for byte, or the call is rejected with a reason. It is never cut, and a call
inside a value never leaves.

One thing no text can show: a value that ends with an unfinished call of its own dialect, which the real end then closes. In a
dialect without escapes that text is two calls. Where a call was copied from is what tells them apart (provenance).
"""

from __future__ import annotations

import pytest

from tests.cutting import cut
from tests.laws.hard_values import INNER, PLAIN, SHAPES, TOOLS, around, call, is_raw, markup, own_marks, rendered, written
from toolglot import Extraction, StreamExtractor
from toolglot.dialects import dialect_names

RAW = {name for name in dialect_names() if is_raw(name)}
OWN_TAGS = {"cline_xml": {"closing tags of the arguments"}}  # what counts as the dialect's own marks besides `own_marks`
LONG = 1000  # longer values are not streamed in small pieces


def parsed(text: str, dialect: str, size: int | None = None, policy: str = "balanced", calls: str = "hold") -> Extraction:
    extractor = StreamExtractor(TOOLS, dialect=dialect, policy=policy, calls=calls)  # type: ignore[arg-type]
    for piece in cut(text, size):
        extractor.feed(piece)
    extractor.close()
    return extractor.result()


def is_exact(found: Extraction, value: str, shape: str) -> bool:
    """False: it was rejected, with a reason. Anything else fails."""
    calls = [(one.name, one.arguments) for one in found.calls if one.sealed]
    if calls:
        assert calls == [("write_file", SHAPES[shape](value))]
        return True
    assert any(decision.code.startswith("rejected_") for decision in found.decisions)
    return False


def test_there_are_a_hundred_hard_values() -> None:
    assert len(PLAIN) + len(set(markup().values())) >= 100
    assert INNER.name in {tool.name for tool in TOOLS}
    assert {"qwen3_coder", "glm45", "gemma4", "functiongemma", "minimax_m3", "cline_xml", "deepseek_v32", "kimi_k3"} <= RAW


@pytest.mark.parametrize("dialect", dialect_names())
def test_every_value_comes_back(dialect: str) -> None:
    for name, value in (PLAIN | markup()).items():
        for shape in ("last", "first"):
            text = rendered(dialect, call(value, shape))
            sizes = [None, 11] if shape == "last" and len(value) <= LONG else [None]
            exact = [is_exact(parsed(text, dialect, size), value, shape) for size in sizes]
            assert all(exact) or name in OWN_TAGS.get(dialect, ()), (name, shape)


@pytest.mark.parametrize("dialect", dialect_names())
def test_its_own_marks_come_back_or_are_rejected(dialect: str) -> None:
    for name, value in own_marks(dialect).items():
        for shape in SHAPES:
            text = rendered(dialect, call(value, shape))
            whole = is_exact(parsed(text, dialect), value, shape)
            assert whole or dialect in RAW, (name, shape)
            for size in (1, 7):
                assert is_exact(parsed(text, dialect, size), value, shape) == whole
            is_exact(parsed(text, "auto"), value, shape)
            is_exact(parsed(text, dialect, policy="strict"), value, shape)
            is_exact(parsed(text, dialect, policy="eager"), value, shape)
            is_exact(parsed(text, dialect, 7, calls="pass"), value, shape)


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_marks_that_a_model_does_not_escape_come_back_or_are_rejected(dialect: str) -> None:
    """Some renderers escape what the dialect's own template does not."""
    for value in (own_marks(dialect) | markup()).values():
        if value[:1] + value[-1:] == (value[:1] + value[-1:]).strip("\n"):  # line breaks at the ends may be the template's
            for shape in ("last", "first"):
                for size in (None, 7):
                    is_exact(parsed(written(dialect, value, shape), dialect, size), value, shape)


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_a_complete_call_of_its_own_is_part_of_the_value(dialect: str) -> None:
    value = f"before\n{rendered(dialect, INNER)}\nbehind"
    assert is_exact(parsed(rendered(dialect, call(value)), dialect), value, "last")


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_no_call_leaves_between_a_torn_value_and_its_end(dialect: str) -> None:
    """The value closes the call, then comes a call in another dialect, and text."""
    behind = around(dialect)[1]
    for other in ("hermes", "fenced_json", "call_expression", "mistral"):
        value = f"a{behind}\n\n{rendered(other, INNER)}\n\nb"
        for size in (None, 3):
            assert not is_exact(parsed(written(dialect, value), dialect, size), value, "last")
