"""Everything that this package raises.

RemoteEvalsError
├── UsageError                       somebody must edit something: a file, an option, a setting
│   └── FileError                    every mistake in the files that people write, at once
│       ├── SuiteError               the suite files
│       └── SettingsError            the settings file
├── JudgeError                       JUDGE_FAILED: a reply could not be judged
│   ├── JudgeUnreachableError        JUDGE_UNREACHABLE
│   └── JudgeUnparseableError        JUDGE_UNPARSEABLE
├── TokenSourceError                 the callable that gives the token failed
├── NotReadyError                    NOT_READY: the deployment that is awaited did not come up in time
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
    from .results import JudgeUsage, RunResult


class RemoteEvalsError(Exception):
    """The root of the tree. `code` is stable, for machines; the message is for people."""

    code: ClassVar[str] = "REMOTE_EVALS"


class UsageError(RemoteEvalsError):
    """Something must be edited before anything can run: an option, a variable, a file."""

    code = "USAGE"


class FileError(UsageError):
    """Mistakes in files; `problems` holds them all, each naming its file, and its line where that is known."""

    code = "FILE"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class SuiteError(FileError):
    """Mistakes in suite files."""

    code = "SUITE"


class SettingsError(FileError):
    """Mistakes in the settings file, or an environment that it does not have."""

    code = "SETTINGS"


class JudgeError(RemoteEvalsError):
    """A judge gave no verdict, so nothing is known of the reply: never a score.

    `judge` names it, by its URL without userinfo and query where it has one; `happened` and `advice` are phrases
    without a full stop.
    """

    code = "JUDGE_FAILED"

    def __init__(self, judge: str, happened: str, advice: str) -> None:
        super().__init__(judge, happened, advice)
        self.judge = judge
        self.happened = happened
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.judge}: {self.happened.rstrip('.')}. {self.advice}."


class JudgeUnreachableError(JudgeError):
    """No whole answer came from the judge: no connection, a broken one, or none in time."""

    code = "JUDGE_UNREACHABLE"


class JudgeUnparseableError(JudgeError):
    """The judge answered, and no verdict can be read from it.

    `start` is the start of what came, on one line of at most 300 characters; `usage` is what it cost all the same.
    """

    code = "JUDGE_UNPARSEABLE"

    def __init__(
        self, judge: str, happened: str, advice: str, start: str = "", usage: "JudgeUsage | None" = None
    ) -> None:
        super().__init__(judge, happened, advice)
        self.args = (judge, happened, advice, start, usage)
        self.start = start
        self.usage = usage

    def __str__(self) -> str:
        return f"{super().__str__()} It begins: {self.start}" if self.start else super().__str__()


class TokenSourceError(RemoteEvalsError):
    """The callable that was given as token raised, or returned no usable token; nothing was sent."""

    code = "TOKEN_SOURCE"


class NotReadyError(RemoteEvalsError):
    """A deployment was not up when the time to wait for it was over, or another build answered; no case was sent.

    `url` has neither userinfo nor query; `happened` and `advice` are phrases without a full stop.
    """

    code = "NOT_READY"

    def __init__(self, url: str, happened: str, advice: str) -> None:
        super().__init__(url, happened, advice)
        self.url = url
        self.happened = happened
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.url}: {self.happened.rstrip('.')}. {self.advice}."


class RemoteError(RemoteEvalsError):
    """A deployment did not give a run that can be judged.

    `url` has neither userinfo nor query; `happened` and `advice` are phrases without a full stop. `partial` is what
    had been rebuilt of the run before it broke, with the trace id of its request; None where nothing was sent.
    `retry_after_s` is in how many seconds the deployment asks to be asked again, None where it does not;
    `may_have_begun` says that the answer came too late, or in too much of a stream, to be a refusal of the request.
    """

    code = "REMOTE"
    retry_after_s: float | None = None
    may_have_begun: bool = False

    def __init__(self, url: str, happened: str, advice: str) -> None:
        super().__init__(url, happened, advice)
        self.url = url
        self.happened = happened
        self.advice = advice
        self.partial: RunResult | None = None

    def count_attempts(self, attempts: int) -> None:
        """Say in `happened` how often the request was sent."""
        self.rewrite(lambda happened: f"{happened.rstrip('.')} ({attempts} attempts)")

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Replace `happened`, which may quote the far side, by what `change` makes of it."""
        self.happened = change(self.happened)
        self.args = (self.url, self.happened, *self.args[2:])

    def __str__(self) -> str:
        return f"{self.url}: {self.happened.rstrip('.')}. {self.advice}."


class RemoteUnauthorizedError(RemoteError):
    """The deployment refused the token, or refuses this caller; `status` is 401 or 403."""

    code = "REMOTE_UNAUTHORIZED"

    def __init__(self, url: str, happened: str, advice: str, status: int) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, status)
        self.status = status


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


def describe_error(error: BaseException) -> str:
    """Return an error's type and text, the type alone where even its text cannot be had."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # somebody's `__str__` may raise anything
        return type(error).__name__


class MalformedStreamError(Exception):
    """What came is not what the protocol sends: the message says what it is, `advice` what to try. Only for inside."""

    def __init__(self, happened: str, advice: str | None = None) -> None:
        super().__init__(happened)
        self.advice = advice
