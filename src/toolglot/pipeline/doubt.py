"""Calls that nothing in the conversation speaks for. Small models make them: an id of 12345, a city that nobody named.

Seven things are looked for, each so narrow that a call that was meant as it stands is next to never doubted: an id, a long
number or an e-mail address that stands nowhere; a name or a date, where nobody has named or dated anything, or an id is wanted;
a call that was just made and has its result; a tool that is beside the question: no word in common, or nothing that the gate
for still smaller models would call for, or something made up while another tool finds all it needs; a result in place of the
call that would give it; words about a tool that plainly is to be used; and one call of several, where the question tells the
others in full. The model is told why. Where it insists, it may know better than words can tell, and the call passes; but nobody
knows an id that was never said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec

from toolglot.core.messages import Message, ToolCall
from toolglot.core.tools import Tool
from toolglot.pipeline.borne_out import untold
from toolglot.pipeline.conversation import WORD, Conversation, stems_of
from toolglot.pipeline.gate import Verdict, gate
from toolglot.pipeline.guard_calls import canonical
from toolglot.pipeline.ranked_tools import NAMED, TELLERS, Ranked, own_words_of
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import as_words, spaced, words_of
from toolglot.pipeline.said_forms import EMAIL
from toolglot.pipeline.set_right import set_right
from toolglot.pipeline.several_calls import Calls
from toolglot.pipeline.small_talk import is_small_talk
from toolglot.pipeline.so_far import SoFar
from toolglot.pipeline.told_values import Told, in_full, not_made, told_values
from toolglot.pipeline.tool_needs import (
    is_placeholder,
    names_what_it_makes,
    open_texts,
    plain_values,
    required_of,
    words_of_tool,
)
from toolglot.schema.check import checker
from toolglot.text.json_text import dumps, loads_object, shown

INVENTED, UNRELATED, REPEATED = "rejected_invented", "rejected_unrelated", "rejected_repeat"
MADE_UP, INCOMPLETE, UNUSED, LACKING = "rejected_result", "rejected_incomplete", "rejected_unused", "lacking_answer"
DOUBTED = frozenset({INVENTED, UNRELATED, REPEATED, MADE_UP, INCOMPLETE, UNUSED, LACKING})
_NO_RESULT = "the reply is an object, made up in the place of a tool's result"
_UNTOLD = "the answer does not say what was asked for, and the results have it"
_NO_CALL = "no tool was called, though the question tells all that is needed"
_FIGURE = re.compile(r"\d+(?:[.,:-]\d+)*")
_SHARP = re.compile(r"\w[./@:_-]\w|\d\d|\w \w+ \w")
_TOO_MUCH = 2  # times that one call was refused: it is wrong in more than one way
_ENOUGH = 2  # arguments that were said: the call has to do with what was asked
_FEW_TOOLS = 8
_NOT_ALL = "this is one of the calls that the question asks for, all"
_UNASKED = "nothing in the conversation asks for what it does"
_CODE = re.compile(r"[A-Z]{1,5}")
_SHORT = 2  # letters of a word that tells nothing
_MOST_GIVEN = 5  # values that are told back
_ID_KEY = re.compile(r"(?:^|_)(?:ids?|uuid|guid)$|[a-z](?:Id|ID)s?$")
_ID_TOLD = re.compile(r"\b(?:id|ID|identifier)\b")
_IN_WORDS = re.compile(r"[^\W\d_]+[.,]?(?: [^\W\d_]+[.,]?)+")
_SERVES_ALL = re.compile(
    r"\b(?:code|command|script|sql|query|expression|prompt|message|question|text|content|input|keywords?|url|path)\b"
)
_NAME_KEY = re.compile(
    r"(?:city|town|place|location|address|street|airport|station|origin|destination|person|customer|author|artist|restaurant"
    r"|hotel|company|patient|doctor|recipient|contact|user_?name)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_a-z](?=[\w'.-]*[a-z])[\w'.-]*+(?:,? [^\W\d_][\w'.-]*+){0,4}")
_NUMERAL = re.compile(r"\d{3,}")
_A_DATE = re.compile(r"\d[-/.]\d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_ADVISED = re.compile(r"; call (.{1,300}?) first, which may give it")
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)


class Doubts:
    """What a conversation speaks for. Looked at when the first call comes, and then once."""

    def __init__(self, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> None:
        self.spoken = Conversation(messages)
        self._so_far = SoFar(messages)
        self._tools = {tool.full_name: tool for tool in tools}

    def of(self, call: ToolCall) -> tuple[str, str] | None:
        """The code and the reason, if the call is to be doubted."""
        tool, held = self._read(call)
        if tool is None or held is None:
            return None
        invented = self._invented(tool, held)
        if invented is not None:
            return INVENTED, invented
        if self._wants_nothing:
            return UNRELATED, "the user wants nothing done"
        told = self._so_far.refused(call)
        for code, why in self._unlikely(call, tool, held):
            insisted = any(why in one for one in told) and len(told) < _TOO_MUCH
            if not insisted or (code == UNRELATED and not self._may_be_meant(tool, held)):
                return code, why
        if told and self._may_be_meant(tool, held):
            return None
        return None if self._asked_for(tool, held) else (UNRELATED, _UNASKED)

    def _may_be_meant(self, tool: Tool, held: dict[str, Any]) -> bool:
        """Not, if it was given nothing of what was said, or first another was called for, which there is not."""
        return not self._so_far.wanted_another and (not required_of(tool) or self._gives(held) > 0)

    def set_right(self, call: ToolCall) -> ToolCall | None:
        """The call as the conversation would have it, if that is another and fits the tool."""
        tool, held = self._read(call)
        if tool is None or held is None:
            return None
        right, codes = set_right(tool, held, self.spoken, self._tells(tool), begun=self._so_far.has_results)
        if not codes or not checker(tool.schema).fits(right):
            return None
        written = call.arguments_json if call.written is None else call.written
        return msgspec.structs.replace(call, arguments_json=dumps(right), written=written, fixes=(*call.fixes, *codes))

    def _tells(self, tool: Tool) -> dict[str, Any]:
        """What the question says of the arguments; several messages and results may say anything of each other's."""
        if len(self._so_far.asked) != 1 or self._so_far.has_results or not self.spoken.is_english:
            return {}
        return told_values(tool, "\n".join(self._so_far.questions))

    def _read(self, call: ToolCall) -> tuple[Tool | None, dict[str, Any] | None]:
        """The function that it is of, and its arguments."""
        tool = self._tools.get(call.full_name)
        return tool if tool is not None and tool.kind == "function" else None, loads_object(call.arguments_json)

    def of_text(self, text: str) -> tuple[str, str] | None:
        """The same of a reply without a call: a result that no tool gave, or words where a tool plainly is to be used."""
        if self._so_far.has_results:
            return self._lacking(text)
        held = _FENCED.fullmatch(text.strip())
        if loads_object(held[1] if held else text) and "json" not in self.spoken.words:
            return None if _NO_RESULT in self._so_far.told else (MADE_UP, f"{_NO_RESULT}{self._to_call}")
        due = self._plainly_due
        if due is None or _NO_CALL in self._so_far.told:
            return None
        new = [figure for figure in _FIGURE.findall(text) if figure not in self.spoken.text]  # which are to be looked up
        is_one = self._speaks_of_a_tool(text) or (new and TELLERS.search(due.name))
        return (UNUSED, f"{_NO_CALL}{self._to_call}") if is_one else None

    def _lacking(self, text: str) -> tuple[str, str] | None:
        """An answer without what was asked for, where the results that came last have it."""
        last = self._so_far.lately
        missing = untold(text, last) if self.spoken.is_english and last.results and _UNTOLD not in self._so_far.told else []
        return (LACKING, f"{_UNTOLD}: {shown(', '.join(missing[:_MOST_GIVEN]), 200)}") if missing else None

    def _speaks_of_a_tool(self, text: str) -> bool:
        """You can use the `get_ticket` function. A name that is a plain word must stand as code."""
        return any((name in text and not name.isalpha()) or f"`{name}`" in text for name in self._tools)

    def strays(self, calls: Sequence[ToolCall]) -> dict[str, tuple[str, str]]:
        """Of several calls at once, by their ids: those with something made up beside one that was said in full."""
        read = [(call, *self._read(call)) for call in calls]
        if (
            len(calls) < 2
            or self._so_far.has_results
            or not any(tool and held and self._all_said(tool, held) for _, tool, held in read)
        ):
            return {}
        found = {call.id: self._made_up(tool, held) for call, tool, held in read if tool is not None and held is not None}
        told = {call.id: " ".join(self._so_far.refused(call)) for call in calls}
        return {id: (INVENTED, why) for id, why in found.items() if why is not None and why not in told[id]}

    def of_all(self, calls: Sequence[ToolCall]) -> tuple[str, str] | None:
        """The same of all calls of a reply together: those that the question asks for as plainly, and that are not made."""
        if len(calls) != 1 or any(_NOT_ALL in told for told in self._so_far.refused(calls[0])):
            return None  # who makes several knows how many
        left = self.left_out(calls)
        if not left:
            return None
        return INCOMPLETE, f"{_NOT_ALL} {len(calls) + len(left)}: with it make {in_full(left[:_MOST_GIVEN])}"

    def left_out(self, calls: Sequence[ToolCall]) -> list[Told]:
        """What the question tells of in full beside these calls."""
        if not calls or self._so_far.has_results or not self._asks_alone:
            return []
        return not_made(self._due, calls)

    def held_back(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Those that were told to come with others, where these are the others: they need not be written again."""
        made = {canonical(call) for call in calls}
        waiting = [part for part in self._so_far.calls if any(_NOT_ALL in told for told in self._so_far.refused(part))]
        back = {canonical(part): part for part in waiting}
        found = [part for key, part in back.items() if key not in made]
        return found if found and not self.left_out([*calls, *found]) else []

    def _unlikely(self, call: ToolCall, tool: Tool, held: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """What may be right all the same: each is told once, and where there is more than one of it, it is not believed."""
        if canonical(call) in self._so_far.just_made:
            yield REPEATED, "it was just made with these arguments, and its result stands above"
        unlikely = self._unnamed(tool, held) or self._no_id(tool, held) or self._undated(tool, held)
        if unlikely is not None:
            yield INVENTED, unlikely
        if self._under_way(tool):
            return
        better = self._better(tool, held)
        if better is not None:
            yield INVENTED, better
        elif not self._related(tool) and self._gives(held) < _ENOUGH:
            yield UNRELATED, _UNASKED

    # -- values

    def _invented(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """What stands for a value, and an id or an address that was not given; who makes something may choose its id."""
        for key, schema, value in open_texts(tool, held):
            if is_placeholder(key, value) and not self.spoken.holds(value):
                return f"{key} is {shown(value, 60)!r}, which stands for a value and is none{self._advice(key, tool)}"
            is_id = _ID_KEY.search(key) or _ID_TOLD.search(str(schema.get("description", ""))) or self._miscounts(value)
            if not EMAIL.fullmatch(value) and (not is_id or names_what_it_makes(tool, key)):
                continue
            if not self.spoken.holds(value):
                told = f"{key} is {shown(value, 60)!r}, which stands nowhere in the conversation"
                mails = self.spoken.mails[:_MOST_GIVEN] if "@" in value else ()
                return told + (f"; it has {' and '.join(mails)}" if mails else self._advice(key, tool))
        return None

    def _miscounts(self, value: str) -> bool:
        """A long number in a text that is no date, where nobody has said one of its parts: a tracking number of 1234567890."""
        runs = _NUMERAL.findall(value)
        return bool(runs) and not _A_DATE.search(value) and not any(run in self.spoken.digits for run in runs)

    def _advice(self, key: str, wanted: Tool) -> str:
        given = self._given(key)
        if given:
            return f"; the conversation has {' and '.join(given)}"
        tellers = self._tellers(key, wanted)
        return f"; call {' or '.join(tellers[:3])} first, which may give it" if tellers else f"; {self._instead(wanted)}"

    def _given(self, key: str) -> list[str]:
        """Values that a result has under the same key."""
        found = re.findall(rf'"{re.escape(key)}"\s*:\s*"([^"\\]{{1,80}})"', self.spoken.text)
        return list(dict.fromkeys(found))[:_MOST_GIVEN]

    def _tellers(self, key: str, wanted: Tool) -> list[str]:
        """Tools that may give a value: they look something up, speak of the same thing, and don't need the value themselves."""
        about = frozenset(words_of(as_words(f"{key} {wanted.name}"))) - {"id"}
        return [
            name
            for name, tool in self._tools.items()
            if TELLERS.search(tool.name) and key not in required_of(tool) and about & stems_of(words_of_tool(tool))
        ]

    def _unnamed(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A name, where the user has named nothing at all."""
        if self.spoken.names_something:
            return None
        for key, _, value in open_texts(tool, held):
            if _NAME_KEY.search(key) and _NAME.fullmatch(value) and not self.spoken.traces(value):
                return f"{key} is {shown(value, 60)!r}, and nobody has said so{self._advice(key, tool)}"
        return None

    def _no_id(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """Words where an id is wanted, and there is a tool that may give it."""
        for key, _, value in open_texts(tool, held):
            if _ID_KEY.search(key) and _IN_WORDS.fullmatch(value) and self._tellers(key, tool):
                return f"{key} is {shown(value, 60)!r}, which is a name and no id{self._advice(key, tool)}"
        return None

    def _undated(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A date, where nothing tells any: neither the user nor the system says which day it is."""
        if self.spoken.dates_something:
            return None
        for key, _, value in open_texts(tool, held):
            if _DATE.match(value):
                return f"{key} is {shown(value, 60)!r}, and nobody has said which day it is; {self._instead(tool)}"
        return None

    # -- the tool

    def _instead(self, refused: Tool) -> str:
        """What may be done in place of a call: one of a tool for which the question has all, or a question."""
        best = self._best
        if best is None or best.tool.full_name == refused.full_name:
            return "ask the user for it"
        return f"ask the user for it, or call {best.tool.full_name}, if that is meant: it needs nothing that was not said"

    def _better(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """Something was made up for this tool, while another is nearer and finds more of what it needs in the question."""
        best = self._best
        if best is None or best.tool.full_name == tool.full_name:
            return None
        unsaid = [(key, value) for key, _, value in open_texts(tool, held) if not self._hints_at(value)]
        given = sum(self._is_said(value) for key, value in held.items() if key in required_of(tool))
        if not unsaid or len(best.filled.found) <= given:
            return None
        told = f"{unsaid[0][0]} is {shown(unsaid[0][1], 60)!r}, which nobody has said"
        return f"{told}; call {best.tool.full_name}, unless this is meant: it needs nothing that was not said"

    def _all_said(self, tool: Tool, held: dict[str, Any]) -> bool:
        required = required_of(tool)
        return bool(required) and all(self._is_said(held[key]) for key in required if key in held)

    def _made_up(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """A text that is needed, or all of a list of them, with no trace in the conversation."""
        lists = [(key, value) for key, value in held.items() if key in required_of(tool) and isinstance(value, list)]
        texts = [(key, [value]) for key, _, value in open_texts(tool, held)]
        for key, values in [*texts, *lists]:
            if values and all(isinstance(one, str) and not self._hints_at(one) for one in values):
                return f"{key} is {shown(', '.join(values), 60)!r}, which nobody has said"
        return None

    def _hints_at(self, value: str) -> bool:
        """In doubt it does: what has digits may be a date or a measure in another form, and a code stands for a name."""
        if any(map(str.isdigit, value)) or _CODE.fullmatch(value) or self.spoken.holds(value):
            return True
        words = [word for word in WORD.findall(value) if len(word) > _SHORT]
        return not words or self.spoken.traces(" ".join(words))

    def _related(self, tool: Tool) -> bool:
        """Words are no measure for a conversation in another script."""
        return self.spoken.in_other_script or self.spoken.speaks_of(words_of_tool(tool))

    def _asked_for(self, tool: Tool, held: dict[str, Any]) -> bool:
        """What the gate says, unless the tool was given what was said, or may serve whatever is asked (a shell, a search)."""
        required = required_of(tool)
        if any(isinstance(key, str) and _SERVES_ALL.search(spaced(key)) for key in required):
            return True
        said, needed = self._gives(held), {key: value for key, value in held.items() if key in required}
        if self._so_far.wanted_another:
            alike = {stem for word in self._so_far.wanted_another for stem in related(word)} & own_words_of(tool)
            return self._gate_opens and said >= len(held) and bool(alike)
        if said >= _ENOUGH or self._under_way(tool):
            return True
        return self._gate_opens or all(isinstance(value, int | float) or self._is_said(value) for value in needed.values())

    @property
    def _gate_opens(self) -> bool:
        return self._gated is None or bool(self._gated.calls)

    @property
    def _plainly_due(self) -> Tool | None:
        """The only tool that is due, where it is spoken of, and by more than one value or one that nobody says by chance."""
        best = self._best
        lacks = best is None or best.overlap < NAMED or not (best.filled.sharp or len(best.filled.found) > 1)
        return None if best is None or lacks else best.tool

    @property
    def _to_call(self) -> str:
        """What is to be called, with its arguments where the question tells them all."""
        if self._best is None:
            return ""
        return f": call {in_full(not_made(self._due, ())[:_MOST_GIVEN]) or self._best.tool.full_name}"

    @property
    def _best(self) -> Ranked | None:
        """The only tool that the gate finds due, where it needs something and the question has all of it."""
        near = self._gated.calls[0] if self._gated is not None and self._gated.calls else ()
        return near[0] if len(near) == 1 and near[0].is_full and near[0].filled.found else None

    @cached_property
    def _gated(self) -> Verdict | None:
        return gate(tuple(self._tools.values()), self._so_far.asked, several=False) if self._asks_alone else None

    @cached_property
    def _due(self) -> Calls:
        """All the calls that the gate would make."""
        return gate(tuple(self._tools.values()), self._so_far.asked).calls

    @cached_property
    def _asks_alone(self) -> bool:
        """The gate knows one question in English and a few tools. Of anything else it is not asked."""
        return len(self._so_far.asked) == 1 and len(self._tools) <= _FEW_TOOLS and self.spoken.is_english

    def _gives(self, held: dict[str, Any]) -> int:
        """How much of it the conversation has; a path, a long number or a phrase, which nobody says by chance, counts twice."""
        values = list(plain_values(held))
        said = {value for value in values if isinstance(value, str | int | float) and self._is_said(value)}
        return sum(1 + bool(_SHARP.search(str(value))) for value in said)

    def _is_said(self, value: object) -> bool:
        if isinstance(value, list):
            return all(self._is_said(one) for one in value)
        if isinstance(value, str):
            return self.spoken.holds(value) or (_DATE.match(value) is not None and self.spoken.dates_something)
        return isinstance(value, int | float) and self.spoken.counts(value)

    # -- what is said

    def _under_way(self, tool: Tool) -> bool:
        """Something was called already, or this very tool was advised: it may only serve what was asked."""
        advised = (found[1] for part in self._so_far.results if (found := _ADVISED.search(part.text)))
        return self._so_far.has_results or any(tool.full_name in names.split(" or ") for names in advised)

    @cached_property
    def _wants_nothing(self) -> bool:
        """Later in a talk, thanks and greetings may be an answer."""
        said = self._so_far.questions
        return len(said) == 1 and len(self._tools) <= _FEW_TOOLS and is_small_talk(said[0])
