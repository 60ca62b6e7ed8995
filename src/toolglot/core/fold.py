"""fold: events to a reply. unfold: a reply to events. A whole reply is the fold of a stream, always."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Decision, Reply, Stop, Usage
from toolglot.errors import UpstreamError


def fold(events: Iterable[Event]) -> Reply:
    """The reply that a stream of events makes.

    Examples:
        >>> chunks = [b'{"message":{"content":"Hel"},"done":false}', b'{"message":{"content":"lo"},"done":true}']
        >>> fold(toolglot.read_stream([chunk + b"\\n" for chunk in chunks], "ollama")).text
        'Hello'
    """
    blocks: dict[int, _Block] = {}
    start = Start()
    decisions: list[Decision] = []
    notes: tuple[str, ...] = ()
    stop: Stop | None = None
    usage: Usage | None = None
    error: UpstreamError | None = None
    extra: Extra = {}
    for event in events:
        if type(event) is Delta:
            blocks[event.index].pieces.append(event.text)
        elif type(event) is Open:
            blocks[event.index] = _Block(event)
        elif type(event) is Close:
            blocks[event.index].close = event
            if event.decisions:
                decisions.extend(event.decisions)
        elif isinstance(event, Start):
            start = event
        elif isinstance(event, Finish):
            stop, usage, notes, extra = event.stop, event.usage, event.notes, event.extra
            decisions.extend(event.decisions)
        elif isinstance(event, Fault):
            error, notes, stop = event.error, event.notes, Stop("error", event.error.code)
            decisions.extend(event.decisions)
    return Reply(
        id=start.id,
        model=start.model,
        created=start.created,
        parts=tuple([block.part() for block in blocks.values()]),
        stop=stop,
        usage=usage,
        notes=notes,
        decisions=tuple(decisions),
        error=error,
        extra=extra,
    )


def unfold(reply: Reply) -> Iterator[Event]:
    """The events of a whole reply: `fold(unfold(reply)) == reply`.

    Examples:
        >>> [type(event).__name__ for event in unfold(toolglot.Reply(parts=(toolglot.Text("Hello"),)))]
        ['Start', 'Open', 'Delta', 'Close', 'Finish']
    """
    yield Start(reply.id, reply.model, reply.created)
    for index, part in enumerate(reply.parts):
        yield from unfold_part(index, part)
    if reply.error is not None:
        yield Fault(reply.error, reply.decisions, reply.notes)
    else:
        yield Finish(reply.stop or Stop("other"), reply.usage, reply.notes, reply.decisions, reply.extra)


def unfold_part(index: int, part: Part) -> Iterator[Event]:
    """One part as the events of its block."""
    opened, text = _opening(index, part)
    yield opened
    if text:
        yield Delta(index, text)
    yield Close(index, part.sealed, (), {}, part.written, part.fixes) if type(part) is ToolCall else Close(index)


def merge_extra(first: Extra, second: Extra) -> Extra:
    """Merges the extras of two events of one block, wire by wire; the later value wins."""
    if not second:
        return first
    if not first:
        return second
    joined = dict(first)
    for wire, fields in second.items():
        joined[wire] = {**joined.get(wire, {}), **fields}
    return joined


class _Block:
    """A block being folded."""

    __slots__ = ("close", "open", "pieces")

    def __init__(self, opened: Open) -> None:
        self.open = opened
        self.pieces: list[str] = []
        self.close: Close | None = None

    def part(self) -> Part:
        opened, close = self.open, self.close
        text = self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)
        extra = merge_extra(opened.extra, close.extra) if close is not None else opened.extra
        match opened.kind:
            case "text":
                return Text(text, opened.channel, extra)
            case "reasoning":
                return Reasoning(text, extra)
            case "call":
                return ToolCall(
                    opened.call_id or "",
                    opened.name or "",
                    text,
                    opened.namespace,
                    opened.custom,
                    close is not None and close.sealed,
                    opened.source,
                    close.written if close is not None else None,
                    close.fixes if close is not None else (),
                    extra,
                )
            case "media":
                return _media(opened, text, extra)
            case "opaque":
                return Opaque(opened.name or "", _block(text))


def _opening(index: int, part: Part) -> tuple[Open, str]:
    match part:
        case Text(text, channel, extra):
            return Open(index, "text", channel=channel, extra=extra), text
        case Reasoning(text, extra):
            return Open(index, "reasoning", extra=extra), text
        case ToolCall():
            opened = Open(index, "call", part.name, part.id, None, part.namespace, part.custom, part.source, part.extra)
            return opened, part.arguments_json
        case Media():
            return Open(index, "media", part.mime, part.name, part.kind, extra=part.extra), _address(part)
        case Opaque(wire, block):
            return Open(index, "opaque", wire), msgspec.json.encode(block).decode()
        case _:
            raise TypeError(f"a reply can't contain a {type(part).__name__}")


def _address(media: Media) -> str:
    if media.data is None:
        return media.url or ""
    return f"data:{media.mime or ''};base64,{media.data}"


def _media(opened: Open, text: str, extra: Extra) -> Media:
    kind: Any = opened.channel or "file"
    head, comma, data = text.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return Media(kind, opened.name, data, name=opened.call_id, extra=extra)
    return Media(kind, opened.name, url=text or None, name=opened.call_id, extra=extra)


def _block(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}
