"""One row of the input to one row of the output. A row that can't be read gives a row with an error, never an exception."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from toolglot.core.extraction import Extraction, call_fields
from toolglot.core.tools import Toolset
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.response_template import dialect_from_template
from toolglot.io.json_codec import JSON_ERRORS, decode, decode_lenient, encode, preview
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.response.call_validator import Policy
from toolglot.pipeline.response.extract import extract
from toolglot.schema.byte_cache import ByteCache

_CACHED_TOOLS = 16 * 1024 * 1024  # bytes of JSON; compiled tools take a multiple of it
_RESPONSE_KEYS = frozenset({"choices", "candidates", "output", "content", "message", "parts", "tool_calls", "error"})


class RowOptions(msgspec.Struct, frozen=True):
    """The same for all rows. JSON only, so that it can be sent to a worker and compared with an earlier run's."""

    tools: Any = ()
    dialect: str = "auto"
    template: Any = None  # a checkpoint's response_template, instead of a dialect
    policy: Policy = "balanced"
    starts_in_reasoning: bool = False
    field: str | None = None
    max_row_bytes: int = 16 * 1024 * 1024
    arguments: Literal["object", "text"] = "object"  # Parquet has no type for an object of any shape


class Row(msgspec.Struct, frozen=True):
    """A row of the output. All rows have all fields."""

    line: int  # of the input, from 1
    id: Any = None  # the input row's
    calls: list[dict[str, Any]] = []
    text: str = ""
    reasoning: str = ""
    decisions: list[str] = []  # codes
    dialect: str | None = None
    error: str | None = None


class RowParser:
    """Extracts the calls of rows. The tools of a row are compiled once, however many rows have the same."""

    def __init__(self, options: RowOptions) -> None:
        """Raises CallerError for wrong options."""
        self._options = options
        self.max_row_bytes = options.max_row_bytes
        self._toolsets: ByteCache[bytes, Toolset] = ByteCache(_CACHED_TOOLS)
        template = options.template
        self._dialect: str | Dialect = options.dialect if template is None else dialect_from_template(template)
        self._tools = self._toolset(options.tools)
        self._extract("", self._tools, ())

    def parse_json(self, line: int, data: bytes | None) -> Row:
        """`data`: one line of JSON, or None if it is too long to be read."""
        if data is None:
            return Row(line, error=f"the row is larger than {self.max_row_bytes} bytes")
        try:
            value = decode_lenient(data)
        except JSON_ERRORS as error:
            return Row(line, error=f"not JSON: {'nested too deeply' if isinstance(error, RecursionError) else error}")
        return self.parse(line, value)

    def parse(self, line: int, value: Any) -> Row:
        """`value`: a text, or an object with a text or a provider's response; see `_source`."""
        given = value.get("id") if isinstance(value, dict) else None
        row_id = given if isinstance(given, str | int) else None
        try:
            fields = value if isinstance(value, dict) else {}
            own = _json_list(fields.get("tools"))
            tools = self._tools if own is None else self._toolset(own)
            return self._row(line, row_id, self._extract(self._source(value), tools, _json_list(fields.get("messages")) or ()))
        except CallerError as error:
            return Row(line, row_id, error=str(error))
        except Exception as error:  # noqa: BLE001  (a fault of ours in one row must not stop the other millions)
            return Row(line, row_id, error=f"internal error: {type(error).__name__}: {preview(str(error))}")

    def _source(self, value: Any) -> str | dict[str, Any] | list[Any]:
        """The text or the provider's response: the named field; or `response`, a text in `text`, or the whole row."""
        field = self._options.field
        if isinstance(value, dict):
            if field is not None:
                if value.get(field) is None:
                    raise CallerError("the row does not have this field", field)
                value = value[field]
            elif value.get("response") is not None:
                value = value["response"]
            elif isinstance(value.get("text"), str):
                value = value["text"]
            elif not _RESPONSE_KEYS & value.keys():
                raise CallerError("the row has no text and no response; name the field with --field")
        if not isinstance(value, str | dict | list):
            raise CallerError("expected a text or a provider's response")
        return value

    def _toolset(self, tools: Any) -> Toolset:
        key = encode(tools)
        found = self._toolsets.get(key)
        if found is None:
            found = Toolset(read_any_tools(tools))
            self._toolsets.put(key, found, len(key))
        return found

    def _extract(self, source: str | dict[str, Any] | list[Any], tools: Toolset, messages: Iterable[Any]) -> Extraction:
        options = self._options
        return extract(
            source,
            tools,
            messages=messages,
            dialect=self._dialect,
            policy=options.policy,
            starts_in_reasoning=options.starts_in_reasoning,
        )

    def _row(self, line: int, row_id: Any, found: Extraction) -> Row:
        calls = [call_fields(call) for call in found.calls]
        if self._options.arguments == "text":
            for fields, call in zip(calls, found.calls, strict=True):
                fields["arguments"] = call.arguments_json
        codes = [decision.code for decision in found.decisions]
        return Row(line, row_id, calls, found.text, found.reasoning, codes, found.dialect)


def _json_list(value: Any) -> list[Any] | None:
    """A list, or the JSON text of one, as tables often have it."""
    if isinstance(value, str):
        try:
            value = decode(value)
        except JSON_ERRORS as error:
            raise CallerError(f"tools and messages are lists, or JSON texts of lists: {error}") from None
    return [value] if isinstance(value, dict) else value
