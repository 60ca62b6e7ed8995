"""Messages and their parts, as Ollama has them: one string of content, pictures beside it, whole calls with objects."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import msgspec

from toolglot.core.history import link_results, said_as_error
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.reading.media import from_url
from toolglot.reading.shape import Body, a_list, a_string, an_object, each_object, misfit, no_such_word, or_none, own_extra
from toolglot.text.json_text import dumps, loads_object
from toolglot.wires.ollama.shapes import WIRE

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_CALL_KEYS = frozenset({"id", "type", "function", "index"})
_FUNCTION_KEYS = frozenset({"name", "arguments", "index"})

# A picture comes without its MIME type; its first bytes tell, and other wires insist on knowing.
_MAGIC = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for message in each_object(value, "messages", _read_message):
        if message.role == "tool" and messages and messages[-1].role == "tool":
            both = (*messages[-1].parts, *message.parts)
            messages[-1] = msgspec.structs.replace(messages[-1], parts=both)
        else:
            messages.append(message)
    return link_results(messages)


def _read_message(held: Body) -> Message:
    rest = dict(held)
    given = rest.pop("role", None)
    role: Any = given.lower() if isinstance(given, str) else ""  # the server lowers it too
    if role not in _ROLES:
        raise no_such_word("role", "system, user, assistant or tool", given)
    said = _read_said(rest)
    if role in ("tool", "function"):
        return Message("tool", (_read_result(rest, said),))
    if role != "assistant":
        return Message(role, said, extra={WIRE: rest} if rest else {})
    thought = or_none(a_string, rest.pop("thinking", None), "thinking")
    calls = rest.pop("tool_calls", None)
    parts: tuple[Part, ...] = (Reasoning(thought), *said) if thought else said
    if calls is not None:
        parts = (*parts, *each_object(calls, "tool_calls", _read_call))
    return Message("assistant", parts, extra={WIRE: rest} if rest else {})


def _read_said(rest: Body) -> tuple[Text | Media, ...]:
    content, images = rest.pop("content", None), rest.pop("images", None)
    text = or_none(a_string, content, "content")
    texts = (Text(text),) if text else ()
    if images is None:
        return texts
    pictures = enumerate(a_list(images, "images"))
    return (*texts, *(read_image(a_string(image, f"images[{at}]")) for at, image in pictures))


def read_image(data: str) -> Media:
    """Base64; a data URL or an address is understood too."""
    if data.startswith(("data:", "http://", "https://")):
        return from_url("image", data)
    try:
        head = b64decode(data[:8])
    except ValueError:
        head = b""
    return Media("image", next((mime for magic, mime in _MAGIC if head.startswith(magic)), None), data)


def _read_result(rest: Body, said: tuple[Text | Media, ...]) -> ToolResult:
    """Name and id may both be missing: the order of the results then tells."""
    call_id = or_none(a_string, rest.pop("tool_call_id", None), "tool_call_id")
    name = or_none(a_string, rest.pop("tool_name", None), "tool_name")
    if not name:
        name = or_none(a_string, rest.pop("name", None), "name")
    return ToolResult(call_id or "", name or None, said, extra={WIRE: rest} if rest else {})


def _read_call(held: Body) -> ToolCall:
    function = an_object(held.get("function", held), "function")
    name = a_string(function.get("name"), "function.name")
    arguments = arguments_text(function.get("arguments"))
    if arguments is None:
        raise misfit("function.arguments", "an object", function["arguments"])
    call_id = or_none(a_string, held.get("id"), "id")
    return ToolCall(call_id or "", name, arguments, extra=call_extra(held, function))


def arguments_text(value: Any) -> str | None:
    """Arguments as JSON text: of an object, of nothing, of text that is an object's JSON; None for all else."""
    if isinstance(value, dict):
        try:
            return dumps(value) if value else "{}"
        except RecursionError:
            return None
    if value is None:
        return "{}"
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text in ("", "null"):
        return "{}"
    return text if loads_object(text) is not None else None


