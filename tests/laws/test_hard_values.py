"""Law 5 for contents: a value comes back byte for byte, or the call is rejected with a reason. It is never cut, and a call
inside a value never leaves.

One thing no text can show: a value that ends with an unfinished call of its own dialect, which the real end then closes. In a
dialect without escapes that text is two calls. Where a call was copied from is what tells them apart (provenance).
"""

from __future__ import annotations

import pytest

from toolglot.dialects import dialect_names
from toolglot.evaluation.dialect_laws import is_exact, parsed
from toolglot.evaluation.hard_values import (
    INNER,
    PLAIN,
    TOOLS,
    around,
    call,
    is_raw,
    markup,
    own_marks,
    rendered,
    written,
)

RAW = {name for name in dialect_names() if is_raw(name)}


def test_there_are_a_hundred_hard_values() -> None:
    assert len(PLAIN) + len(set(markup().values())) >= 100
    assert INNER.name in {tool.name for tool in TOOLS}
    assert {"qwen3_coder", "glm45", "gemma4", "functiongemma", "minimax_m3", "cline_xml", "deepseek_v32", "kimi_k3"} <= RAW


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_marks_that_a_model_does_not_escape_come_back_or_are_rejected(dialect: str) -> None:
    """Some renderers escape what the dialect's own template does not."""
    for value in (own_marks(dialect) | markup()).values():
        if value[:1] + value[-1:] == (value[:1] + value[-1:]).strip("\n"):  # line breaks at the ends may be the template's
            for shape in ("last", "first"):
                for size in (None, 7):
                    assert is_exact(parsed(written(dialect, value, shape), TOOLS, dialect, size), value, shape) is not None


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_a_complete_call_of_its_own_is_part_of_the_value(dialect: str) -> None:
    value = f"before\n{rendered(dialect, INNER)}\nbehind"
    assert is_exact(parsed(rendered(dialect, call(value)), TOOLS, dialect), value, "last")


@pytest.mark.parametrize("dialect", sorted(RAW))
def test_no_call_leaves_between_a_torn_value_and_its_end(dialect: str) -> None:
    """The value closes the call, then comes a call in another dialect, and text."""
    behind = around(dialect)[1]
    for other in ("hermes", "fenced_json", "call_expression", "mistral"):
        value = f"a{behind}\n\n{rendered(other, INNER)}\n\nb"
        for size in (None, 3):
            assert is_exact(parsed(written(dialect, value), TOOLS, dialect, size), value, "last") is False
