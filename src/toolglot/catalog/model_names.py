"""Model names: the bare form that catalog patterns are matched against, and the form that a provider expects.

Bare names of the same model are equal, whatever a server, a hub or a file calls it:

meta-llama/Llama-3.3-70B-Instruct      llama3.3-70b-instruct
qwen2.5-coder:7b-instruct-q4_K_M       qwen2.5-coder7b-instruct-q4-k-m
us.anthropic.claude-3-5-haiku-v1:0     claude3-5-haiku-v1
Qwen3-8B-Q4_K_M-00001-of-00002.gguf    qwen3-8b-q4-k-m
"""

from __future__ import annotations

import re
from collections.abc import Callable

# tags after a colon that are not part of the model: OpenRouter's routes, Ollama's default tag
ROUTES = frozenset({"free", "nitro", "floor", "exa", "extended", "online", "latest", "cloud"})

# makers and quantisers that prefix the model's name with theirs
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
_JOIN = re.compile(r"(?<=[a-z][a-z])-(?=\d)")  # not after a size: `8b-0528` is a size and a date
_SIZE = re.compile(r"(?<![a-z0-9.])[er]?(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?![a-z0-9])")
_BILLIONS = {"b": 1.0, "m": 0.001, "t": 1000.0}


def bare_name(model: str) -> str:
    """The name in lower case, without paths, makers, routes, file endings and the hyphen between letters and a number."""
    name = _last(model)
    head, _, tag = name.partition(":")
    if tag and tag not in ROUTES and not tag.isdigit():
        head = f"{head}-{tag}"
    name = _POINT.sub(".", _FILE.sub("", head)).replace("_", "-").replace(" ", "-").replace("@", "-")
    return folded(_VENDOR.sub("", _CLOUD.sub("", name)))


def folded(name: str) -> str:
    """Removes the hyphen between a word and a number, so that `qwen-2.5` and `qwen2.5` are the same."""
    return _JOIN.sub("", name.lower())


def billions(model: str) -> float | None:
    """The parameter count in the name: `8b`, `135m`, `8x7b` (all experts), `1t`; of `30b-a3b`, the total."""
    found = []
    for experts, number, unit in _SIZE.findall(_last(model).replace("_", "-")):
        if unit != "m" or float(number) >= 10:  # "-1m" is a context length
            found.append(float(number) * int(experts or 1) * _BILLIONS[unit])
    return max(found, default=None)


def _last(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2].strip().lower()


_SIZE_SUFFIX = re.compile(r"-(\d+(?:\.\d+)?[bmt](?:-[a-z0-9]+)*)$", re.IGNORECASE)


def _ollama_cloud(name: str) -> str:
    """Accepts the local server's names (`gpt-oss:120b-cloud`, `glm-4.6:cloud`) and plain ones (`gpt-oss-120b`)."""
    name = name.removesuffix(":cloud").removesuffix("-cloud")
    return name if ":" in name else _SIZE_SUFFIX.sub(r":\1", name)


RULES: dict[str, Callable[[str], str]] = {"ollama-cloud": _ollama_cloud}


def in_provider_form(name: str, rule: str | None) -> str:
    """The name as the provider expects it; `rule` is its `model_names` key in providers.toml."""
    return RULES[rule](name) if rule else name
