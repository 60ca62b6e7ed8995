"""What has worked on this machine must not steer the tests, nor what they do be remembered."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "0")
