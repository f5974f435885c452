"""Everything that this package raises.

RemoteEvalsError
├── UsageError                       somebody must edit something: a file, an option, a setting
│   └── SuiteError                   every mistake in the suite files, at once
├── TokenSourceError                 the callable that gives the token failed
└── RemoteError                      the far side failed
    ├── RemoteUnauthorizedError      REMOTE_UNAUTHORIZED
    └── RemoteRequestFailedError
        ├── RemoteUnreachableError   REMOTE_UNREACHABLE
        ├── RemoteStatusError        REMOTE_STATUS
        ├── RemoteStreamError        REMOTE_STREAM
        └── RemoteTimeoutError       REMOTE_TIMEOUT
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .results import RunResult


class RemoteEvalsError(Exception):
    """The root of the tree. `code` is stable, for machines; the message is for people."""

    code: ClassVar[str] = "REMOTE_EVALS"


class UsageError(RemoteEvalsError):
    """Something must be edited before anything can run: an option, a variable, a file."""

    code = "USAGE"


class SuiteError(UsageError):
    """Mistakes in suite files; `problems` holds them all, each naming its file and line."""

    code = "SUITE"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class TokenSourceError(RemoteEvalsError):
    """The callable that was given as token raised, or returned no usable token; nothing was sent."""

    code = "TOKEN_SOURCE"


class RemoteError(RemoteEvalsError):
    """A deployment did not give a run that can be judged.

    `url` has neither userinfo nor query; `happened` and `advice` are phrases without a full stop. `partial` is what
    had been rebuilt of the run before it broke, with the trace id of its request; None where nothing was sent.
    """

    code = "REMOTE"

    def __init__(self, url: str, happened: str, advice: str) -> None:
        super().__init__(url, happened, advice)
        self.url = url
        self.happened = happened
        self.advice = advice
        self.partial: RunResult | None = None

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Replace `happened`, which may quote the far side, by what `change` makes of it."""
        self.happened = change(self.happened)
        self.args = (self.url, self.happened, *self.args[2:])

    def __str__(self) -> str:
        return f"{self.url}: {self.happened.rstrip('.')}. {self.advice}."


class RemoteUnauthorizedError(RemoteError):
    """The deployment refused the token (401), or refuses this caller (403)."""

    code = "REMOTE_UNAUTHORIZED"


class RemoteRequestFailedError(RemoteError):
    """Any failure but a refused token: the deployment, or the way to it, is down or broken."""

    code = "REMOTE_REQUEST_FAILED"


class RemoteUnreachableError(RemoteRequestFailedError):
    """No connection: DNS, refused, TLS, or no answer to the connect. The agent never saw the request."""

    code = "REMOTE_UNREACHABLE"


class RemoteStatusError(RemoteRequestFailedError):
    """The answer was not a 2xx; `status` is its code."""

    code = "REMOTE_STATUS"

    def __init__(self, url: str, happened: str, advice: str, status: int) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, status)
        self.status = status


class RemoteStreamError(RemoteRequestFailedError):
    """The answer was not an event stream, or one that broke before `run.done`."""

    code = "REMOTE_STREAM"


class RemoteTimeoutError(RemoteRequestFailedError):
    """A clock ran out: `clock` names it, `last_event` is the type of the last event seen, None before any."""

    code = "REMOTE_TIMEOUT"

    def __init__(self, url: str, happened: str, advice: str, clock: str, last_event: str | None) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, clock, last_event)
        self.clock = clock
        self.last_event = last_event
