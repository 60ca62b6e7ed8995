"""DeepSeek's tokens: V3 and V3.1 write different heads between the same markers, and each slips into the other's."""

from __future__ import annotations

from toolglot.grammars.named_json import NamedJson

_SEPARATOR = "<[｜|]tool[▁_]sep[｜|]>"


def _token(name: str) -> tuple[str, ...]:
    """Bars are full-width; some templates have ASCII ones, and then perhaps ASCII lines too."""
    return f"<｜{name}｜>", f"<|{name}|>", f"<|{name.replace('▁', '_')}|>"


DEEPSEEK = NamedJson(
    _token("tool▁call▁begin"),
    rf"\s*(?:(?:function)?\s*{_SEPARATOR})?\s*(?P<name>[^\s<{{`]+)\s*(?:{_SEPARATOR})?\s*(?:(?:```\w*|json)\s*)?",
    exact=rf"function{_SEPARATOR}\s*[^\s<]+\s*\n```json\s*|[^<]+{_SEPARATOR}\s*",
    ends=_token("tool▁call▁end"),
    sections=_token("tool▁calls▁begin"),
    section_ends=_token("tool▁calls▁end"),
    noise=("```",),
)
DROPPED = tuple(
    form
    for name in (
        "tool▁calls▁end",
        "tool▁call▁end",
        "tool▁outputs▁begin",
        "tool▁outputs▁end",
        "tool▁output▁begin",
        "tool▁output▁end",
        "end▁of▁sentence",
    )
    for form in _token(name)
)
