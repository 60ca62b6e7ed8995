"""A checkpoint's own parser as a dialect: the `response_template` of Hugging Face, a dict in tokenizer_config.json.

    {"fields": {"thinking": {"open": "<think>", "close": "</think>"},
                "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": true,
                               "transform": {"type": "function", "function": "{content}"}}},
     "start_anchor": "<|im_start|>assistant\\n"}

Its markers become those of our grammars, so that calls are repaired, streamed and checked like those of any dialect. Its
regular expressions are never run (`template_patterns`). What can't be translated is refused.

Source: docs/source/en/chat_response_parsing.md of transformers 5.23.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.errors import CallerError
from toolglot.grammars.call_objects import USUAL, Keys
from toolglot.grammars.channels import Channels
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.gemma import Gemma
from toolglot.grammars.named_json import NamedJson
from toolglot.grammars.parsed_call import Grammar, Tools
from toolglot.grammars.render_json import PLAIN_RESULT, RenderCalls, arguments, call_object, one_array, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_xml import Read, TaggedXml
from toolglot.grammars.template_patterns import (
    MAX_VARIANTS,
    Run,
    Steps,
    Text,
    compiled,
    end_of_run,
    example,
    impossible,
    names,
    openings,
    parse_pattern,
    split_at,
    variants,
)
from toolglot.io.json_codec import JSON_ERRORS, encode, loads_object
from toolglot.io.request_validation import wrong_type
from toolglot.schema.coerce_text import json_or, typed_value

_LARGEST = 64 * 1024
_SHORTEST = 3  # characters of a marker
_REASONING = ("thinking", "reasoning_content", "reasoning")
_CALLS = "tool_calls"
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_TAG = re.compile(r"<([A-Za-z][\w:.-]*)")

Texts = str | list[str] | None


class _Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    open: Texts = None
    open_pattern: str | None = None
    close: Texts = None
    close_pattern: str | None = None
    content: Literal["text", "int", "float", "bool", "json", "xml-inline", "kv-lines"] = "text"
    content_args: dict[str, Any] = {}
    repeats: bool = False
    join: str | None = None
    optional: bool = True
    transform: Any = None
    transform_each: bool = False


class _Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fields: dict[str, _Field]
    version: Literal[1] = 1
    defaults: dict[str, Any] = {}
    start_anchor: Texts = None
    start_anchor_pattern: str | None = None


def dialect_from_template(template: dict[str, Any], name: str = "template") -> Dialect:
    """The dialect that a checkpoint's `response_template` describes; also from the tokenizer_config.json that contains one.

    The same template gives the same Dialect. Raises CallerError if it is wrong, or has something that is not supported.
    """
    if not isinstance(template, dict):
        raise wrong_type("response_template", "object", template)
    if "fields" not in template and "response_schema" in template and "response_template" not in template:
        raise CallerError("the older response_schema is not supported; transformers 5.13 replaced it", "response_template")
    try:
        encoded = encode(template.get("response_template", template))
    except (TypeError, *JSON_ERRORS):
        raise CallerError("it is not JSON", "response_template") from None
    return _dialect(encoded, name)


@lru_cache(64)
def _dialect(encoded: bytes, name: str) -> Dialect:
    if len(encoded) > _LARGEST:
        raise CallerError(f"it is larger than {_LARGEST} bytes", "response_template")
    try:
        template = msgspec.json.decode(encoded, type=_Template)
        return _Translation(template).dialect(name)
    except msgspec.MsgspecError as error:
        raise CallerError(str(error), "response_template") from None
    except CallerError as error:
        raise error.within("response_template") from None


class _Opening(NamedTuple):
    """A text that opens a call, and what follows it."""

    text: str
    rest: Steps


class _Source(msgspec.Struct, frozen=True):
    """Where the parts of a call come from. Without keys, the content is the arguments."""

    keys: Keys | None = None
    capture: str = ""  # of the name
    id_capture: str = ""
    name: str = ""  # always this name


class _Translation:
    def __init__(self, template: _Template) -> None:
        self._template = template
        field = template.fields.get(_CALLS)
        if field is None:
            raise CallerError("there are no tool_calls, so there is nothing to parse", "fields")
        self._field = field
        self._where = f"fields.{_CALLS}"

    def dialect(self, name: str) -> Dialect:
        field = self._field
        opens, ways = self._openings(), self._closers()
        source = self._source(set().union(*(names(one.rest) for one in opens)))
        parse = {"json": self._json, "xml-inline": self._tags}.get(field.content)
        if parse is None:
            raise CallerError(f"calls as {field.content} are not supported", f"{self._where}.content")
        grammars, render = parse(opens, ways, source)
        reasoning = self._reasoning()
        used = {*(opener for one in grammars for opener in one.openers), *(begin for begin, _ in reasoning)}
        return Dialect(
            name=name,
            grammars=grammars,
            render_tools=tool_lines(),
            render_calls=render,
            render_result=PLAIN_RESULT,
            reasoning=reasoning,
            dropped=tuple(text for text in self._dropped(reasoning) if text not in used),
            source="the checkpoint's response_template",
        )

    # -- markers

    def _openings(self) -> list[_Opening]:
        field = self._field
        literal, pattern = _literals(field.open, f"{self._where}.open"), field.open_pattern
        if (literal is None) == (pattern is None):
            raise CallerError("one of open and open_pattern is needed", self._where)
        where = f"{self._where}.open_pattern"
        found = [_Opening(text, ()) for text in literal or ()]
        found += [_Opening(*one) for one in openings(parse_pattern(pattern, where), where)] if pattern is not None else []
        self._distinct(*(one.text for one in found))
        return [_Opening(one.text, _without_blanks(one.rest)) for one in found]

    def _distinct(self, *texts: str) -> None:
        """Raises if ordinary text has one of these too."""
        for text in texts:
            if len(text.strip()) < _SHORTEST:
                raise CallerError(f"{text!r} is too short for a marker", self._where)

    def _closers(self) -> list[tuple[str, ...]]:
        """The texts on each way to close a call. The last one closes it."""
        return _ways(self._field.close, self._field.close_pattern, f"{self._where}.close")

    def _reasoning(self) -> tuple[tuple[str, str], ...]:
        pairs: list[tuple[str, str]] = []
        for name in _REASONING:
            field = self._template.fields.get(name)
            if field is not None:
                begin, end = _markers(field, name)
                pairs += [(opener, closer) for opener in begin for closer in end]
        return tuple(dict.fromkeys(pairs))

    def _dropped(self, reasoning: tuple[tuple[str, str], ...]) -> list[str]:
        """The markers around plain text. The one that begins a message may come again between its parts, also in one marker
        with the end of reasoning.
        """
        template, found = self._template, list[str]()
        if "content" in template.fields:
            for texts in _markers(template.fields["content"], "content"):
                found += texts
        anchors = _joined(_ways(template.start_anchor, template.start_anchor_pattern, "start_anchor"))
        found += [end for _, end in reasoning if end not in found and end.startswith(tuple(found))]
        return list(dict.fromkeys([*found, *(text for text in anchors if "<" in text)]))

    # -- the parts of a call

    def _source(self, captures: set[str]) -> _Source:
        """What the transform makes of a call."""
        field = self._field
        outer = field.transform
        if outer is None or (outer == "{content}" and not field.transform_each):
            return _Source(USUAL)
        function = outer.get("function", outer) if isinstance(outer, dict) else None
        if function == "{content}" and not field.transform_each:
            return _Source(USUAL)
        if isinstance(outer, dict) and isinstance(function, dict):
            name, content = function.get("name"), function.get("arguments")
            call_id = outer.get("id", function.get("id"))
            keys = [self._key(one) for one in (name, content, call_id)]
            if keys[0] and keys[1]:
                return _Source(Keys(keys[0], keys[1], keys[2] or USUAL.id))
            capture, id_capture = self._capture(name, captures), self._capture(call_id, captures)
            fixed = name if isinstance(name, str) and "{" not in name else ""
            if content == "{content}" and not field.transform_each and (capture or fixed):
                return _Source(None, capture, id_capture, fixed)
        problem = "it must take the name and the arguments from the content, or the name from open_pattern"
        raise CallerError(problem, f"{self._where}.transform")

    def _key(self, value: Any) -> str:
        """The key in the content that a placeholder names."""
        found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            return ""
        if self._field.transform_each:
            return "" if found[2] else found[1]
        return found[2] or "" if found[1] == "content" else ""

    def _capture(self, value: Any, captures: set[str]) -> str:
        found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        return found[1] if found and not found[2] and found[1] in captures else ""

    # -- JSON

    def _json(
        self, opens: list[_Opening], ways: list[tuple[str, ...]], source: _Source
    ) -> tuple[tuple[Grammar, ...], RenderCalls]:
        ends = () if () in ways else tuple(dict.fromkeys(way[-1] for way in ways))  # the end of the message may end a call
        end = "\n".join(ways[0]) if ends else ""
        marks = self._field.content_args.get("string_delims")
        if marks:
            return self._gemma(opens, ends, source, marks)
        plain = tuple(one.text for one in opens if not one.rest)
        keys = source.keys
        if keys is not None:
            grammars: list[Grammar] = [TaggedJson(plain, ends, keys)] if plain else []
            grammars += [self._channel(one, ends, keys) for one in opens if one.rest]
            if plain and self._field.transform_each:
                return tuple(grammars), one_array(f"{plain[0]}[", f"]{end}", keys)
        else:
            grammars = [self._named(one, ends, source) for one in opens]
        first = opens[0]

        def render_call(call: ToolCall) -> str:
            head = example(first.rest, _named_only({source.capture: call.full_name, source.id_capture: call.id}))
            return first.text + head + (call_object(call, keys) if keys is not None else arguments(call)) + end

        return tuple(grammars), lambda calls: "\n".join(map(render_call, calls))

    def _channel(self, one: _Opening, ends: tuple[str, ...], keys: Keys) -> Grammar:
        """The name is in the JSON, but something comes before it."""
        header = self._head(one.rest, {})
        last = one.rest[-1]
        body = re.escape(last.text) + r"\s*\S" if isinstance(last, Text) else r"[{\[]"
        opener = re.escape(one.text)
        dead = impossible(one.rest)
        not_head = opener + dead if dead else "(?!)"
        return Channels((one.text,), rf"{opener}(?P<name>){header}\s*", body, ends=ends, not_head=not_head, keys=keys)

    def _named(self, one: _Opening, ends: tuple[str, ...], source: _Source) -> Grammar:
        head = self._head(one.rest, {source.capture: "name", source.id_capture: "id"})
        if source.capture not in names(one.rest) and not source.name:
            raise CallerError(f"{source.capture!r} is not in every form of open_pattern", self._where)

        def naming(written: str, arguments: str, tools: Tools) -> tuple[str, str | None]:
            return source.name or written, None

        return NamedJson(
            (one.text,),
            (head if source.capture else f"(?P<name>){head}") + r"\s*",
            ends=ends,
            not_head=impossible(one.rest) or "(?!)",
            naming=naming,
        )

    def _head(self, steps: Steps, groups: dict[str, str]) -> str:
        return compiled(steps, _named_only(groups), f"{self._where}.open_pattern")

    def _gemma(
        self, opens: list[_Opening], ends: tuple[str, ...], source: _Source, marks: Any
    ) -> tuple[tuple[Grammar, ...], RenderCalls]:
        """Strings between marks: Gemma's notation."""
        one_mark = isinstance(marks, list) and len(marks) == 1 and isinstance(marks[0], list) and len(set(marks[0])) == 1
        names_only = all(len(one.rest) == 1 and names(one.rest) == {source.capture} for one in opens)
        if not (one_mark and isinstance(marks[0][0], str) and marks[0][0] and names_only and len(ends) == 1):
            raise CallerError("string_delims need one mark for both ends, and a name after the opening text", self._where)
        forms = tuple(Gemma(one.text, ends[0], marks[0][0]) for one in opens)

        def render_call(call: ToolCall) -> str:
            return forms[0].opener + call.full_name + forms[0].write(loads_object(call.arguments_json) or {}) + ends[0]

        return forms, lambda calls: "".join(map(render_call, calls))

    # -- tags

    def _tags(
        self, opens: list[_Opening], ways: list[tuple[str, ...]], source: _Source
    ) -> tuple[tuple[Grammar, ...], RenderCalls]:
        ways = [way for way in ways if way]
        if not source.capture or not ways:
            raise CallerError("calls with tags need a name from open_pattern, and a close", self._where)
        value = self._value()
        ends = list(dict.fromkeys(way[-1] for way in ways))
        skipped = {text for way in ways for text in way[:-1]}
        self._distinct(value.opener, value.closer, *ends, *skipped)
        grammars = [self._tagged(one, ends, skipped, value, source) for one in opens]
        first, inner = opens[0], _end_tags(opens[0], {*ends, *skipped})
        end = "\n".join([*reversed(inner), *ways[0]])
        opener = first.text + example(first.rest, {source.capture: "\0"})
        break_ = "\n" if value.lines else ""
        head = example(value.head, {"key": "\0"})
        render = calls_in_tags(
            (_template(opener, "name"), _template(end, "name")),
            tag(_template(value.opener + head + break_, "key"), _template(break_ + value.closer, "key") + "\n"),
        )
        return tuple(grammars), render

    def _tagged(self, one: _Opening, ends: list[str], skipped: set[str], value: _Value, source: _Source) -> Grammar:
        if source.capture not in names(one.rest):
            raise CallerError(f"{source.capture!r} is not in every form of open_pattern", self._where)
        ended = end_of_run(one.rest, f"{self._where}.open_pattern")
        return TaggedXml(
            Tags(
                (one.text, ends[0]),
                {value.opener: value.closer},
                re.compile(self._head(one.rest, {source.capture: "name"}) + ended),
                re.compile(impossible(one.rest) or "(?!)"),
                variants=tuple((one.text, end) for end in ends[1:]),
                skipped=tuple({*skipped, *_end_tags(one, {*ends, *skipped, value.closer})}),
                name_of=lambda found: found["name"],
            ),
            re.compile(compiled(value.head, {"key": "key"}, f"{self._where}.content_args.tag_pattern")),
            lines="both" if value.lines else "",
            strong=True,
            read=value.read,
        )

    def _value(self) -> _Value:
        """The tags of an argument, from its pattern."""
        options, where = self._field.content_args, f"{self._where}.content_args.tag_pattern"
        pattern = options.get("tag_pattern")
        if not isinstance(pattern, str):
            raise wrong_type(where, "string", pattern)
        steps = parse_pattern(pattern, where)
        split = split_at(steps, "value")
        if split is None or not isinstance(steps[0], Text) or "key" not in names(split[0]) or options.get("merge_duplicates"):
            raise CallerError("it must be a fixed text, the key, and the value; merge_duplicates is not supported", where)
        head, _, tail = split
        closers = [way[-1] for way in variants(tail, where) if way]
        if not closers:
            raise CallerError("the value must end with a fixed text", where)
        head, before = _without_break(_without_blanks(head[1:]), head[1:])
        closer = closers[0].removeprefix("\n")
        end_of_run(head, where)
        lines = before or closer != closers[0] or isinstance(tail[0], Run)
        parser = options.get("value_parser") or {}
        kind = parser.get("name", "text") if isinstance(parser, dict) else None
        if kind not in _READ:
            raise CallerError(f"values as {kind} are not supported", f"{self._where}.content_args.value_parser")
        return _Value(steps[0].text, closer, head, lines, _READ[kind])


