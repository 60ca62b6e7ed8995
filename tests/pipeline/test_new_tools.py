"""What new tools cost: the patterns that don't contain their names are compiled once, for all tools."""

from __future__ import annotations

import toolglot
from toolglot.pipeline.response.tool_call_scanner import _markers

TEXT = '<tool_call>{{"name": "{}", "arguments": {{}}}}</tool_call>'


def test_new_tools_share_the_patterns_without_a_name() -> None:
    """A name with `_` is also found with markdown's escapes; neither form goes into the shared pattern."""
    toolglot.extract(TEXT.format("read_file"), [{"name": "read_file"}])
    before = _markers.cache_info().misses
    for at in range(5):
        name = f"read_new_file_{at}"
        assert [call.name for call in toolglot.extract(TEXT.format(name), [{"name": name}]).calls] == [name]
    assert _markers.cache_info().misses == before
