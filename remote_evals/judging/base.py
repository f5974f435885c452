"""What a judge is: something that grades a reply by a rubric."""

from typing import Protocol, Self, runtime_checkable

from ..errors import JudgeUnparseableError
from ..results import JudgeUsage, Verdict

MAX_START_CHARS = 300

_ASK_FOR_JSON = 'A judge must answer {"passed": …, "score": 0 to 1, "reason": …}: try a more capable model'
_MORE_TOKENS = "A reasoning model probably ran out of tokens: give it more, or take another model"


@runtime_checkable
class Judge(Protocol):
    """Entered once for all gradings, as an async context manager; an LLM behind a URL, or a callable."""

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
        """Return the verdict on a reply. Raises `JudgeError` where there is none."""
        ...


def unparseable(judge: str, text: str, usage: JudgeUsage, *, cut_off: bool = False) -> JudgeUnparseableError:
    """Return the error of an answer without a verdict; `cut_off` says that the answer hit the limit of its length."""
    start = one_line(text)
    if not start:
        return JudgeUnparseableError(judge, "the judge's reply is empty", _MORE_TOKENS, "", usage)
    if cut_off:
        return JudgeUnparseableError(
            judge, "the judge's reply was cut off at its token limit", _MORE_TOKENS, start, usage
        )
    return JudgeUnparseableError(judge, "no verdict can be read from the judge's reply", _ASK_FOR_JSON, start, usage)


def one_line(text: str) -> str:
    """Return the start of a text, scrubbed before since it is cut, on one line that can be printed."""
    line = " ".join(text[: 20 * MAX_START_CHARS].split())
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= MAX_START_CHARS else f"{line[: MAX_START_CHARS - 1]}…"
