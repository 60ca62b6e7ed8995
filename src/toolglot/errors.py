"""Every error that toolglot raises. The class says where the cause is.

ToolglotError
├── CallerError            the caller: the input has the wrong shape (`.where` is the path to it)
│   ├── KeyMissingError    the caller: a provider needs an API key, and there is none to send
│   └── LossError          the caller: strict mode, and the target does not support something in the request
├── ArgumentsError         the model: a call's arguments are not a JSON object
├── OutputError            the model: a run has no answer, or none of the requested type
├── JobFailedError         the machine: a batch could not be finished; it may be continued
├── ToolError              a tool: it failed; the message is written for the model (agent/results.py)
└── UpstreamError          the provider: it rejected the request, failed or closed the stream early
"""

from __future__ import annotations

RETRYABLE = frozenset({408, 409, 425, 429})
_LONGEST_WAIT = 1e9  # seconds; more, or infinity, is not a time to wait


class ToolglotError(Exception):
    """The base class: catch this to catch all."""


class CallerError(ToolglotError):
    """The input can't be read. `where` is the path to the problem; each level of a reader prefixes its part."""

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


def unreadable(path: object, error: OSError | ValueError) -> CallerError:
    """For a file that can't be opened, or is not UTF-8."""
    match error:
        case FileNotFoundError():
            problem = "there is no such file"
        case IsADirectoryError():
            problem = "is a folder"
        case UnicodeError():
            problem = "is not a text in UTF-8"
        case OSError():
            problem = f"can't be read: {error.strerror or error}"
        case _:
            problem = f"can't be read: {error}"
    return CallerError(problem, str(path))


class KeyMissingError(CallerError):
    """A provider needs an API key, and there is none, or it contains characters that can't be sent in a header."""


class LossError(CallerError):
    """Strict mode: the target does not support something in the request."""


class ArgumentsError(ToolglotError):
    """A call's arguments are not the JSON text of an object, and were not repaired."""


class OutputError(ToolglotError):
    """A run has no answer, or none of the requested type. The message says why it ended."""


class JobFailedError(ToolglotError):
    """A batch stopped because of its input file, a worker or a cluster."""


class UpstreamError(ToolglotError):
    """An error that a provider reports, or the reason why its stream ended early.

    `code` is the provider's error code. `retry_after` is in seconds, whatever unit the provider uses.
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
        self.retry_after = retry_after if retry_after is not None and 0 <= retry_after < _LONGEST_WAIT else None
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
