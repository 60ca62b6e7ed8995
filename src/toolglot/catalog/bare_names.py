"""A model's name, however a server, a hub or a file spells it, in the one form that patterns are matched against.

meta-llama/Llama-3.3-70B-Instruct      llama3.3-70b-instruct
qwen2.5-coder:7b-instruct-q4_K_M       qwen2.5-coder7b-instruct-q4-k-m
us.anthropic.claude-3-5-haiku-v1:0     claude3-5-haiku-v1
Qwen3-8B-Q4_K_M-00001-of-00002.gguf    qwen3-8b-q4-k-m
"""

from __future__ import annotations

import re

# what stands behind a colon and says nothing about the model: OpenRouter's routes, Ollama's default tag
ROUTES = frozenset({"free", "nitro", "floor", "exa", "extended", "online", "latest", "cloud"})

# makers and quantisers whose names are glued before the model's own
VENDORS = (
    *("ai21labs", "ai21", "amazon", "anthropic", "aws", "azure", "bartowski", "bigcode", "c4ai", "cohereforai", "cohere"),
    *("fireworks", "google", "huggingfacetb", "ibm", "inclusionai", "labs", "meta", "microsoft", "minimaxai", "mistralai"),
    *(
        "moonshotai",
        "nousresearch",
        "nvidia",
        "open",
        "openai",
        "salesforce",
        "thebloke",
        "tiiuae",
        "unsloth",
        "upstage",
        "xai",
        "zai",
    ),
)

_FILE = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|ggml|bin|safetensors)$")
_CLOUD = re.compile(rf"^(?:(?:us|eu|apac|global|jp|au|ca)\.)?(?:{'|'.join(VENDORS)}|mistral|qwen|moonshot|minimax)\.(?=[a-z])")
_VENDOR = re.compile(rf"^(?:(?:{'|'.join(VENDORS)})-(?=[a-z]))+")
_POINT = re.compile(r"(?<=\d)[_p](?=\d)")
_JOIN = re.compile(r"(?<=[a-z][a-z])-(?=\d)")  # not behind a size: `8b-0528` are two things
_SIZE = re.compile(r"(?<![a-z0-9.])[er]?(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?![a-z0-9])")
_BILLIONS = {"b": 1.0, "m": 0.001, "t": 1000.0}


def bare_name(model: str) -> str:
    """The name without paths, makers, routes and file endings, in lower case, letters and a number behind them joined."""
    name = _last(model)
    head, _, tag = name.partition(":")
    if tag and tag not in ROUTES and not tag.isdigit():
        head = f"{head}-{tag}"
    name = _POINT.sub(".", _FILE.sub("", head)).replace("_", "-").replace(" ", "-").replace("@", "-")
    return folded(_VENDOR.sub("", _CLOUD.sub("", name)))


def folded(name: str) -> str:
    """`qwen-2.5` and `qwen2.5` are one: the hyphen between a word and a number goes."""
    return _JOIN.sub("", name.lower())


def billions(model: str) -> float | None:
    """How many parameters the name tells: `8b`, `135m`, `8x7b` (all experts), `1t`; of `30b-a3b`, all of them."""
    found = []
    for experts, number, unit in _SIZE.findall(_last(model).replace("_", "-")):
        if unit != "m" or float(number) >= 10:  # "-1m" is a length of context
            found.append(float(number) * int(experts or 1) * _BILLIONS[unit])
    return max(found, default=None)


def _last(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2].strip().lower()
