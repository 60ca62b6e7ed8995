"""Calls that nothing in the conversation speaks for. Small models make them: an id of 12345, a city that nobody named.

Seven things are looked for, each so narrow that a call that was meant as it stands is next to never doubted: an id, a long
number or an e-mail address that stands nowhere; a name or a date, where nobody has named or dated anything, or an id is wanted;
a call that was just made and has its result; a tool that is beside the question: no word in common, or nothing that the gate
for still smaller models would call for, or something made up while another tool finds all it needs; a result in place of the
call that would give it; words where that gate finds one tool due; and one call of several, where the question tells the others
in full. The model is told why. Where it insists, it may know better than words can tell, and the call passes; but nobody
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
from toolglot.pipeline.conversation import Conversation
from toolglot.pipeline.due_tools import FEW_TOOLS, MOST_TOLD, Due
from toolglot.pipeline.guard_calls import canonical
from toolglot.pipeline.invented_values import Invented
from toolglot.pipeline.ranked_tools import ALL_ABOUT, own_words_of
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import spaced
from toolglot.pipeline.repeats import brings_something_new
from toolglot.pipeline.set_right import set_right
from toolglot.pipeline.small_talk import is_small_talk
from toolglot.pipeline.so_far import SoFar
from toolglot.pipeline.told_values import Told, in_full, not_made, told_values
from toolglot.pipeline.tool_needs import (
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
_SHARP = re.compile(r"\w[./@:_-]\w|\d\d|\w \w+ \w")
_TOO_MUCH = 2  # times that one call was refused: it is wrong in more than one way
_ENOUGH = 2  # arguments that were said: the call has to do with what was asked
_NOT_ALL = "this is one of the calls that the question asks for, all"
_UNASKED = "nothing in the conversation asks for what it does"
_SERVES_ALL = re.compile(
    r"\b(?:code|command|script|sql|query|expression|prompt|message|question|text|content|input|keywords?|url|path)\b"
)
_ADVISED = re.compile(r"; call (.{1,300}?) first, which may give it")
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)


class Doubts:
    """What a conversation speaks for. Looked at when the first call comes, and then once."""

    def __init__(self, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> None:
        self.spoken = Conversation(messages)
        self._so_far = SoFar(messages)
        self._tools = {tool.full_name: tool for tool in tools}
        self._due = Due(self.spoken, self._so_far, tools)
        self._values = Invented(self.spoken, tools, self._due)

    def of(self, call: ToolCall) -> tuple[str, str] | None:
        """The code and the reason, if the call is to be doubted."""
        tool, held = self._read(call)
        if tool is None or held is None:
            return None
        invented = self._values.invented(tool, held)
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

    def set_right(self, call: ToolCall, *, alone: bool = True) -> ToolCall | None:
        """The call as the conversation would have it, if that is another and fits the tool. `alone`: it is the only one."""
        tool, held = self._read(call)
        if tool is None or held is None:
            return None
        right, codes = set_right(
            tool, held, self.spoken, self._tells(tool) if alone else {}, begun=self._so_far.has_results, alone=alone
        )
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
        """The same of a reply without a call: a result that no tool gave, or words where one tool is due."""
        if self._so_far.has_results:
            return self._lacking(text)
        held = _FENCED.fullmatch(text.strip())
        if loads_object(held[1] if held else text) and "json" not in self.spoken.words:
            return None if _NO_RESULT in self._so_far.told else (MADE_UP, f"{_NO_RESULT}{self._due.to_call}")
        is_told = _NO_CALL in self._so_far.told or bool(self._so_far.calls)  # what was refused it may rightly do without
        return (UNUSED, f"{_NO_CALL}{self._due.to_call}") if self._due.plainly and not is_told else None

    def _lacking(self, text: str) -> tuple[str, str] | None:
        """An answer without what was asked for, where the results that came last have it."""
        last = self._so_far.lately
        missing = untold(text, last) if self.spoken.is_english and last.results and _UNTOLD not in self._so_far.told else []
        return (LACKING, f"{_UNTOLD}: {shown(', '.join(missing[:MOST_TOLD]), 200)}") if missing else None

    def strays(self, calls: Sequence[ToolCall]) -> dict[str, tuple[str, str]]:
        """Of several calls at once, by their ids: those with something made up beside one that was said in full."""
        read = [(call, *self._read(call)) for call in calls]
        if (
            len(calls) < 2
            or self._so_far.has_results
            or not any(tool and held and self._all_said(tool, held) for _, tool, held in read)
        ):
            return {}
        found = {
            call.id: self._values.made_up(tool, held) for call, tool, held in read if tool is not None and held is not None
        }
        told = {call.id: " ".join(self._so_far.refused(call)) for call in calls}
        return {id: (INVENTED, why) for id, why in found.items() if why is not None and why not in told[id]}

    def of_all(self, calls: Sequence[ToolCall]) -> tuple[str, str] | None:
        """The same of all calls of a reply together: those that the question asks for as plainly, and that are not made."""
        if len(calls) != 1 or any(_NOT_ALL in told for told in self._so_far.refused(calls[0])):
            return None  # who makes several knows how many
        left = self.left_out(calls)
        if not left:
            return None
        return INCOMPLETE, f"{_NOT_ALL} {len(calls) + len(left)}: with it make {in_full(left[:MOST_TOLD])}"

    def left_out(self, calls: Sequence[ToolCall]) -> list[Told]:
        """What the question tells of in full beside these calls."""
        if not calls or self._so_far.has_results or not self._due.asks_alone:
            return []
        return not_made(self._due.calls, calls)

    def held_back(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Those that were told to come with others, where these are the others: they need not be written again."""
        made = {canonical(call) for call in calls}
        waiting = [part for part in self._so_far.calls if any(_NOT_ALL in told for told in self._so_far.refused(part))]
        back = {canonical(part): part for part in waiting}
        found = [part for key, part in back.items() if key not in made]
        return found if found and not self.left_out([*calls, *found]) else []

    def _unlikely(self, call: ToolCall, tool: Tool, held: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """What may be right all the same: each is told once, and where there is more than one of it, it is not believed."""
        if canonical(call) in self._so_far.just_made and not brings_something_new(tool):
            yield REPEATED, "it was just made with these arguments, and its result stands above"
        unlikely = self._values.unlikely(tool, held)
        if unlikely is not None:
            yield INVENTED, unlikely
        if self._under_way(tool):
            return
        better = self._better(tool, held)
        if better is not None:
            yield INVENTED, better
        elif not self._related(tool) and self._gives(held) < _ENOUGH:
            yield UNRELATED, _UNASKED

    # -- the tool

    def _better(self, tool: Tool, held: dict[str, Any]) -> str | None:
        """Something was made up for this tool, while another is nearer and finds more of what it needs in the question."""
        best = self._due.best
        if best is None or best.tool.full_name == tool.full_name:
            return None
        unsaid = [(key, value) for key, _, value in open_texts(tool, held) if not self.spoken.hints_at(value)]
        given = sum(self.spoken.says(value) for key, value in held.items() if key in required_of(tool))
        if not unsaid or (len(best.filled.found) <= given and (given or best.overlap < ALL_ABOUT)):
            return None
        told = f"{unsaid[0][0]} is {shown(unsaid[0][1], 60)!r}, which nobody has said"
        return f"{told}; call {best.tool.full_name}, unless this is meant: it needs nothing that was not said"

    def _all_said(self, tool: Tool, held: dict[str, Any]) -> bool:
        required = required_of(tool)
        return bool(required) and all(self.spoken.says(held[key]) for key in required if key in held)

    def _related(self, tool: Tool) -> bool:
        """Words are no measure for a conversation in another script."""
        best = self._due.best
        is_due = best is not None and best.tool.full_name == tool.full_name
        return is_due or self.spoken.in_other_script or self.spoken.speaks_of(words_of_tool(tool))

    def _asked_for(self, tool: Tool, held: dict[str, Any]) -> bool:
        """What the gate says, unless the tool was given what was said, or may serve whatever is asked (a shell, a search)."""
        required = required_of(tool)
        if any(isinstance(key, str) and _SERVES_ALL.search(spaced(key)) for key in required):
            return True
        said, needed = self._gives(held), {key: value for key, value in held.items() if key in required}
        if self._so_far.wanted_another:
            alike = {stem for word in self._so_far.wanted_another for stem in related(word)} & own_words_of(tool)
            return self._due.gate_opens and said >= len(held) and bool(alike)
        if said >= _ENOUGH or self._under_way(tool):
            return True
        return self._due.gate_opens or all(
            isinstance(value, int | float) or self.spoken.says(value) for value in needed.values()
        )

    def _gives(self, held: dict[str, Any]) -> int:
        """How much of it the conversation has; a path, a long number or a phrase, which nobody says by chance, counts twice."""
        values = list(plain_values(held))
        said = {value for value in values if isinstance(value, str | int | float) and self.spoken.says(value)}
        return sum(1 + bool(_SHARP.search(str(value))) for value in said)

    # -- what is said

    def _under_way(self, tool: Tool) -> bool:
        """Something was called already, or this very tool was advised: it may only serve what was asked."""
        advised = (found[1] for part in self._so_far.results if (found := _ADVISED.search(part.text)))
        return self._so_far.has_results or any(tool.full_name in names.split(" or ") for names in advised)

    @cached_property
    def _wants_nothing(self) -> bool:
        """Later in a talk, thanks and greetings may be an answer."""
        said = self._so_far.questions
        return len(said) == 1 and len(self._tools) <= FEW_TOOLS and is_small_talk(said[0])
