"""Python's string literals: quotes of every kind, prefixes, escapes."""

from __future__ import annotations

import re

from toolglot.io.json_codec import JSON_ERRORS, decode

PREFIXED = re.compile(r"""(?i:[rbuf]|br|rb|fr|rf)(?=["'])""")
_ENDS = {
    '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL),
    "'": re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*'", re.DOTALL),
    '"""': re.compile(r'"""(?:[^"\\]++|\\.|"(?!""))*"""', re.DOTALL),
    "'''": re.compile(r"'''(?:[^'\\]++|\\.|'(?!''))*'''", re.DOTALL),
}
_JOINED = re.compile(r"""\s*+(?:\+\s*+|\\\n\s*+)?((?:(?<=[\s+])(?i:[ruf]|fr|rf))?)(?=["'])""")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "\\": "\\", "'": "'", '"': '"', "\n": ""}


def decode_string(text: str, at: int, quote: str, *, raw: bool, whole: bool = False) -> tuple[str, int] | None:
    """The string that begins with `quote` at `at`, and the offset after it. `whole`: it is all of `text`."""
    if whole:
        end = len(text)
    else:
        found = _ENDS[quote].match(text, at)
        if found is None:
            return None
        end = found.end()
    body = text[at + len(quote) : end - len(quote)]
    return (body if raw or "\\" not in body else unescape(body)), end


def next_adjacent_string(text: str, at: int) -> tuple[int, str] | None:
    """Where a string begins that continues the one before `at` (side by side, or with a plus), and its prefix."""
    found = _JOINED.match(text, at)
    return None if found is None else (found.end(), found[1].lower())


def unescape(body: str) -> str:
    """Escapes resolved as Python does; one that it does not know stays as it is."""
    if "\\/" not in body:  # JSON's other escapes are Python's too, and nearly all that models write
        try:
            return str(decode(f'"{body}"'))
        except JSON_ERRORS:
            pass
    text = _ESCAPE.sub(_char, body)
    try:
        text.encode()
    except UnicodeEncodeError:  # pairs of \ud83d\ude00, as JSON has them
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _char(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 else found[0]
    if found[4]:
        return chr(int(found[4], 8))
    return _PLAIN.get(found[5], found[0])
