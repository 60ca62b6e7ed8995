"""The vLLM tool call parser for each dialect.

Source: vLLM, vllm/tool_parsers/__init__.py at 0064cc9, the names that --tool-call-parser takes.
"""

from __future__ import annotations

# our dialect -> vLLM's parser
VLLM: dict[str, str] = {
    "apertus": "apertus",
    "cohere_command3": "cohere_command3",
    "cohere_command4": "cohere_command4",
    "deepseek_v3": "deepseek_v3",
    "deepseek_v31": "deepseek_v31",
    "deepseek_v32": "deepseek_v32",
    "deepseek_v4": "deepseek_v4",
    "ernie45": "ernie45",
    "functiongemma": "functiongemma",
    "gemma4": "gemma4",
    "gigachat3": "gigachat3",
    "glm45": "glm45",
    "glm47": "glm47",
    "granite3": "granite",
    "granite4": "granite4",
    "granite_20b_fc": "granite-20b-fc",
    "harmony": "openai",
    "hermes": "hermes",
    "hunyuan_a13b": "hunyuan_a13b",
    "hunyuan_v3": "hy_v3",
    "inkling": "inkling",
    "internlm2": "internlm",
    "jamba": "jamba",
    "kimi_k2": "kimi_k2",
    "kimi_k3": "kimi_k3",
    "lfm2": "lfm2",
    "llama3_json": "llama3_json",
    "llama4_pythonic": "llama4_pythonic",
    "longcat": "longcat",
    "minicpm5_xml": "minicpm5",
    "minimax_m2": "minimax_m2",
    "minimax_m3": "minimax_m3",
    "mistral": "mistral",
    "olmo3": "olmo3",
    "phi4_mini": "phi4_mini_json",
    "poolside_v1": "poolside_v1",
    "pythonic": "pythonic",
    "qwen3_coder": "qwen3_coder",
    "seed_oss": "seed_oss",
    "step3": "step3",
    "step3p5": "step3p5",
    "xlam": "xlam",
}
