"""SGLang: detectors for every dialect, as a plugin: `sglang serve ... --tool-call-parser toolglot`.

`toolglot` recognizes the dialect; `toolglot_<dialect>` expects one. SGLang finds them by the entry point `sglang.srt.plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.integrations.engine_parser import EngineParser, Found, parser_names, remember

_INTERFACE = "sglang.srt.function_call"
_SIGNS = "{(<[:"  # a call in any dialect has one of these


def register() -> None:
    """Make the detectors known to SGLang."""
    interface: Any = import_module(f"{_INTERFACE}.base_format_detector").BaseFormatDetector
    known = import_module(f"{_INTERFACE}.function_call_parser").FunctionCallParser.ToolCallParserEnum
    types = import_module(f"{_INTERFACE}.core_types")
    for name, dialect in parser_names().items():
        known[name] = type(name, (_Detector, interface), {"dialect": dialect, "types": types})


class _Detector:
    """What is ours of a detector; the rest is SGLang's BaseFormatDetector."""

    dialect: str
    types: Any
    _stream: EngineParser | None = None

    def has_tool_call(self, text: str) -> bool:
        """Only whether it is worth looking: here the tools are not known."""
        return any(sign in text for sign in _SIGNS)

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        found = self._new(tools).whole(text)
        names = [tool.function.name for tool in tools]
        return self._result(found, [self._item(names.index(call.name), call) for call in found.calls])

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        if self._stream is None:
            self._stream = self._new(tools)
        return self._streamed(self._stream.feed(new_text))

    def finish(self, tools: list[Any]) -> Any:
        return self._result(Found(), []) if self._stream is None else self._streamed(self._stream.close())

    def supports_structural_tag(self) -> bool:
        return False  # for a required call SGLang constrains the answer to JSON, and parses it itself

    def structure_info(self) -> Any:
        raise NotImplementedError("without structural tags there is none")

    def _new(self, tools: Iterable[Any]) -> EngineParser:
        return EngineParser(self.dialect, [tool.model_dump(mode="json", exclude_none=True) for tool in tools])

    def _streamed(self, found: Found) -> Any:
        return self._result(found, [self._item(remember(self, call), call) for call in found.calls])

    def _item(self, index: int, call: ToolCall) -> Any:
        return self.types.ToolCallItem(tool_index=index, name=call.name, parameters=call.arguments_json)

    def _result(self, found: Found, items: list[Any]) -> Any:
        return self.types.StreamingParseResult(normal_text=found.text, calls=items)
