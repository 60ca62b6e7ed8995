"""Every error that toolglot raises. Each says who must act.

ToolglotError
├── CallerError            the caller: what was handed in has the wrong shape (`.where` says where)
│   ├── KeyMissingError    the caller: a provider wants a key, and there is none that could be sent
│   └── LossError          the caller: strict mode, and the target can't carry something
├── ArgumentsError         the model: a call's arguments are no JSON object
├── ToolError              a tool: it failed, in words that are meant for the model (agent/results.py)
└── UpstreamError          the provider: it refused, failed or broke off
"""

from __future__ import annotations

RETRYABLE = frozenset({408, 409, 425, 429})


class ToolglotError(Exception):
    """The root: catch this to catch all."""


class CallerError(ToolglotError):
    """What was handed in can't be read. `where` grows from the inside out as the error travels up."""

    status = 400

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where

    def within(self, outer: str) -> CallerError:
        if not self.where:
            self.where = outer
        elif self.where.startswith("["):
            self.where = outer + self.where
        else:
            self.where = f"{outer}.{self.where}"
        return self

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem


class KeyMissingError(CallerError):
    """A provider wants a key, and there is none, or none that could be sent."""


class LossError(CallerError):
    """Strict mode: the target can't carry what the request holds."""


class ArgumentsError(ToolglotError):
    """A call's arguments are not the JSON text of an object, and were not repaired."""


class UpstreamError(ToolglotError):
    """What a provider reports as an error, or how its stream broke off.

    `code` is the provider's own word. `retry_after` is in seconds, whatever the provider's spelling was.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.should_retry = should_retry

    @property
    def retryable(self) -> bool:
        if self.should_retry is not None:
            return self.should_retry
        return self.status is None or self.status in RETRYABLE or self.status >= 500

    def _key(self) -> tuple[object, ...]:
        return (self.message, self.status, self.code, self.retry_after, self.should_retry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UpstreamError) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"UpstreamError({self.message!r}, status={self.status}, code={self.code!r}, retry_after={self.retry_after})"
