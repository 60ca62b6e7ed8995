"""The answer of a model as a value of the requested type or schema, and what is wrong with it if it is not."""

from __future__ import annotations

from typing import Any

from toolglot.core.request import Output
from toolglot.errors import ArgumentsError, CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps, preview
from toolglot.schema.check import checker
from toolglot.schema.coerce import repair
from toolglot.schema.from_function.hints import Schemas
from toolglot.schema.from_function.values import read_value
from toolglot.schema.relaxed_json import read_object

INVALID = "invalid_output"  # the code of the decision about an answer that does not fit the output type
MISMATCH = "the answer does not match the schema"
_WRAPPED = "value"  # the key of a type that is not an object, because most APIs accept only objects
_SHOWN = 600  # characters of a problem


class OutputType:
    """A pydantic model, dataclass, TypedDict or another type hint: its JSON Schema, and how an answer is converted to it."""

    def __init__(self, hint: Any) -> None:
        schemas = Schemas()
        try:
            schema = schemas.of(hint)
        except CallerError as error:
            raise CallerError(error.problem, "output") from None
        reference = str(schema.get("$ref", "")).removeprefix("#/$defs/")  # of a type that contains itself
        schema = schemas.definitions.get(reference, schema)
        self._hint, self._wrapped = hint, schema.get("type") != "object"
        if self._wrapped:
            schema = {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED]}
        name = getattr(hint, "__name__", "")
        self.schema: dict[str, Any] = {"title": name, **schema} if name.isidentifier() else dict(schema)
        if schemas.definitions:
            self.schema["$defs"] = schemas.definitions

    def read(self, text: str) -> Any:
        """The answer as a value of the type; an ArgumentsError if it does not fit.

        JSON in a code fence, and what is repaired in a call's arguments, is repaired here, too.
        """
        read = read_object(text)
        if read.problem is not None:
            raise ArgumentsError(f"{MISMATCH}: it is not a JSON object")
        value, check = read.value, checker(self.schema)
        if not check.fits(value):
            better = repair(value, check, text=text)
            if better is None:
                raise ArgumentsError(f"{MISMATCH}: {preview('; '.join(map(str, check.problems(value))), _SHOWN)}")
            value = better.value
        try:
            return read_value(value[_WRAPPED] if self._wrapped else value, self._hint, "answer")
        except ArgumentsError as error:
            raise ArgumentsError(f"{MISMATCH}: {preview(str(error), _SHOWN)}") from None


def schema_violation(output: Output | None, text: str) -> str | None:
    """What is wrong with the answer; None if it matches or no structure was requested."""
    if output is None:
        return None
    try:
        value = decode(text)
    except JSON_ERRORS:
        return f"{MISMATCH}: it is not JSON"
    problems = checker(output.schema).problems(value) if output.schema else []
    return f"{MISMATCH}: {'; '.join(map(str, problems))}" if problems else None


def answer_again(output: Output | None, problem: str) -> str:
    """Asks for another answer. It states the schema, since some servers ignore the one in the request."""
    schema = "" if output is None or output.schema is None else f" that fits this schema: {dumps(output.schema)}"
    return f"{problem[0].upper()}{problem[1:]}. Answer again, with nothing but JSON{schema}"
