"""One call with arguments that arrive as text. They are scanned while they stream, to find their end.

Servers send two calls' arguments in one string, the same arguments twice, an object as a JSON string,
`null`, or nothing. Arguments stream if they begin as an object; anything else is buffered.
"""

from __future__ import annotations

from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra
from toolglot.core.reply import Decision
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps, loads_object
from toolglot.io.json_scanner import JsonScanner


class StreamedCall:
    __slots__ = ("_blocks", "_decisions", "_end", "_extra", "_index", "_rest", "_streams", "_texts", "name", "open")

    def __init__(
        self,
        blocks: BlockBuilder,
        name: str,
        call_id: str | None,
        *,
        namespace: str | None = None,
        custom: bool = False,
        extra: Extra | None = None,
    ) -> None:
        self._blocks = blocks
        self.name = name
        self.open = True
        self._index = blocks.open_call(name, call_id, namespace=namespace, custom=custom, extra=extra)
        self._end = JsonScanner()
        self._streams: bool | None = None  # None: only white space so far
        self._texts: list[str] = []
        self._rest: list[str] = []  # what follows the end of the object
        self._extra: Extra = {}
        self._decisions: list[Decision] = []
        blocks.at_end.append(self._abandon)

    @property
    def whole(self) -> bool:
        return self._end.done

    @property
    def begun(self) -> bool:
        """Whether any arguments have arrived."""
        return self._streams is not None

    def add_extra(self, extra: Extra) -> None:
        """Adds to the call's extra (a thought signature)."""
        self._extra = merge_extra(self._extra, extra)

    def feed(self, text: str) -> None:
        if not text:
            return
        if self._end.done:
            self._rest.append(text)
            return
        if self._streams is None:
            text = text.lstrip()
            if not text:
                return
            self._streams = text[0] == "{"
        if not self._streams:
            self._texts.append(text)
            return
        end = self._end.feed(text) if self._texts or not self._end.is_one_object(text) else len(text)
        if end < 0:
            self._texts.append(text)
            self._blocks.call_text(self._index, text)
            return
        self._texts.append(text[:end])
        self._blocks.call_text(self._index, text[:end])
        if end < len(text):
            self._rest.append(text[end:])

    def emit_whole(self, arguments: str) -> None:
        """Emits the whole arguments, which are known to be an object, and closes the call."""
        self.open = False
        self._blocks.call_text(self._index, arguments)
        self._blocks.close_call(self._index, decisions=tuple(self._decisions), extra=self._extra)

    def close(self, final: str | None = None) -> None:
        """Closes the call. `final`: the complete arguments as sent at the end, used if none streamed."""
        if not self.open:
            return
        self.open = False
        if final and self._streams is None:
            self.feed(final)
        if not self._streams:
            self._close_buffered("".join(self._texts).strip())
            return
        rest = "".join(self._rest).strip() if self._rest else ""
        others = _objects(rest) if rest else []
        if rest and not others:  # emitted too: call repair handles it
            self._blocks.call_text(self._index, rest)
        sealed = self._end.done
        self._blocks.close_call(self._index, sealed=sealed, decisions=tuple(self._decisions), extra=self._extra)
        if others:
            self._split(others)

    def _abandon(self) -> None:
        """The stream ends while the call is open: buffered text is emitted, and the call is not to be run."""
        if self.open:
            self.open = False
            buffered = self._rest if self._streams else self._texts
            self._blocks.call_text(self._index, "".join(buffered))
            self._blocks.close_call(self._index, sealed=False, decisions=tuple(self._decisions), extra=self._extra)

    def _close_buffered(self, text: str) -> None:
        """Arguments that did not begin as an object."""
        sealed, decisions = True, list(self._decisions)
        if text in ("", "null"):
            text = "{}"
        elif text[0] == '"':
            inner = _string(text)
            if inner is None:
                sealed = False
            elif loads_object(inner) is not None:
                text = inner
                decisions.append(Decision("unwrapped_string", f"{self.name}: the arguments were JSON inside a string"))
        self._blocks.call_text(self._index, text)
        self._blocks.close_call(self._index, sealed=sealed, decisions=tuple(decisions), extra=self._extra)

    def _split(self, others: list[str]) -> None:
        """More objects after the first: a repeat is dropped, any other becomes a call."""
        seen = {_normal("".join(self._texts))}
        for text in others:
            if _normal(text) in seen:
                message = f"{self.name}: the same arguments came twice in one call"
                self._blocks.decisions.append(Decision("duplicate_call", message))
                continue
            seen.add(_normal(text))
            index = self._blocks.open_call(self.name)
            self._blocks.call_text(index, text)
            message = f"{self.name}: one call contained the arguments of several"
            self._blocks.close_call(index, decisions=(Decision("split_arguments", message),))


def _objects(text: str) -> list[str]:
    """The objects of `{..}{..}`; empty if there is anything else between or after them."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = JsonScanner().feed(text, at) if text[at] == "{" else -1
        if end < 0 or loads_object(text[at:end]) is None:
            return []
        found.append(text[at:end])
        at = end
    return found


def _normal(text: str) -> str:
    """A normal form, independent of white space."""
    obj = loads_object(text)
    return text if obj is None else dumps(obj)


def _string(text: str) -> str | None:
    try:
        value = decode(text)
    except JSON_ERRORS:
        return None
    return value if isinstance(value, str) else None
