"""One call whose arguments arrive as text: watched as they pass, so that its end is known where it is.

Servers bend the rules here: two calls' arguments in one string, the same ones twice, an object as a JSON string,
`null`, nothing at all. What can stream does; what may still turn out otherwise is held.
"""

from __future__ import annotations

from toolglot.core.fold import join_extra
from toolglot.core.messages import Extra
from toolglot.core.reply import Decision
from toolglot.reading.blocks import Blocks
from toolglot.text.json_end import JsonEnd
from toolglot.text.json_text import BadJson, decode, dumps, loads_object


class OpenCall:
    __slots__ = ("_blocks", "_decisions", "_end", "_extra", "_index", "_rest", "_streams", "_texts", "id", "name", "open")

    def __init__(
        self,
        blocks: Blocks,
        name: str,
        call_id: str | None,
        *,
        namespace: str | None = None,
        custom: bool = False,
        extra: Extra | None = None,
    ) -> None:
        self._blocks = blocks
        self.name = name
        self.id = call_id
        self.open = True
        self._index = blocks.open_call(name, call_id, namespace=namespace, custom=custom, extra=extra)
        self._end = JsonEnd()
        self._streams: bool | None = None  # None: nothing but white space yet
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
        """Some of its arguments have come."""
        return self._streams is not None

    def state(self, extra: Extra) -> None:
        """What belongs to the call beside its arguments (a thought signature)."""
        self._extra = join_extra(self._extra, extra)

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
        end = self._end.feed(text) if self._texts or not self._end.whole(text) else len(text)
        if end < 0:
            self._texts.append(text)
            self._blocks.call_text(self._index, text)
            return
        self._texts.append(text[:end])
        self._blocks.call_text(self._index, text[:end])
        if end < len(text):
            self._rest.append(text[end:])

    def give(self, arguments: str) -> None:
        """The whole arguments at once, as the text of an object that needs no watching, and the end."""
        self.open = False
        self._blocks.call_text(self._index, arguments)
        self._blocks.close_call(self._index, decisions=tuple(self._decisions), extra=self._extra)

    def close(self, final: str | None = None) -> None:
        """The end of the call. `final`: the provider's last word on the whole arguments, used where none streamed."""
        if not self.open:
            return
        self.open = False
        if final and self._streams is None:
            self.feed(final)
        if not self._streams:
            self._close_held("".join(self._texts).strip())
            return
        rest = "".join(self._rest).strip() if self._rest else ""
        others = _objects(rest) if rest else []
        if rest and not others:  # not ours to judge: it goes along, for repair to see
            self._blocks.call_text(self._index, rest)
        sealed = self._end.done
        self._blocks.close_call(self._index, sealed=sealed, decisions=tuple(self._decisions), extra=self._extra)
        if others:
            self._split(others)

    def _abandon(self) -> None:
        """The stream ends while the call is open: what was held is shown, and the call is not to be run."""
        if self.open:
            self.open = False
            held = self._rest if self._streams else self._texts
            self._blocks.call_text(self._index, "".join(held))
            self._blocks.close_call(self._index, sealed=False, decisions=tuple(self._decisions), extra=self._extra)

    def _close_held(self, text: str) -> None:
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
        """More objects behind the first: repeats are one call, others are calls of their own."""
        seen = {_normal("".join(self._texts))}
        for text in others:
            if _normal(text) in seen:
                message = f"{self.name}: the same arguments stood twice in one call"
                self._blocks.decisions.append(Decision("merged_repeat", message))
                continue
            seen.add(_normal(text))
            index = self._blocks.open_call(self.name)
            self._blocks.call_text(index, text)
            message = f"{self.name}: one call held the arguments of several"
            self._blocks.close_call(index, decisions=(Decision("split_arguments", message),))


def _objects(text: str) -> list[str]:
    """`{..}{..}` as its objects; empty where anything else stands between or behind them."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = JsonEnd().feed(text, at) if text[at] == "{" else -1
        if end < 0 or loads_object(text[at:end]) is None:
            return []
        found.append(text[at:end])
        at = end
    return found


def _normal(text: str) -> str:
    """The same for the same arguments, however they are spaced."""
    held = loads_object(text)
    return text if held is None else dumps(held)


def _string(text: str) -> str | None:
    try:
        value = decode(text)
    except BadJson:
        return None
    return value if isinstance(value, str) else None
