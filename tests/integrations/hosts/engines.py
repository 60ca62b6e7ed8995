"""Replays all fixtures of the dialects through the parsers of vLLM and SGLang, in the order in which the servers call them.

test_hosts.py runs it in the environment `engines`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tests.integrations.hosts import interface_modules, pages
from tests.integrations.hosts.own_strings import sglang_cases, vllm_cases
from tests.integrations.hosts.text_server import two_steps
from tests.laws.dialect_cases import ALL, Case
from toolglot.pipeline.formats import format_tools

VLLM = (
    "vllm.envs",
    "vllm.exceptions",
    "vllm.utils.collection_utils",
    "vllm.utils.import_utils",
    "vllm.entrypoints.serve.engine.protocol",
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.chat_completion.protocol",
    "vllm.tool_parsers.abstract_tool_parser",
    "vllm.parser.abstract_parser",
)
SGLANG = (
    "sglang.srt.entrypoints.openai.protocol",
    "sglang.srt.function_call.*",
)
SIZES = (1, 7)
FIXTURES = [(name, case) for dialect, case in ALL for name in (f"toolglot_{dialect}", "toolglot")]
Result = tuple[str, list[tuple[str, Any]]]  # the text, and the calls


def pieces(text: str, size: int) -> Iterator[tuple[str, bool]]:
    """The deltas, and whether each is the last."""
    starts = range(0, len(text), size)
    return ((text[at : at + size], at == starts[-1]) for at in starts)


def plug_in(group: str) -> None:
    """As the servers do it."""
    for point in entry_points(group=group):
        point.load()()


class Vllm:
    def __init__(self, files: Path) -> None:
        interface_modules.use(files, *VLLM)
        self.protocol: Any = import_module("vllm.entrypoints.openai.chat_completion.protocol")
        self.parsers: Any = import_module("vllm.tool_parsers.abstract_tool_parser").ToolParserManager
        self.delegating: Any = import_module("vllm.parser.abstract_parser").DelegatingParser
        plug_in("vllm.general_plugins")
        pages.main("vllm.md", two_steps)

    def parser(self, name: str, case: Case) -> tuple[Any, Any]:
        found = self.parsers.get_tool_parser(name)
        tools = [self.protocol.ChatCompletionToolsParam(**tool) for tool in chat_tools(case)]
        messages = [{"role": "user", "content": "Go on."}]
        request = self.protocol.ChatCompletionRequest(messages=messages, model="m", tools=tools, tool_choice="auto")
        parser = type("Parser", (self.delegating,), {"tool_parser_cls": found})(object(), tools)
        return parser, parser.adjust_request(request)

    def whole(self, name: str, case: Case) -> Result:
        parser, request = self.parser(name, case)
        assert request.skip_special_tokens is False
        _, content, calls = parser.parse(case.text, request, enable_auto_tools=True)
        return content or "", [(call.name, json.loads(call.arguments)) for call in calls or ()]

    def streamed(self, name: str, case: Case, size: int) -> Result:
        parser, request = self.parser(name, case)
        text, calls = "", dict[int, list[str]]()
        for delta, last in pieces(case.text, size):
            message = parser.parse_delta(delta, [1], request, [], finished=last)
            if message is None:
                continue
            text += message.content or ""
            for call in message.tool_calls:
                known = calls.setdefault(call.index, ["", ""])
                known[0] += call.function.name or ""
                known[1] += call.function.arguments or ""
        assert list(calls) == list(range(len(calls)))
        return text, [(name, json.loads(arguments)) for name, arguments in calls.values()]


class Sglang:
    def __init__(self, files: Path) -> None:
        interface_modules.use(files, *SGLANG)
        self.protocol: Any = import_module("sglang.srt.entrypoints.openai.protocol")
        self.parser_class: Any = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
        plug_in("sglang.srt.plugins")
        pages.main("sglang.md", two_steps)

    def parser(self, name: str, case: Case) -> Any:
        tools = [self.protocol.Tool(**tool) for tool in chat_tools(case)]
        return self.parser_class(tools, name)

    def whole(self, name: str, case: Case) -> Result:
        parser = self.parser(name, case)
        if not parser.has_tool_call(case.text):
            return case.text, []
        text, calls = parser.parse_non_stream(case.text)
        return text, [(call.name, json.loads(call.parameters)) for call in calls]

    def streamed(self, name: str, case: Case, size: int) -> Result:
        parser = self.parser(name, case)
        text, calls = "", dict[int, list[str]]()
        for delta, last in pieces(case.text, size):
            for normal, items in (parser.parse_stream_chunk(delta), parser.parse_stream_end() if last else ("", [])):
                text += normal
                for item in items:
                    known = calls.setdefault(item.tool_index, ["", ""])
                    known[0] += item.name or ""
                    known[1] += item.parameters
        assert list(calls) == list(range(len(calls)))
        return text, [(name, json.loads(arguments)) for name, arguments in calls.values()]


def chat_tools(case: Case) -> list[dict[str, Any]]:
    """The tools whose names Chat allows."""
    own = [tool.full_name for tool in case.toolset]
    return [tool for tool in format_tools(case.toolset, "openai-chat") if tool["function"]["name"] in own]


def possible(case: Case) -> bool:
    """Whether a server can get it: with tools, named as Chat allows, and the reasoning taken away by a parser of its own."""
    names = {tool["function"]["name"] for tool in chat_tools(case)}
    called = {name for name, _ in case.wanted}
    return bool(names) and called <= names and case.policy == "balanced" and not case.starts_in_reasoning


def replay(engine: Vllm | Sglang, cases: Iterable[tuple[str, Case]]) -> tuple[int, list[str]]:
    """How many responses were parsed, and what went wrong. `cases`: each with the name of a parser."""
    count, wrong = 0, []
    for name, case in cases:
        if not possible(case):
            continue
        whole = engine.whole(name, case)
        for result in (whole, *(engine.streamed(name, case, size) for size in SIZES)):
            count += 1
            if result[1] != case.wanted or result[0].split() != whole[0].split():
                wrong.append(f"{case.name}, {name}: {result}")
    return count, wrong


def main(engine: str, files: str, sources: str = "") -> None:
    """All fixtures; with `sources`, the texts in the engine's own tests."""
    host = Vllm(Path(files)) if engine == "vllm" else Sglang(Path(files))
    own = {"vllm": vllm_cases, "sglang": sglang_cases}[engine]
    cases = [("toolglot", case) for case in own(Path(sources) / engine)] if sources else FIXTURES
    done, failures = replay(host, cases)
    print(f"\n{json.dumps({'parsed': done, 'wrong': failures})}")
