"""What teaching tools by prompt costs: characters and tokens, by style and dialect, for 1, 5 and 20 tools.

    python bench/prompts.py                        the tokens of SmolLM2, if its weights are here; else an estimate
    python bench/prompts.py --model path.gguf      the tokens of another model
    python bench/prompts.py --estimate             the estimate; needs no weights
    python bench/prompts.py --all                  every dialect, not only the usual ones
    python bench/prompts.py --json

The tools are those of `conversation.py`. The estimate counts words, numbers and signs (see ESTIMATE); against SmolLM2's own
count, the last line of the table shows how far it is off.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

from toolglot.client.embedded_runtime import running
from toolglot.client.weights import find
from toolglot.core.tools import Tool
from toolglot.dialects import dialect_names
from toolglot.pipeline.request.prompts import STYLES, augment_system_prompt
from toolglot.speed.conversation import TOOLS

USUAL = ("tagged", "fenced_json", "bare_json", "pythonic", "call_expression", "hermes", "qwen3_coder", "harmony")
COUNTS = (1, 5, 20)
# A word with the space before it (long words are cut), a number by its digits, a run of signs, a run of spaces.
ESTIMATE = re.compile(r" ?[^\W\d_]{1,8}|\d|[^\w\s]{1,3}|_|\s+")

Count = Callable[[str], int]


def tools(count: int) -> list[Tool]:
    return [Tool(name, about, schema) for name, about, schema in TOOLS[:count]]


def estimated(text: str) -> int:
    return len(ESTIMATE.findall(text))


def counted_by(path: Path) -> Count:
    """The model's own tokenizer, behind llama.cpp's server in this process."""
    server = running(path, path.stem).result()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.key}"}

    def count(text: str) -> int:
        asked = Request(f"{server.address}/tokenize", json.dumps({"content": text}).encode(), headers)
        with urlopen(asked, timeout=30) as answer:
            return len(json.load(answer)["tokens"])

    return count


def chosen(arguments: argparse.Namespace) -> tuple[Count, str]:
    if arguments.estimate:
        return estimated, "estimated"
    path = arguments.model or weights()
    if path is None:
        return estimated, "estimated: SmolLM2's weights are not here"
    return counted_by(path), path.stem


def weights() -> Path | None:
    return find("smollm2")


def rows(count: Count, names: tuple[str, ...]) -> Iterator[dict[str, object]]:
    for name in names:
        for style in STYLES:
            prompts = [augment_system_prompt("", tools(number), dialect=name, style=style) for number in COUNTS]
            yield {
                "dialect": name,
                "style": style,
                "characters": [len(prompt) for prompt in prompts],
                "tokens": [count(prompt) for prompt in prompts],
                "estimated": [estimated(prompt) for prompt in prompts],
            }


def table(measured: list[dict[str, object]], tokenizer: str) -> str:
    heads = [f"{what}, {number} tool{'s' * (number > 1)}" for what in ("chars", "tokens") for number in COUNTS]
    lines = [f"| dialect | style | {' | '.join(heads)} |", "|---|---|" + "--:|" * len(heads)]
    for row in measured:
        cells = [*row["characters"], *row["tokens"]]  # type: ignore[misc]
        lines.append(f"| {row['dialect']} | {row['style']} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    lines.append(f"\nTokens: {tokenizer}.")
    if tokenizer.startswith("estimated"):
        return "\n".join(lines)
    off = [guess / true - 1 for row in measured for guess, true in zip(row["estimated"], row["tokens"], strict=True)]  # type: ignore[call-overload]
    lines.append(f"The estimate is off by {min(off):+.0%} to {max(off):+.0%}.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file whose tokenizer counts")
    parser.add_argument("--estimate", action="store_true", help="count without a model")
    parser.add_argument("--all", action="store_true", help="every dialect")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    arguments = parser.parse_args()
    count, tokenizer = chosen(arguments)
    measured = list(rows(count, dialect_names() if arguments.all else USUAL))
    print(json.dumps({"tokenizer": tokenizer, "rows": measured}, indent=1) if arguments.json else table(measured, tokenizer))


if __name__ == "__main__":
    main()
