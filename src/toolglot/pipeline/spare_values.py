"""What a text says that a single call has no place for: two towns, and one parameter that takes a town."""

from __future__ import annotations

from collections.abc import Iterable

from toolglot.pipeline.held import Held, overlap
from toolglot.pipeline.said import Find
from toolglot.pipeline.spans import Spans


def spare_values(told: Iterable[Find], offered: list[Held]) -> tuple[tuple[int, int], ...]:
    """Where those of the values stand that are left once each parameter has one of its own."""
    taken = [find for one in offered if one.slot.kind == "array" for find in one.values]
    taken += [Find("", *place) for one in offered if one.inner is not None for place in one.inner.places]
    taken += matched([one.values for one in offered if one.slot.kind != "array"])
    places = Spans(taken)
    found: list[Find] = []
    for find in sorted(told, key=lambda find: (find.start, -find.end)):
        if not places.meet(find) and not (found and overlap(find, found[-1])):
            found.append(find)
    return tuple((find.start, find.end) for find in found)


def matched(choices: list[list[Find]]) -> list[Find]:
    """A value for each that has one to choose, all at places of their own, as many as can be."""
    taken: dict[int, int] = {}
    chosen: dict[int, Find] = {}
    choices = [sorted(finds, key=lambda find: find.start - find.end) for finds in choices]  # the longest first

    def place(at: int, tried: set[int]) -> bool:
        for find in choices[at]:
            if find.start not in tried:
                tried.add(find.start)
                if find.start not in taken or place(taken[find.start], tried):
                    taken[find.start], chosen[at] = at, find
                    return True
        return False

    for at in range(len(choices)):
        place(at, set())
    return list(chosen.values())
