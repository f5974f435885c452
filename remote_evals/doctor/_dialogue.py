"""What an agent is asked in a check-up: nothing that needs a tool, and as little as can be."""

import re
import secrets
from dataclasses import dataclass, field

from ..results import RunResult
from ._finding import Finding, passed, warned

NUMBER = "{number}"
DEFAULT_PROMPT = (
    "This is an automated check of the connection; use no tools. "
    f"Remember the number {NUMBER}, and reply with the one word: noted."
)
_RECALL = "This is an automated check of the connection; use no tools. Reply with the number that you were to remember."

_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s,.'_\u2019\u202f-](?=\d)")
_LONGEST_QUOTE = 60


def _choose_number() -> str:
    return str(100_000 + secrets.randbelow(900_000))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two turns: `prompt`, with the number put in where it says {number}, and a question for that number."""

    prompt: str = DEFAULT_PROMPT
    number: str = field(default_factory=_choose_number)

    @property
    def first(self) -> str:
        """The first prompt."""
        return self.prompt.replace(NUMBER, self.number)

    @property
    def second(self) -> str | None:
        """The second prompt; None when the first gave no number to remember."""
        return _RECALL if NUMBER in self.prompt else None

    def check_memory(self, run: RunResult) -> Finding:
        """Say whether the second reply holds the number of the first prompt, however its digits are grouped."""
        if self.number in _BETWEEN_DIGITS.sub("", run.reply):
            return passed("memory", "the second turn knows what the first one said")
        reply = run.reply if len(run.reply) <= _LONGEST_QUOTE else f"{run.reply[:_LONGEST_QUOTE]}…"
        happened = f"the second turn does not know the number of the first: it says {reply!r}"
        advice = "Check that sessions are kept, by all replicas; a case with several turns needs that"
        return warned("memory", happened, advice)
