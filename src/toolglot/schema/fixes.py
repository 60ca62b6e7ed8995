"""Every repair that toolglot makes, as a row: its code, its price and a sentence that describes it.

Codes are stable: they appear in results, headers and metrics. The price says how far a repair departs from the text. If two
repairs satisfy a schema, the cheaper one wins; if they cost the same, neither is used.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Fix(msgspec.Struct, frozen=True):
    code: str
    price: int
    sentence: str


_ROWS = (
    # around the JSON
    Fix("fenced", 1, "The arguments were in a code fence."),
    Fix("odd_whitespace", 1, "There was a byte order mark or another invisible character between the values."),
    Fix("unwrapped_string", 2, "JSON was written inside a string."),
    Fix("closed_truncated", 3, "The closing marker was missing; the call was complete without it."),
    # the JSON itself
    Fix("comment", 1, "The JSON contained a comment."),
    Fix("trailing_comma", 1, "There was a comma after the last value."),
    Fix("single_quotes", 1, "A string did not have JSON's quotes."),
    Fix("python_literal", 1, "A value was written as in Python or JavaScript."),
    Fix("unquoted_key", 1, "A key had no quotes."),
    Fix("wrong_separator", 2, "Another character was used instead of a colon."),
    Fix("raw_newline", 1, "A line break or control character inside a string was not escaped."),
    Fix("bad_escape", 2, "A backslash inside a string did not start a valid escape."),
    Fix("missing_comma", 2, "A comma was missing."),
    Fix("doubled_braces", 2, "Braces were doubled."),
    Fix("extra_closer", 2, "There was an extra closing bracket."),
    Fix("missing_closer", 3, "A closing bracket was missing."),
    Fix("unescaped_quote", 3, "A quote inside a string was not escaped."),
    Fix("unquoted_value", 3, "A string had no quotes."),
    Fix("nan_as_null", 3, "NaN or Infinity, which JSON does not have, became null."),
    Fix("duplicate_key", 2, "A key was given twice."),
    # the values, by the schema
    Fix("coerced_type", 2, "A value had another type than the schema requires."),
    Fix("fixed_enum", 2, "An enum value was spelled differently than in the schema."),
    Fix("dropped_null", 1, "An optional parameter was null, which the schema does not allow; it was removed."),
    Fix("scalar_to_list", 3, "There was a single value where the schema requires a list."),
    Fix("list_to_scalar", 3, "There was a list of one where the schema requires a single value."),
    Fix("fixed_key", 3, "A parameter's name was spelled differently than in the schema."),
    Fix("unwrapped_arguments", 4, "The arguments were wrapped in another object."),
    Fix("wrapped_arguments", 5, "The tool's only parameter was given without its name."),
    Fix("positional_arguments", 4, "Arguments were given by position."),
    # the call
    Fix("missing_opener", 2, "The opening marker was missing; the rest identified the call."),
    Fix("broken_list", 3, "The list of calls was not well formed."),
    Fix("flat_arguments", 3, "The arguments were beside the tool's name."),
    Fix("name_as_key", 3, "The tool's name was the key of its arguments."),
    Fix("missing_value", 5, "A parameter had no value."),
    Fix("fixed_name", 2, "The tool's name was spelled differently, or had a prefix or suffix."),
)
FIXES = {row.code: row for row in _ROWS}
_UNLISTED = 5  # a code that only one grammar uses


def price(codes: Iterable[str]) -> int:
    return sum(FIXES[code].price if code in FIXES else _UNLISTED for code in codes)


def sentence(code: str) -> str:
    row = FIXES.get(code)
    return row.sentence if row else code.replace("_", " ").capitalize() + "."
