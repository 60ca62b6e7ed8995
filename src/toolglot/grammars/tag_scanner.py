"""Scans calls in tags while they stream.

An optional wrapper contains calls, a call contains values, and a value is raw text that may contain anything, even closing
tags. So a closing tag inside a value counts only if what follows it is legal, and tags that open and close inside the value are
part of it. Each character is examined once; only text that may still become a tag is buffered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from toolglot.io.json_scanner import JsonScanner

_NON_SPACE = re.compile(r"\S")
_NAME_SO_FAR = re.compile(r"\s*[\"']?([^\s\"'<>{\\]*)")
_LONGEST_HEAD = 400  # a longer name is rejected

# The role of a tag in a call. Upper case opens, lower case closes.
_OUTER, _outer, _CALL, _call, _VALUE, _value, _key, _start, _CDATA, _skip = "O", "o", "C", "c", "V", "v", "k", "s", "D", "x"

# The scanner's place: between calls, inside a call, inside a value.
_OUTSIDE, _IN_CALL, _IN_VALUE = range(3)


def _first_group(found: re.Match[str]) -> str:
    return next((group for group in found.groups() if group), "")


@dataclass(frozen=True, eq=False)
class Tags:
    """A notation's literal tags. An opening tag that contains a name is given up to the name."""

    call: tuple[str, str]
    values: Mapping[str, str]  # opening tag -> closing tag
    head: re.Pattern[str]  # what follows the call's opening tag, up to its end; a non-empty group `empty`: there is no body
    not_head: re.Pattern[str]  # text that can't become a head
    outer: tuple[str, str] | None = None
    variants: tuple[tuple[str, str], ...] = ()  # other tags that open and close a call
    closers: tuple[str, ...] = ()  # of wrappers that other dialects put around the same calls
    skipped: tuple[str, ...] = ()  # ignored between tags
    header: tuple[re.Pattern[str], re.Pattern[str]] | None = None  # what follows a message's opener, and what can't become it
    key: tuple[str, str] | None = None  # (closes a key, opens its value), if a key has its own tag
    cdata: bool = False
    json_calls: bool = False  # a call may be a JSON object with its name inside
    loose: bool = False  # anything is allowed inside a call outside its values
    alone: bool = False  # stop before a second call: otherwise each of many would be scanned with all that follow it
    name_of: Callable[[re.Match[str]], str] = _first_group

    @cached_property
    def roles(self) -> dict[str, str]:
        roles = dict.fromkeys(self.skipped, _skip) | dict.fromkeys(self.closers, _outer)
        for opener, closer in self.values.items():
            roles[opener], roles[closer] = _VALUE, _value
        if self.outer:
            roles[self.outer[0]], roles[self.outer[1]] = _OUTER, _outer
        if self.key:
            roles[self.key[0]], roles[self.key[1]] = _key, _start
        if self.cdata:
            roles["<![CDATA["] = _CDATA
        for opener, closer in (*self.variants, self.call):
            roles[opener], roles[closer] = _CALL, _call
        return roles

    @cached_property
    def token(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(tag) for tag in sorted(self.roles, key=len, reverse=True)))

    @cached_property
    def cut_token(self) -> re.Pattern[str]:
        """The prefix of a tag at the end of the text."""
        starts = sorted({tag[:size] for tag in self.roles for size in range(1, len(tag))}, key=len, reverse=True)
        return re.compile("(?:" + "|".join(map(re.escape, starts)) + r")\Z")

    @cached_property
    def flat_ends(self) -> dict[str, re.Pattern[str]]:
        """For each opening tag of a value: its closing tag with the next opening one, or the end of the text, behind it."""
        return {tag: re.compile(f"{end.pattern}|{re.escape(self.values[tag])}\\s*\\Z") for tag, end in self.between.items()}

    @cached_property
    def between(self) -> dict[str, re.Pattern[str]]:
        """For each opening tag of a value: its closing tag with the next opening one behind it."""
        openers = "|".join(re.escape(tag) for tag in sorted(self.values, key=len, reverse=True))
        return {tag: re.compile(rf"{re.escape(end)}\s*({openers})") for tag, end in self.values.items()}

    @cached_property
    def longest(self) -> int:
        return max(map(len, self.roles))


@dataclass(slots=True)
class Value:
    opener: str
    start: int  # after the literal part of the opening tag
    end: int = -1
    after: int = -1  # after its closing tag
    closed: bool = False  # by its closing tag
    absent: bool = False  # a key without a value


@dataclass(slots=True)
class Call:
    start: int
    name: str = ""
    body: int = -1  # where the head ends; -1: it is incomplete
    values: list[Value] = field(default_factory=list)
    json: tuple[int, int] | None = None
    end: int = -1
    closed: bool = False  # it is complete
    tagged: bool = False  # by its closing tag


