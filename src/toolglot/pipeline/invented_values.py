"""Values of a call that nobody said: an id out of nowhere, a city where none was named, a date where no day is known.

Each comes with a reason that the model is told, and with where the value is to be had: in a result, by a tool, from the user.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.core.tools import Tool
from toolglot.pipeline.conversation import DATE, Conversation, stems_of
from toolglot.pipeline.due_tools import MOST_TOLD, Due
from toolglot.pipeline.ranked_tools import TELLERS
from toolglot.pipeline.relevance import as_words, words_of
from toolglot.pipeline.said_forms import EMAIL
from toolglot.pipeline.tool_needs import is_placeholder, names_what_it_makes, open_texts, required_of, words_of_tool
from toolglot.text.json_text import shown

_ID_KEY = re.compile(r"(?:^|_)(?:ids?|uuid|guid)$|[a-z](?:Id|ID)s?$")
_ID_TOLD = re.compile(r"\b(?:id|ID|identifier)\b")
_IN_WORDS = re.compile(r"[^\W\d_]+[.,]?(?: [^\W\d_]+[.,]?)+")
_NAME_KEY = re.compile(
    r"(?:city|town|place|location|address|street|airport|station|origin|destination|person|customer|author|artist|restaurant"
    r"|hotel|company|patient|doctor|recipient|contact|user_?name)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_a-z](?=[\w'.-]*[a-z])[\w'.-]*+(?:,? [^\W\d_][\w'.-]*+){0,4}")
_NUMERAL = re.compile(r"\d{3,}")
_A_DATE = re.compile(r"\d[-/.]\d")


class Invented:
    def __init__(self, spoken: Conversation, tools: tuple[Tool, ...], due: Due) -> None:
        self._spoken, self._tools, self._due = spoken, tools, due

    def invented(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """What stands for a value, and an id or an address that was not given; who makes something may choose its id."""
        for key, schema, value in open_texts(tool, held):
            if is_placeholder(key, value) and not self._spoken.holds(value):
                return f"{key} is {shown(value, 60)!r}, which stands for a value and is none{self._advice(key, tool)}"
            is_id = _ID_KEY.search(key) or _ID_TOLD.search(str(schema.get("description", ""))) or self._miscounts(value)
            if not EMAIL.fullmatch(value) and (not is_id or names_what_it_makes(tool, key)):
                continue
            if not self._spoken.holds(value):
                told = f"{key} is {shown(value, 60)!r}, which stands nowhere in the conversation"
                mails = self._spoken.mails[:MOST_TOLD] if "@" in value else ()
                return told + (f"; it has {' and '.join(mails)}" if mails else self._advice(key, tool))
        return None

    def unlikely(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """What may be right all the same."""
        return self._unnamed(tool, held) or self._twice(tool, held) or self._no_id(tool, held) or self._undated(tool, held)

    def made_up(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A text that is needed, or all of a list, with no trace in the conversation, nor among those that one may choose."""
        lists = [(key, value) for key, value in held.items() if key in required_of(tool) and isinstance(value, list)]
        texts = [(key, [value]) for key, own, value in open_texts(tool, held) if value not in str(own.get("description"))]
        for key, values in [*texts, *lists]:
            if values and all(isinstance(one, str) and not self._spoken.hints_at(one) for one in values):
                return f"{key} is {shown(', '.join(values), 60)!r}, which nobody has said"
        return None

    def _miscounts(self, value: str) -> bool:
        """A long number in a text that is no date, where nobody has said one of its parts: a tracking number of 1234567890."""
        runs = _NUMERAL.findall(value)
        return bool(runs) and not _A_DATE.search(value) and not any(run in self._spoken.digits for run in runs)

    def _advice(self, key: str, wanted: Tool) -> str:
        given = self._given(key)
        if given:
            return f"; the conversation has {' and '.join(given)}"
        tellers = self._tellers(key, wanted)
        return f"; call {' or '.join(tellers[:3])} first, which may give it" if tellers else f"; {self._due.instead(wanted)}"

    def _given(self, key: str) -> list[str]:
        """Values that a result has under the same key."""
        found = re.findall(rf'"{re.escape(key)}"\s*:\s*"([^"\\]{{1,80}})"', self._spoken.text)
        return list(dict.fromkeys(found))[:MOST_TOLD]

    def _tellers(self, key: str, wanted: Tool) -> list[str]:
        """Tools that may give a value: they look something up, speak of the same thing, and don't need the value themselves."""
        about = frozenset(words_of(as_words(f"{key} {wanted.name}"))) - {"id"}
        return [
            tool.full_name
            for tool in self._tools
            if TELLERS.search(tool.name) and key not in required_of(tool) and about & stems_of(words_of_tool(tool))
        ]

    def _unnamed(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A name, where the user has named nothing at all."""
        if self._spoken.names_something:
            return None
        for key, _, value in open_texts(tool, held):
            if _NAME_KEY.search(key) and _NAME.fullmatch(value) and not self._spoken.traces(value):
                return f"{key} is {shown(value, 60)!r}, and nobody has said so{self._advice(key, tool)}"
        return None

    def _twice(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """From Paris to Paris, of which nobody spoke."""
        seen: dict[str, str] = {}
        for key, _, value in open_texts(tool, held):
            if value in seen and not self._spoken.hints_at(value):
                told = f"{seen[value]} and {key} both are {shown(value, 60)!r}, and nobody has said so"
                return f"{told}; give each what the question names"
            seen[value] = key
        return None

    def _no_id(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """Words where an id is wanted, and there is a tool that may give it."""
        for key, _, value in open_texts(tool, held):
            if _ID_KEY.search(key) and _IN_WORDS.fullmatch(value) and self._tellers(key, tool):
                return f"{key} is {shown(value, 60)!r}, which is a name and no id{self._advice(key, tool)}"
        return None

    def _undated(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A date, where nothing tells any: neither the user nor the system says which day it is."""
        if self._spoken.dates_something:
            return None
        for key, _, value in open_texts(tool, held):
            if DATE.match(value):
                return f"{key} is {shown(value, 60)!r}, and nobody has said which day it is; {self._due.instead(tool)}"
        return None
