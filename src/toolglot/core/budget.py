"""The work that outside input may cause, counted in steps. One budget is created for each request and shared by all its stages.

A step is about a microsecond of our own code: one schema applied to one value, or some sixty characters read again.
"""

from __future__ import annotations

STEPS = 50_000
CHARACTERS_PER_STEP = 64


class BudgetSpent(Exception):  # noqa: N818  (it becomes the decision `rejected_limit`, never an error)
    """The budget is spent: what it was for is rejected with `rejected_limit`."""


class Budget:
    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise BudgetSpent("validating it takes too many steps")

    def spend_characters(self, count: int) -> None:
        self.spend(1 + count // CHARACTERS_PER_STEP)