class _Value(NamedTuple):
    """An argument: its opening tag up to the key, its closing tag, and what is between the opening tag and the value."""

    opener: str
    closer: str
    head: Steps
    lines: bool  # values are on lines of their own
    read: Read


def _as_text(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    return typed_value(raw, schema) if known else raw


def _as_json(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    return typed_value(raw, schema) if known else json_or(raw, None)


_READ: dict[Any, Read] = {"text": _as_text, "json": _as_json, "int": _as_json, "float": _as_json, "bool": _as_json}


def _named_only(captures: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in captures.items() if name}


def _literals(value: Texts, where: str) -> list[str] | None:
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else value
    if not texts or not all(texts) or len(texts) > MAX_VARIANTS:
        raise CallerError(f"expected 1 to {MAX_VARIANTS} texts, none of them empty", where)
    return list(dict.fromkeys(texts))


def _ways(literal: Texts, pattern: str | None, where: str) -> list[tuple[str, ...]]:
    """The fixed texts of each way to write a marker."""
    if literal is not None and pattern is not None:
        raise CallerError(f"{where.rpartition('.')[2]} and its pattern can't both be there", where)
    if pattern is not None:
        return variants(parse_pattern(pattern, f"{where}_pattern"), f"{where}_pattern")
    return [(text,) for text in _literals(literal, where) or ()]


def _joined(ways: list[tuple[str, ...]]) -> list[str]:
    """Each way as one marker, and its last text alone."""
    found = [text for way in ways if way for text in ("".join(way), way[-1])]
    return [text for text in dict.fromkeys(found) if len(text.strip()) >= _SHORTEST]


def _markers(field: _Field, name: str) -> tuple[list[str], list[str]]:
    where = f"fields.{name}"
    return (
        _joined(_ways(field.open, field.open_pattern, f"{where}.open")),
        _joined(_ways(field.close, field.close_pattern, f"{where}.close")),
    )


def _without_blanks(steps: Steps) -> Steps:
    """Without white space at the end."""
    while steps and isinstance(steps[-1], Run) and steps[-1].blank:
        steps = steps[:-1]
    return steps


def _without_break(steps: Steps, written: Steps) -> tuple[Steps, bool]:
    """Without a line break at the end, and whether the value is on lines of its own."""
    last = steps[-1] if steps else None
    if isinstance(last, Text) and last.text.endswith("\n"):
        return (*steps[:-1], Text(last.text.removesuffix("\n"))), True
    return steps, steps != written


def _end_tags(one: _Opening, known: set[str]) -> list[str]:
    """The end tags that belong to the tags before a name, but for those that the template has."""
    texts = [one.text, *(step.text for step in one.rest if isinstance(step, Text))]
    found = [f"</{tag}>" for text in texts for tag in _TAG.findall(text)]
    return [end for end in dict.fromkeys(found) if end not in known]


def _template(text: str, field: str) -> str:
    """For `str.format`: a NUL stands for the field."""
    return text.replace("{", "{{").replace("}", "}}").replace("\0", f"{{{field}}}")
