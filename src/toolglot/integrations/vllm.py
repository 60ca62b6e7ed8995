"""vLLM: tool parsers for every dialect, as a plugin: `vllm serve ... --enable-auto-tool-choice --tool-call-parser toolglot`.

`toolglot` recognizes the dialect; `toolglot_<dialect>` expects one. vLLM finds them by the entry point `vllm.general_plugins`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from toolglot.integrations.engine_parser import EngineParser, Found, parser_names, remember

_INTERFACE = "vllm.tool_parsers.abstract_tool_parser"
_PROTOCOL = "vllm.entrypoints.generate.base.protocol"


def register() -> None:
    """Make the parsers known to vLLM. Nothing else is imported until one is used."""
    manager = import_module(_INTERFACE).ToolParserManager
    for name in parser_names():
        manager.register_lazy_module(name, __name__, name)


def __getattr__(name: str) -> type:
    dialect = parser_names().get(name)
    if dialect is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    interface: Any = import_module(_INTERFACE).ToolParser
    found = type(name, (_Parser, interface), {"dialect": dialect, "protocol": import_module(_PROTOCOL)})
    globals()[name] = found
    return found


class _Parser:
    """What is ours of a parser; the rest is vLLM's ToolParser."""

    engine_based_streaming = True  # vLLM calls `finish_streaming` then
    dialect: str
    protocol: Any
    _stream: EngineParser | None = None

    def adjust_request(self, request: Any) -> Any:
        request = super().adjust_request(request)  # type: ignore[misc]
        if request.tools and request.tool_choice != "none":
            request.skip_special_tokens = False  # the markers may be special tokens
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        parser = self._new(request)
        found = Found(model_output) if parser is None else parser.whole(model_output)
        calls = [
            self.protocol.ToolCall(
                id=call.id, function=self.protocol.FunctionCall(id=call.id, name=call.name, arguments=call.arguments_json)
            )
            for call in found.calls
        ]
        return self.protocol.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=found.text or None
        )

    def extract_tool_calls_streaming(  # noqa: PLR0917  (as vLLM calls it)
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Any,
        current_token_ids: Any,
        delta_token_ids: Any,
        request: Any,
    ) -> Any:
        self._stream = self._stream or self._new(request)  # vLLM makes a parser for each response
        return self._message(Found(delta_text) if self._stream is None else self._stream.feed(delta_text))

    def finish_streaming(self) -> Any:
        ended, self._stream = self._stream, None
        return None if ended is None else self._message(ended.close())

    def _new(self, request: Any) -> EngineParser | None:
        if not request.tools or request.tool_choice == "none":
            return None
        given = request.model_dump(mode="json", include={"tools", "messages", "input"}, exclude_none=True)
        messages = given.get("messages") or given.get("input")
        return EngineParser(self.dialect, given["tools"], messages if isinstance(messages, list) else ())

    def _message(self, found: Found) -> Any:
        deltas = []
        for call in found.calls:
            function = self.protocol.DeltaFunctionCall(name=call.name, arguments=call.arguments_json)
            index = remember(self, call)
            deltas.append(self.protocol.DeltaToolCall(id=call.id, type="function", index=index, function=function))
        if not (deltas or found.text):
            return None
        return self.protocol.DeltaMessage(content=found.text or None, tool_calls=deltas)
