"""The exceptions of this package: after a `UsageError` the user must edit something; the others say what failed.

RemoteEvalsError                     REMOTE_EVALS
├── UsageError                       USAGE: the user must edit something: a file, an option, a variable
│   └── FileError                    FILE: holds every problem in the files that people write, at once
│       ├── SuiteError               SUITE: in the suite files
│       └── SettingsError            SETTINGS: in the settings file
├── TokenSourceError                 TOKEN_SOURCE: the callable that provides the token failed
├── NotReadyError                    NOT_READY: the deployment did not become ready in time
├── RemoteError                      REMOTE: the deployment, or the network to it, failed
│   ├── RemoteUnauthorizedError      REMOTE_UNAUTHORIZED: it rejected the token
│   └── RemoteRequestFailedError     REMOTE_REQUEST_FAILED: anything else
│       ├── RemoteUnreachableError   REMOTE_UNREACHABLE: no connection was made
│       ├── RemoteStatusError        REMOTE_STATUS: the response was not a 2xx
│       ├── RemoteStreamError        REMOTE_STREAM: the event stream was broken or missing
│       └── RemoteTimeoutError       REMOTE_TIMEOUT: a time limit was exceeded
└── JudgeError                       JUDGE_FAILED: a reply could not be judged
    ├── JudgeUnreachableError        JUDGE_UNREACHABLE: no complete answer came from the judge
    └── JudgeUnparseableError        JUDGE_UNPARSEABLE: the answer holds no verdict

`MalformedStreamError` and `Refusal` are internal, and not part of the tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .results import JudgeUsage, RunResult


class RemoteEvalsError(Exception):
    """The root of the tree. `code` is stable and for machines; the message is for people."""

    code: ClassVar[str] = "REMOTE_EVALS"


class UsageError(RemoteEvalsError):
    """The user must edit something before anything can run: an option, a variable, a file."""

    code = "USAGE"


class FileError(UsageError):
    """Problems in files; `problems` holds them all, each with its file, and its line if that is known."""

    code = "FILE"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class SuiteError(FileError):
    """Problems in suite files."""

    code = "SUITE"


class SettingsError(FileError):
    """Problems in the settings file, or an environment that it does not define."""

    code = "SETTINGS"


class TokenSourceError(RemoteEvalsError):
    """The callable that provides the token raised, or returned no usable token; nothing was sent."""

    code = "TOKEN_SOURCE"


class NotReadyError(RemoteEvalsError):
    """A deployment was not ready when the time to wait for it ended, or another build answered; no case was sent.

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
    """A deployment gave no run that can be judged.

    `url` has neither userinfo nor query; `happened` and `advice` are phrases without a full stop. `partial` is the
    part of the run that arrived before it broke, with the trace id of its request, or None if nothing was sent.
    `retry_after_s` is the delay in seconds that the deployment asks for before a retry, or None if it asks for none.
    `may_have_begun` means that the request may have been acted on: the response came late, or as an event stream.
    `deployment_code` is the deployment's own code for a refused request, or None if it gave none.
    """

    code = "REMOTE"
    deployment_code: str | None = None
    retry_after_s: float | None = None
    may_have_begun: bool = False

    def __init__(self, url: str, happened: str, advice: str) -> None:
        super().__init__(url, happened, advice)
        self.url = url
        self.happened = happened
        self.advice = advice
        self.partial: RunResult | None = None

    def count_attempts(self, attempts: int) -> None:
        """Add to `happened` how often the request was sent."""
        self.rewrite(lambda happened: f"{happened.rstrip('.')} ({attempts} attempts)")

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Replace `happened`, which may quote the deployment, with what `change` returns for it."""
        self.happened = change(self.happened)
        self.args = (self.url, self.happened, *self.args[2:])

    def __str__(self) -> str:
        return f"{self.url}: {self.happened.rstrip('.')}. {self.advice}."


class RemoteUnauthorizedError(RemoteError):
    """The deployment rejected the token or this caller; `status` is 401 or 403."""

    code = "REMOTE_UNAUTHORIZED"

    def __init__(self, url: str, happened: str, advice: str, status: int) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, status)
        self.status = status


class RemoteRequestFailedError(RemoteError):
    """Any failure other than a rejected token: the deployment, or the network to it, is down or broken."""

    code = "REMOTE_REQUEST_FAILED"


class RemoteUnreachableError(RemoteRequestFailedError):
    """No connection was made: DNS, TLS, refused, or no answer in time. The agent never saw the request."""

    code = "REMOTE_UNREACHABLE"


class RemoteStatusError(RemoteRequestFailedError):
    """The response was not a 2xx; `status` is its code."""

    code = "REMOTE_STATUS"

    def __init__(self, url: str, happened: str, advice: str, status: int) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, status)
        self.status = status


class RemoteStreamError(RemoteRequestFailedError):
    """The response was not an event stream, or a stream that broke before `run.done`."""

    code = "REMOTE_STREAM"


class RemoteTimeoutError(RemoteRequestFailedError):
    """A time limit was exceeded: `clock` names it; `last_event` is the type of the last event, or None before any."""

    code = "REMOTE_TIMEOUT"

    def __init__(self, url: str, happened: str, advice: str, clock: str, last_event: str | None) -> None:
        super().__init__(url, happened, advice)
        self.args = (url, happened, advice, clock, last_event)
        self.clock = clock
        self.last_event = last_event


class JudgeError(RemoteEvalsError):
    """A judge gave no verdict, so the reply has no score.

    `judge` names the judge, by its URL without userinfo and query if it has one. `happened` and `advice` are phrases
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
    """No complete answer came from the judge: no connection, a broken one, or none in time."""

    code = "JUDGE_UNREACHABLE"


class JudgeUnparseableError(JudgeError):
    """The judge answered, but its answer holds no verdict.

    `start` is the start of the answer, on one line of at most 300 characters. `usage` is what the answer cost.
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


class MalformedStreamError(Exception):
    """What came is not what the protocol sends: the message says what it is, `advice` what to try. Only for inside."""

    def __init__(self, happened: str, advice: str | None = None) -> None:
        super().__init__(happened)
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a deployment says when it refuses a request, as its protocol reads it. Only for inside.

    `text` is None if the body is to be quoted as it is. `code` is the deployment's own, and `advice` what to try after
    it, or None. `accepts_token` means that not the token was refused, but what it was used for.
    """

    text: str | None = None
    code: str | None = None
    advice: str | None = None
    accepts_token: bool = False


def describe_error(error: BaseException) -> str:
    """Return an error's type and text, or the type alone if its text cannot be read."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a foreign `__str__` may raise anything
        return type(error).__name__
