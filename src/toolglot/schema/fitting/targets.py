"""Which JSON Schema keywords each wire or server supports, as rows of data. Each row names its source.

A row lists what is supported; the conversion is the same for all (`normalize`, then `lower`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")
_SCALARS = frozenset({"string", "number", "boolean", "null"})
_ALL = _SCALARS | {"object", "array"}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    source: str
    keywords: frozenset[str]
    root: frozenset[str] | None = None  # at the root, if fewer are supported there
    as_is: bool = False  # accepts any schema with a plain object at the root
    root_union: bool = False  # anyOf is allowed at the root
    formats: frozenset[str] | None = None  # None: any
    enums: frozenset[str] = _ALL  # the types of values allowed in enums
    types: Literal["list", "one", "nullable"] = "list"  # how "a string or null" is written
    anything: Literal["empty", "types", "union"] = "empty"  # how "any value" is written
    capitals: bool = False  # STRING for string
    closed: bool = False  # every object must set additionalProperties: false
    filled: bool = False  # every property must be required: optional ones become nullable
    items: bool = False  # every array must have items
    patterns: Literal["any", "plain", "whole"] = "any"  # plain: no lookaround; whole: also anchored, and simple
    most: dict[str, int] = {}  # keyword -> its largest value
    depth: int = 40  # objects in objects
    properties: int | None = None  # in all
    enum_values: int | None = None  # in all
    names: str | None = None  # what a property's name must match
    open_names: str | None = None  # the same, in an object with other keys allowed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXT = "title description"
_NUMBERS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
_STRUCTURE = "type enum properties required additionalProperties items anyOf"
_WIDE = _words(
    f"{_TEXT} {_NUMBERS} {_STRUCTURE} default examples prefixItems minItems maxItems uniqueItems minLength maxLength"
    " pattern format minProperties maxProperties"
)
_STRING_FORMATS = "date-time time date duration email hostname ipv4 ipv6 uuid"

_ROWS = (
    Target(
        name="openai",
        source="the API's own refusal: 'schema must have type object and not have oneOf/anyOf/allOf/enum/not at the top level'"
        " (langchain-ai/langchainjs#9804, nspady/google-calendar-mcp#39)",
        keywords=_WIDE,
        as_is=True,
    ),
    Target(
        name="openai_strict",
        source="OpenAI, Structured Outputs, 'Supported schemas' (as recorded 2026-02 by"
        " jsonschemaprofiles.unitvectorylabs.com/schemas/openai); openai-python 3.49 lib/_pydantic.py",
        keywords=_words(f"{_TEXT} {_NUMBERS} {_STRUCTURE} minItems maxItems pattern format"),
        formats=_words(_STRING_FORMATS),
        enums=_SCALARS,
        anything="union",
        closed=True,
        filled=True,
        items=True,
        patterns="plain",
        depth=10,
        properties=5000,
        enum_values=1000,
    ),
    Target(
        name="anthropic",
        source="the API's own refusal: 'input_schema does not support oneOf, allOf, or anyOf at the top level' and of property"
        " names (anthropics/claude-code#27337, diegosouzapw/OmniRoute#13552)",
        keywords=_WIDE,
        as_is=True,
        names=r"[A-Za-z0-9_.-]{1,64}\Z",
    ),
    Target(
        name="anthropic_strict",
        source="anthropic-sdk-python 2.8 lib/_parse/_transform.py;"
        " platform.claude.com/docs/en/build-with-claude/structured-outputs",
        keywords=_words(f"{_TEXT} {_STRUCTURE} minItems format"),
        formats=_words(f"{_STRING_FORMATS} uri"),
        enums=_SCALARS,
        types="one",
        anything="union",
        closed=True,
        items=True,
        most={"minItems": 1},
        names=r"[A-Za-z0-9_.-]{1,64}\Z",
    ),
    Target(
        name="gemini",
        source="google-genai 3.1 types.py, FunctionDeclaration.parameters_json_schema and response_json_schema: the list of"
        " keywords; this is the field that our wire writes",
        keywords=_words(f"{_TEXT} {_STRUCTURE} prefixItems minItems maxItems minimum maximum format"),
        formats=_words("date-time date time"),
        enums=frozenset({"string", "number"}),
    ),
    Target(
        name="gemini_openapi",
        source="google-genai 3.1 types.py, class Schema (FunctionDeclaration.parameters); 'items: missing field'"
        " (kkrishnan90/gemini-desktop#7), 'Unknown name const' (zed-extensions/mcp-server-brave-search#12)",
        keywords=_words(
            f"{_TEXT} type enum properties required items anyOf nullable default minItems maxItems minLength maxLength pattern"
            " format minimum maximum minProperties maxProperties"
        ),
        formats=_words("date-time float double int32 int64"),
        enums=frozenset({"string"}),
        types="nullable",
        anything="union",
        capitals=True,
        items=True,
        patterns="plain",
    ),
    Target(
        name="ollama",
        source="ollama api/types.go: ToolFunctionParameters{type, $defs, items, required, properties},"
        " ToolProperty{anyOf, type, items, description, enum, properties, required}; other keys are dropped in decoding",
        keywords=_words("type description enum properties required items anyOf"),
        root=_words("type properties required"),
    ),
    Target(
        name="llamacpp",
        source="llama.cpp common/json-schema-to-grammar.cpp: visit, _visit_pattern, _not_strings, build_repetition;"
        " repetitions: ggml-org/llama.cpp#17473, #25746. `{}` is an object there, so any value is a list of types",
        keywords=_words(f"{_TEXT} {_NUMBERS} {_STRUCTURE} default minItems maxItems minLength maxLength pattern format")
        - {"multipleOf"},
        root_union=True,
        formats=_words("date-time date time uuid"),
        anything="types",
        patterns="whole",
        most=dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), 500),
        open_names=r"[\w $@#/:.,;=+*()-]+\Z",
    ),
    Target(
        name="gbnf",
        source="grammars/schema_rules.py: what our own grammars express",
        keywords=_words(f"{_STRUCTURE} minItems maxItems"),
    ),
)
TARGETS: dict[str, Target] = {row.name: row for row in _ROWS}
