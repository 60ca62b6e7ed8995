"""The tool parsers of vLLM and SGLang, as their packages have them: `engines_adapter.py vllm` or `sglang`.

It runs in the environment of `tests/integrations/hosts`, which has the packages' Python files; torch and the like are absent.
vLLM's parsers get a tokenizer that knows every token. A dialect counts only if the engine has a parser for it that reads the
dialect's simplest vector here, so that what is absent is not held against it. Streams do not count: the engines cut them at
tokens, which a text does not have.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from loop import Body, UnsupportedError, serve

sys.path.insert(0, str(Path(__file__).parents[2]))
from conformance.vectors import vectors
from tests.integrations.hosts import interface_modules

FILES = Path(sys.prefix) / "files"
VLLM = {  # dialect -> parser, where the names differ
    "granite3": "granite",
    "granite_20b_fc": "granite-20b-fc",
    "hunyuan_v3": "hy_v3",
    "internlm2": "internlm",
    "minicpm5_xml": "minicpm5",
    "phi4_mini": "phi4_mini_json",
}
SGLANG = {
    "deepseek_v3": "deepseekv3",
    "deepseek_v31": "deepseekv31",
    "deepseek_v32": "deepseekv32",
    "deepseek_v4": "deepseekv4",
    "deepseek_v41": "deepseekv41",
    "harmony": "gpt-oss",
    "internlm2": "interns1",
    "llama3_json": "llama3",
    "minicpm5_xml": "minicpm5",
    "minimax_m2": "minimax-m2",
    "minimax_m3": "minimax-m3",
    "muse_glimmer": "muse",
}


class Vocabulary(dict[str, int]):
    """Every token has a number."""

    def __missing__(self, token: str) -> int:
        self[token] = len(self) + 1000
        return self[token]

    def get(self, token: str, default: Any = None) -> int:
        return self[token]

    def __contains__(self, token: object) -> bool:
        return True


class Tokenizer:
    vocab = Vocabulary()
    all_special_tokens: tuple[str, ...] = ()

    def get_vocab(self) -> Vocabulary:
        return self.vocab

    def encode(self, *_: Any, **__: Any) -> list[int]:
        return [1]

    def decode(self, *_: Any, **__: Any) -> str:
        return ""


class Vllm:
    def __init__(self) -> None:
        interface_modules.use(
            FILES, *modules("vllm/tool_parsers", "vllm/parser"), "vllm.envs", "vllm.exceptions", "vllm.utils.collection_utils",
            "vllm.utils.import_utils", "vllm.entrypoints.serve.engine.protocol", "vllm.entrypoints.generate.base.protocol",
            "vllm.entrypoints.openai.chat_completion.protocol",
        )  # fmt: skip
        self._protocol: Any = import_module("vllm.entrypoints.openai.chat_completion.protocol")
        self._parsers: Any = import_module("vllm.tool_parsers").ToolParserManager
        self.names = set(self._parsers.list_registered())

    def extract(self, name: str, text: str, tools: list[Body]) -> Body:
        declared = [self._protocol.ChatCompletionToolsParam(**tool) for tool in tools]
        messages = [{"role": "user", "content": "Go on."}]
        request = self._protocol.ChatCompletionRequest(messages=messages, model="m", tools=declared, tool_choice="auto")
        try:
            found = self._parsers.get_tool_parser(name)(Tokenizer(), declared).extract_tool_calls(text, request)
        except NotImplementedError:
            raise UnsupportedError from None
        calls = [{"name": call.function.name, "arguments": json.loads(call.function.arguments)} for call in found.tool_calls]
        return {"calls": calls}


class Sglang:
    def __init__(self) -> None:
        interface_modules.use(FILES, *modules("sglang/srt/function_call"), "sglang.srt.entrypoints.openai.protocol")
        self._protocol: Any = import_module("sglang.srt.entrypoints.openai.protocol")
        self._parser: Any = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
        self.names = set(self._parser.ToolCallParserEnum)

    def extract(self, name: str, text: str, tools: list[Body]) -> Body:
        parser = self._parser([self._protocol.Tool(**tool) for tool in tools], name)
        if not parser.has_tool_call(text):
            return {"calls": []}
        _, found = parser.parse_non_stream(text)
        return {"calls": [{"name": call.name, "arguments": json.loads(call.parameters)} for call in found]}


def modules(*folders: str) -> list[str]:
    paths = [path.relative_to(FILES) for folder in folders for path in (FILES / folder).rglob("*.py")]
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


@cache
def reads(dialect: str) -> bool:
    """Whether the engine reads the dialect's simplest vector."""
    name = NAMES.get(dialect, dialect)
    if name not in ENGINE.names:
        return False
    row = next(row for row in vectors("text") if row["dialect"] == dialect)
    try:
        return bool(ENGINE.extract(name, row["reply"], row["tools"])["calls"] == row["expect"]["calls"])
    except Exception:  # noqa: BLE001  (what the parser needs is absent)
        return False


def extract(given: Body) -> Body:
    if given["cut"] or given.get("starts_in_reasoning") or not given["tools"] or not reads(given["dialect"]):
        raise UnsupportedError
    return ENGINE.extract(NAMES.get(given["dialect"], given["dialect"]), given["text"], given["tools"])


def about(_: Body) -> Body:
    text = (FILES / sys.argv[1] / "_version.py").read_text(encoding="utf-8")
    found = re.search(r"^(?:__version__ = )?version = '([^']+)'", text, re.MULTILINE)
    return {"name": sys.argv[1], "version": found[1] if found else "unknown"}


ENGINE: Vllm | Sglang = Vllm() if sys.argv[1] == "vllm" else Sglang()
NAMES = VLLM if sys.argv[1] == "vllm" else SGLANG
serve({"about": about, "extract": extract})
