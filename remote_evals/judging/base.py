"""The interface of a judge, which grades a reply by a rubric, and the error for an answer without a verdict."""

from typing import Protocol, Self, runtime_checkable

from ..errors import JudgeUnparseableError
from ..results import JudgeUsage, Verdict

MAX_START_CHARS = 300

_ASK_FOR_JSON = 'A judge must answer {"passed": …, "score": 0 to 1, "reason": …}: try a more capable model'
_MORE_TOKENS = "A reasoning model probably ran out of tokens: give it more, or use another model"


@runtime_checkable
class Judge(Protocol):
    """An LLM behind a URL, or a callable; an async context manager that is entered once for all gradings."""

    @property
    def description(self) -> str:
        """The judge as reports may show it."""
        ...

    async def __aenter__(self) -> Self:
        """Acquire what all gradings share."""
        ...

    async def __aexit__(self, *raised: object) -> None:
        """Release it."""
        ...

    async def grade(self, *, rubric: str, request: str, reply: str) -> Verdict:
        """Return the verdict on a reply. Raises `JudgeError` if there is none."""
        ...


def make_unparseable_error(judge: str, text: str, usage: JudgeUsage, *, cut_off: bool = False) -> JudgeUnparseableError:
    """Return the error for an answer without a verdict; with `cut_off` the answer hit its token limit."""
    start = to_one_line(text)
    if not start:
        return JudgeUnparseableError(judge, "the judge's reply is empty", _MORE_TOKENS, "", usage)
    if cut_off:
        return JudgeUnparseableError(
            judge, "the judge's reply was cut off at its token limit", _MORE_TOKENS, start, usage
        )
    return JudgeUnparseableError(judge, "no verdict can be read from the judge's reply", _ASK_FOR_JSON, start, usage)


def to_one_line(text: str) -> str:
    """Return the start of a text as one printable line of at most 300 characters.

    Scrub the text first: a secret that is cut is no longer recognised.
    """
    line = " ".join(text[: 20 * MAX_START_CHARS].split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= MAX_START_CHARS else f"{line[: MAX_START_CHARS - 1]}…"