def call_extra(held: Body, function: Body) -> Extra:
    """What a call holds beyond its id, name and arguments. The index is its position: nothing to keep."""
    if _CALL_KEYS.issuperset(held) and _FUNCTION_KEYS.issuperset(function):
        return {}
    if function is held:
        more = {key: value for key, value in held.items() if key not in _CALL_KEYS and key not in _FUNCTION_KEYS}
        return {WIRE: more} if more else {}
    own = {key: value for key, value in held.items() if key not in _CALL_KEYS}
    inner = {key: value for key, value in function.items() if key not in _FUNCTION_KEYS}
    if inner:
        own["function"] = inner
    return {WIRE: own} if own else {}


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    developer = False
    for message in messages:
        if message.role == "tool":
            written += [_write_result(part, notes) for part in message.parts if isinstance(part, ToolResult)]
            if message.extra:
                own_extra(message.extra, WIRE, "tool message", notes)
            continue
        if message.role == "assistant":
            held = _write_assistant(message, notes)
        else:
            role = "system" if message.role == "developer" else message.role
            developer = developer or role != message.role
            held = {"role": role, **_write_said(message.parts, f"{role} message", notes)}
        if message.name is not None:
            notes.append(f"name {message.name}: ollama has no names for speakers; left out")
        if message.extra:
            held.update(own_extra(message.extra, WIRE, f"{message.role} message", notes))
        written.append(held)
    if developer:
        notes.append("developer message: ollama has no such role; it goes as system")
    return written


def _write_said(parts: tuple[Part, ...], where: str, notes: list[str]) -> Body:
    """`content`, which is one string, and `images` where there are any."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return {"content": parts[0].text}
    texts: list[str] = []
    images: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
            if part.extra:
                own_extra(part.extra, WIRE, f"{where}, text", notes)
            if images:
                notes.append(f"{where}: ollama has pictures beside the text, not before it; their order is lost")
        elif isinstance(part, Media):
            images += write_image(part, where, notes)
        elif isinstance(part, Opaque):
            notes.append(f"{where}: a block of {part.wire}'s own ({part.block.get('type', '?')}) was left out")
    held: Body = {"content": _joined(texts, where, "texts", notes)}
    if images:
        held["images"] = images
    return held


def _joined(texts: list[str], where: str, what: str, notes: list[str]) -> str:
    if len(texts) > 1:
        notes.append(f"{where}: ollama takes one string; {len(texts)} {what} were joined with a line break")
    return "\n".join(texts)


def write_image(media: Media, where: str, notes: list[str]) -> list[str]:
    """The picture as `images` takes it, or nothing, and a note."""
    if media.extra:
        own_extra(media.extra, WIRE, f"{where}, {media.kind}", notes)
    if media.kind != "image":
        notes.append(f"{where}: ollama takes no {media.kind}; left out")
    elif media.data is None:
        notes.append(f"{where}: ollama takes a picture's data, not its address; left out")
    else:
        return [media.data]
    return []


def _write_assistant(message: Message, notes: list[str]) -> Body:
    said: list[Part] = []
    thoughts: list[str] = []
    calls: list[Body] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            calls.append(write_call(part, len(calls), notes))
        elif isinstance(part, Reasoning):
            if signers := _signers(part.extra):
                notes.append(f"reasoning in the history: it was signed for {signers}; left out")
            elif part.text:
                thoughts.append(part.text)
        else:
            said.append(part)
    held: Body = {"role": "assistant", **_write_said(tuple(said), "assistant message", notes)}
    if thoughts:
        held["thinking"] = _joined(thoughts, "assistant message", "thoughts", notes)
    if calls:
        held["tool_calls"] = calls
    return held


def _signers(extra: Extra) -> str:
    """Whose state a thought carries. This wire's thinking is plain text: none can be its own."""
    return ", ".join(sorted(wire for wire, own in extra.items() if own)) if extra else ""


def note_state(extra: Extra, notes: list[str]) -> None:
    """In a reply the thought itself is shown; only what signs it is lost."""
    if signers := _signers(extra):
        notes.append(f"reasoning: ollama can't carry the signature or encrypted state of {signers}; left out")


def write_call(call: ToolCall, index: int, notes: list[str]) -> Body:
    arguments = loads_object(call.arguments_json) if call.arguments_json else {}
    if arguments is None:
        notes.append(f"call {call.id}: its arguments are no JSON object; {{}} goes out")
        arguments = {}
    function: Body = {"index": index, "name": call.full_name, "arguments": arguments}
    held: Body = {"id": call.id, "function": function} if call.id else {"function": function}
    if call.extra:
        own = own_extra(call.extra, WIRE, f"call {call.id}", notes)
        function.update(own.pop("function", {}))
        held.update(own)
    return held


def _write_result(result: ToolResult, notes: list[str]) -> Body:
    """Both name and id: models' templates differ in which they use."""
    parts: tuple[Part, ...] = result.parts
    if result.is_error:
        notes.append(f"result {result.call_id}: ollama has no error flag; the text says so")
        parts = tuple(said_as_error(parts))
    held: Body = {"role": "tool"}
    if result.name:
        held["tool_name"] = result.name
    if result.call_id:
        held["tool_call_id"] = result.call_id
    held.update(_write_said(parts, f"result {result.call_id}", notes))
    if result.extra:
        held.update(own_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return held