class TagScanner:
    """Call `feed` until it returns the end, or `finish` if the text ends first. Then `calls` has the offsets of all calls."""

    def __init__(self, tags: Tags, *, at: int = 0, in_head: bool = False, in_header: bool = False) -> None:
        self.calls: list[Call] = []
        self.done = False
        self.stop = -1  # where it ended
        self.wrapped = False  # a wrapper is open
        self.sealed = False  # it ended with the wrapper's closing tag
        self.examined = 0  # characters examined: the linear-work law counts them
        self._tags = tags
        self._base = at  # the offset of the buffer in the whole text
        self._buffer = ""
        self._keep = 0
        self._nested: dict[str, int] = {}  # tags that were opened inside the value
        self._closer: tuple[str, int, int] | None = None  # a closing tag that is confirmed by what follows
        self._in_key = False
        self._json = JsonScanner()
        self._step: Callable[[TagScanner, str, int], int] = TagScanner._token  # unbound: no reference cycle
        self._place = _OUTSIDE
        if in_head:
            self._open_call(at)
        elif in_header:
            self._step = TagScanner._header

    @property
    def certain(self) -> int:
        """The offset up to which everything is decided."""
        return self.stop if self.done else self._closer[1] if self._closer else self._base

    def feed(self, text: str) -> int:
        """The offset in `text` where it ends (0 if it ended in an earlier piece), or -1."""
        self.examined += len(text)
        buffered = len(self._buffer)
        if buffered:
            text = self._buffer + text
        at = 0
        while at >= 0 and not self.done:
            at = self._step(self, text, at)
        if self.done:
            return max(0, self.stop - self._base - buffered)
        self._buffer = text[self._keep :]
        self._base += self._keep
        return -1

    # Steps

    def _header(self, text: str, at: int) -> int:
        header, not_header = self._tags.header or (_NON_SPACE, _NON_SPACE)
        found = header.match(text, at)
        if found and found.end() - at <= _LONGEST_HEAD:
            self._step = TagScanner._token
            return found.end()
        return self._stop(at) if len(text) - at > _LONGEST_HEAD or not_header.match(text, at) else self._wait(at)

    def _head(self, text: str, at: int) -> int:
        call = self.calls[-1]
        found_text = _NON_SPACE.search(text, at)
        if found_text and self._tags.json_calls and found_text[0] in "{[":
            call.body = self._base + at
            return self._open_json(found_text.start())
        found = self._tags.head.match(text, at)
        if found and found.end() - at <= _LONGEST_HEAD:
            call.name, call.body = self._tags.name_of(found), self._base + found.end()
            if found.groupdict().get("empty"):
                self._end_call(call.body, tagged=True)
            else:
                self._step = TagScanner._body
            return found.end()
        if len(text) - at > _LONGEST_HEAD or self._tags.not_head.match(text, at):
            return self._stop(at)
        return self._wait(at)

    def _body(self, text: str, at: int) -> int:
        """After the head: a JSON object, or tags."""
        found_text = _NON_SPACE.search(text, at)
        if found_text is None:
            return self._wait(len(text))
        if found_text[0] == "{":
            return self._open_json(found_text.start())
        self._step, self._place = TagScanner._token, _IN_CALL
        return found_text.start()

    def _open_json(self, at: int) -> int:
        self.calls[-1].json = (self._base + at, -1)
        self._json = JsonScanner()
        self._step = TagScanner._in_json
        return at

    def _in_json(self, text: str, at: int) -> int:
        end = self._json.feed(text, at)
        if end < 0:
            return self._wait(len(text))
        call = self.calls[-1]
        call.json = ((call.json or (0, 0))[0], self._base + end)
        self._step, self._place = TagScanner._token, _IN_CALL
        if call.body < 0:  # the object is the whole call: no closing tag follows
            self._end_call(self._base + end, tagged=True)
        return end

    def _in_cdata(self, text: str, at: int) -> int:
        end = text.find("]]>", at)
        if end < 0:
            return self._wait(max(at, len(text) - 2))
        self._step = TagScanner._token
        return end + 3

    def _token(self, text: str, at: int) -> int:
        tags = self._tags
        found = tags.token.search(text, at)
        if found:
            gap = found.start()
        else:
            cut = tags.cut_token.search(text, max(at, len(text) - tags.longest + 1))
            gap = cut.start() if cut else len(text)
        if self._place == _IN_VALUE:
            found_text = _NON_SPACE.search(text, at, gap) if self._closer else None
            if found_text and tags.loose and found_text[0] == "<":
                return self._unknown_tag(text, found_text.start())
            if found_text:
                self._closer = None  # text follows: it was not a closing tag but part of the value
        elif gap > at and not (tags.loose and self._place == _IN_CALL):
            found_text = _NON_SPACE.search(text, at, gap)
            if found_text:
                return self._plain_text(text, found_text.start())
        if found is None:
            return self._wait(gap)
        role = tags.roles[found[0]]
        if self._place == _IN_VALUE:
            return self._in_value(role, found)
        return self._in_call(role, found) if self._place == _IN_CALL else self._in_outer(role, found)

    def _unknown_tag(self, text: str, at: int) -> int:
        """An undeclared tag after a value's closing tag: in loose calls it may be the next value."""
        if at + 1 == len(text):
            return self._wait(at)
        if self._closer and text[at + 1].isalpha():
            self._end_value(*self._closer)
        self._closer = None
        return at

    def _wait(self, keep: int) -> int:
        self._keep = keep
        return -1

    def _plain_text(self, text: str, at: int) -> int:
        """Text where only tags are legal."""
        if self._place == _OUTSIDE and self._tags.json_calls and text[at] in "{[":
            self.calls.append(Call(self._base + at))
            return self._open_json(at)
        return self._stop(at)

    def _stop(self, at: int) -> int:
        """Ends the region. A call that has only a name is dropped."""
        if self.calls and self.calls[-1].end < 0:
            call = self.calls[-1]
            last = call.values[-1].after if call.values else call.json[1] if call.json else -1
            if last >= 0:
                self._end_call(last, tagged=False)
            else:
                self.calls.pop()
        return self._end(at)

    def _end(self, at: int) -> int:
        self.done, self.stop = True, self._base + at
        return at

    # Tags

    def _in_outer(self, role: str, found: re.Match[str]) -> int:
        if role == _CALL and self._tags.alone and self.calls:
            return self._end(found.start())
        if role == _CALL:
            self._open_call(self._base + found.start())
        elif role == _OUTER:
            self.wrapped = True
        elif role == _outer:
            self.wrapped, self.sealed = False, True
            return self._end(found.end())
        elif role == _VALUE:
            return self._stop(found.start())
        return found.end()

    def _in_call(self, role: str, found: re.Match[str]) -> int:
        if role == _VALUE:
            self.calls[-1].values.append(Value(found[0], self._base + found.end()))
            self._nested, self._closer, self._in_key = {}, None, self._tags.key is not None
            self._place = _IN_VALUE
        elif role == _call:
            self._end_call(self._base + found.end(), tagged=True)
            if self._tags.outer is None:
                return self._end(found.end())
        elif role in (_CALL, _OUTER, _outer):  # the closing tag is missing
            self._end_call(self._base + found.start(), tagged=False)
            return found.start()
        return found.end()

    def _in_value(self, role: str, found: re.Match[str]) -> int:
        if self._closer and role != _skip:
            kind, start, end = self._closer
            self._closer = None
            if role in _FOLLOWS[kind]:
                self._end_value(kind, start, end)
                return found.start()
        value = self.calls[-1].values[-1]
        nested = self._nested
        if role == _VALUE and self._in_key:  # the tag was written twice
            return found.end()
        if role in (_OUTER, _CALL) or (role == _VALUE and found[0] == value.opener):
            nested[role] = nested.get(role, 0) + 1
        elif role in (_outer, _call) or (role == _value and found[0] == self._tags.values[value.opener]):
            if nested.get(role.upper()):
                nested[role.upper()] -= 1
            else:
                self._closer = (role, self._base + found.start(), self._base + found.end())
        elif role == _key and self._in_key:
            self._in_key = False
            self._closer = (role, self._base + found.start(), self._base + found.end())
        elif role == _CDATA:
            self._step = TagScanner._in_cdata
        return found.end()

    # Start and end of calls and values

    def _open_call(self, start: int) -> None:
        self.calls.append(Call(start))
        self._step = TagScanner._head

    def _end_call(self, end: int, *, tagged: bool) -> None:
        call = self.calls[-1]
        call.end, call.closed, call.tagged = end, True, tagged
        self._step, self._place = TagScanner._token, _OUTSIDE

    def _end_value(self, kind: str, start: int, end: int) -> None:
        value = self.calls[-1].values[-1]
        value.end, value.after, value.closed, value.absent = start, end, kind in (_value, _key), kind == _key
        self._place = _IN_CALL
        if kind == _call:
            self._end_call(end, tagged=True)
        elif kind == _outer:
            self._end_call(end, tagged=False)

    def finish(self) -> None:
        """The text has ended. A call is complete if its last value is, and no further tag has partial."""
        if self.done:
            return
        end = self._base + len(self._buffer)
        self.done, self.stop = True, end
        call = self.calls[-1] if self.calls else None
        if call is None or call.end >= 0:
            return
        partial = bool(self._buffer) and any(tag.startswith(self._buffer) for tag in self._tags.values)
        if self._step is TagScanner._head:
            found = _NAME_SO_FAR.match(self._buffer)
            call.name = found[1] if found else ""
        elif self._step is TagScanner._in_json:
            call.json = ((call.json or (0, 0))[0], end)
        elif self._place == _IN_VALUE:
            if self._closer and self._closer[0] != _key:
                self._end_value(*self._closer)
                call.closed = not partial
            else:
                call.values[-1].end = end
        else:
            call.closed = bool(call.values or call.json) and not partial
        call.end = end if call.end < 0 else call.end


# What must follow a closing tag inside a value for it to count.
_FOLLOWS = {
    _value: {_VALUE, _CALL, _call, _OUTER, _outer},
    _key: {_VALUE, _CALL, _call, _OUTER, _outer},
    _call: {_CALL, _OUTER, _outer},
    _outer: {_CALL, _OUTER},
}
