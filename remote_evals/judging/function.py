"""A judge made from a Python callable."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

from ..core.threads import run_in_thread
from ..errors import JudgeError, JudgeUnparseableError
from ..results import JudgeUsage, Verdict
from .base import MAX_START_CHARS, Judge, make_unparseable_error, to_one_line
from .scales import Scale, find_scale
from .score_parsing import UnreadableError
from .verdict_parsing import parse_verdict, parse_verdict_object

Graded = str | float | Mapping[str, Any] | Verdict
Grader = Callable[[str, str, str], Graded | Awaitable[Graded]]

_RETURN_A_VERDICT = (
    "Return a score from 0 to 1, a bool, a Verdict, a mapping with its fields, or the text of a judge's answer"
)


class CallableJudge:
    """A judge that calls `function(rubric, request, reply)`, sync or async; a sync one runs in a thread.

    It returns a `Verdict` or a mapping with its fields, a score from 0 to 1, True or False, or text, which is read as
    a judge's answer.
    """

    def __init__(self, function: Grader) -> None:
        self._function = function

    @property
    def description(self) -> str:
        """The name of the callable."""
        return f"judge {getattr(self._function, '__name__', type(self._function).__name__)!r}"

    async def __aenter__(self) -> Self:
        """Acquire nothing."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Release nothing."""

    async def grade(self, *, rubric: str, request: str, reply: str) -> Verdict:
        """Return the verdict on a reply. Raises `JudgeError` if the callable raises or returns no verdict."""
        try:
            given = await self._call(rubric, request, reply)
        except JudgeError:
            raise
        except Exception as error:  # whatever the callable raises, the reply was not judged
            happened = f"raised {type(error).__name__}: {_quote(str(error))}"
            raise JudgeError(self.description, happened, "The reply was not judged: fix the judge") from error
        return self._parse(given, find_scale(rubric))

    async def _call(self, *texts: str) -> Any:
        function = self._function
        given = function(*texts) if inspect.iscoroutinefunction(function) else await run_in_thread(function, *texts)
        return await given if inspect.isawaitable(given) else given

    def _parse(self, given: Any, scale: Scale | None) -> Verdict:
        usage = JudgeUsage(calls=1)
        match given:
            case Verdict():
                return given
            case bool():
                return Verdict(score=float(given), passed=given, usage=usage)
            case int() | float() if 0 <= given <= 1:
                return Verdict(score=given, usage=usage)
            case str():
                verdict = parse_verdict(given, scale)
            case Mapping():
                verdict = _parse_mapping(given, scale)
            case _:
                happened = f"returned {type(given).__name__}, which is not a verdict"
                raise JudgeUnparseableError(self.description, happened, _RETURN_A_VERDICT, _quote(repr(given)), usage)
        if verdict is None:
            text = _quote(given if isinstance(given, str) else repr(given))
            raise make_unparseable_error(self.description, text, usage)
        return verdict.model_copy(update={"usage": usage})


def make_judge(judge: Judge | Grader) -> Judge:
    """Return a judge unchanged, and a callable as a judge."""
    return judge if isinstance(judge, Judge) else CallableJudge(judge)


def _parse_mapping(given: Mapping[str, Any], scale: Scale | None) -> Verdict | None:
    try:
        return parse_verdict_object(given, scale)
    except UnreadableError:
        return None


def _quote(text: str) -> str:
    """Return the start of a text on one line, cut between words.

    Half a word may be half a secret, and the redactor that scrubs this text later knows a secret only as a whole.
    """
    line = to_one_line(text)
    return line if len(line) < MAX_START_CHARS else f"{line.rpartition(' ')[0]} …".lstrip()
