"""Every repair that toolglot makes, as a row: its code, its price and a sentence for people.

Codes are stable: they appear in results, headers and metrics. The price says how far a reading strays from the letter; where
two readings fit a schema, the cheaper one wins, and none does if they cost the same.
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
    Fix("fenced", 1, "The arguments stood in a code fence."),
    Fix("odd_whitespace", 1, "A byte order mark or another invisible character stood between the values."),
    Fix("unwrapped_string", 2, "JSON was written inside a string."),
    Fix("closed_truncated", 3, "The closing marker was missing; the call was complete without it."),
    # the JSON itself
    Fix("comment", 1, "A comment stood in the JSON."),
    Fix("trailing_comma", 1, "A comma stood after the last value."),
    Fix("single_quotes", 1, "A string had other quotes than JSON's."),
    Fix("python_literal", 1, "A value was written as in Python or JavaScript."),
    Fix("unquoted_key", 1, "A key had no quotes."),
    Fix("wrong_separator", 2, "Another sign stood where JSON has a colon."),
    Fix("raw_newline", 1, "A line break or control character inside a string was not escaped."),
    Fix("bad_escape", 2, "A backslash inside a string began no escape of JSON's."),
    Fix("missing_comma", 2, "A comma was missing."),
    Fix("doubled_braces", 2, "Braces were doubled."),
    Fix("extra_closer", 2, "There was a closing bracket too many."),
    Fix("missing_closer", 3, "A closing bracket was missing."),
    Fix("unescaped_quote", 3, "A quote inside a string was not escaped."),
    Fix("unquoted_value", 3, "A text had no quotes."),
    Fix("nan_as_null", 3, "NaN or Infinity, which JSON does not have, became null."),
    Fix("duplicate_key", 2, "A key was given twice."),
    # the values, by the schema
    Fix("coerced_type", 2, "A value was written as another type than the schema asks for."),
    Fix("fixed_enum", 2, "A choice was spelled differently than in the schema."),
    Fix("dropped_null", 1, "An optional parameter was null where the schema has no null; it was left out."),
    Fix("scalar_to_list", 3, "A single value stood where the schema asks for a list."),
    Fix("list_to_scalar", 3, "A list of one stood where the schema asks for a single value."),
    Fix("fixed_key", 3, "A parameter's name was spelled differently than in the schema."),
    Fix("unwrapped_arguments", 4, "The arguments were wrapped in another object."),
    Fix("wrapped_arguments", 5, "The tool's only parameter was given without its name."),
    Fix("positional_arguments", 4, "Arguments were given by position."),
    # the values, by the conversation
    Fix("dropped_unspoken", 4, "An optional value that nothing in the conversation speaks of was left out."),
    Fix("filled_spoken", 4, "An optional value, one or some of a few or the only date, was left out; the question names it."),
    Fix("fixed_as_said", 4, "A time, a duration or a percentage was put as it was said; a kind, without the word for it."),
    Fix("fixed_address", 3, "An e-mail address was put as it stands in the conversation."),
    Fix("fixed_currency", 3, "A currency's name became its code."),
    Fix(
        "fixed_code",
        3,
        "A language, a country, a state or a share got its code, or a city its state, as the tool asks.",
    ),
    # the call
    Fix("missing_opener", 2, "The opening marker was missing; the rest said whose call it is."),
    Fix("broken_list", 3, "The list of calls was not well formed."),
    Fix("flat_arguments", 3, "The arguments stood beside the tool's name."),
    Fix("name_as_key", 3, "The tool's name stood as the key of its arguments."),
    Fix("missing_value", 5, "A parameter had no value."),
    Fix("fixed_name", 2, "The tool's name was spelled differently, or carried a prefix or suffix."),
)
FIXES = {row.code: row for row in _ROWS}
_UNLISTED = 5  # a code of a grammar's own


def price(codes: Iterable[str]) -> int:
    return sum(FIXES[code].price if code in FIXES else _UNLISTED for code in codes)


def sentence(code: str) -> str:
    row = FIXES.get(code)
    return row.sentence if row else code.replace("_", " ").capitalize() + "."
