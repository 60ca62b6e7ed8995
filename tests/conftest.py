"""The same examples in every run, so that a red run is a change's doing; no time limits, for machines are loaded."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import own_cache

os.environ["TOOLGLOT_REMEMBER"] = "0"  # what tests ask for says nothing about models; those of the memory turn it on

own_cache.use_own_cache()

gc.set_threshold(10_000, 20, 20)  # a fifth of the time went into looking at 500,000 objects that stay

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background, and so in what tests start

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)  # HYPOTHESIS_PROFILE=searching looks for new ones
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

pytest_plugins = ["tests.llamacpp", "tests.node", "tests.integrations.hosts.environments"]


@pytest.fixture(autouse=True)
def _users_cache_untouched() -> Iterator[None]:
    own_cache.leaks.clear()
    yield
    assert own_cache.leaks == []
