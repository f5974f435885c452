"""One turn of a conversation as data, and the checks that are soft."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from .context import EvalContext
from .errors import RemoteError
from .expectations import Expectations, Text
from .results import RunResult
from .strict import Mistake

ACTIONS = ("prompt", "approve", "reject", "answer")
PROMPT_ALIASES = {"input": "prompt", **Expectations.aliases}


def _true_or_note(value: Any) -> Any:
    if value is False:
        raise ValueError("this is true, or a note; for the other decision write `approve:` or `reject:` itself")
    return value


Decision = Annotated[Literal[True] | Text, BeforeValidator(_true_or_note, json_schema_input_type=Literal[True] | Text)]


class SoftExpectations(Expectations):
    """Checks that are shown when they fail, and fail the case only under `--strict`."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that how a run ends cannot be soft, since it decides whether the rest can be judged."""
        yield from super().find_mistakes(data)
        if data.get("finish_reason") is not None:
            yield ("finish_reason",), "how a run ends cannot be soft; ask for it outside of `soft`"


class Turn(Expectations):
    """One turn of a conversation: a prompt, or a decision on what the turn before waits for.

    Its checks see that turn alone; a decision goes on with the turn that it decides on.
    """

    aliases: ClassVar = PROMPT_ALIASES

    prompt: Text | None = None
    """What is sent to the agent."""
    approve: Decision | None = None
    """Instead of a prompt, approve what the agent waits for: true, or a note."""
    reject: Decision | None = None
    """Instead of a prompt, reject what the agent waits for: true, or a note that says why."""
    answer: Text | None = None
    """Instead of a prompt, answer the question that the agent waits with."""
    soft: SoftExpectations | None = None
    """Checks of this turn that fail it only under `--strict`."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that a turn does nothing, or more than one thing."""
        yield from super().find_mistakes(data)
        if sum(data.get(key) is not None for key in ACTIONS) != 1:
            yield (), f"a turn has one of {', '.join(ACTIONS)} (a prompt may be named input)"

    @property
    def is_decision(self) -> bool:
        """Whether the turn decides on what the one before waits for."""
        return self.prompt is None

    async def run(self, t: EvalContext) -> RunResult:
        """Send the prompt or the decision, make this turn's assertions and return the run.

        Raises `RemoteError` as `t.send` does; of a run that broke, what was seen may fail an assertion all the same.
        """
        try:
            result = await self._act(t)
        except RemoteError:
            t.last_turn.keep_conclusive(self.assert_on)
            raise
        view = t.last_turn
        if self.finish_reason is not None:
            view.ended(self.finish_reason)
        self.assert_on(view)
        if self.soft:
            self.soft.assert_on(view.softly)
        return result

    async def _act(self, t: EvalContext) -> RunResult:
        if self.approve is not None:
            return await t.approve(None if self.approve is True else self.approve)
        if self.reject is not None:
            return await t.reject(None if self.reject is True else self.reject)
        return await t.send(self.prompt or "") if self.answer is None else await t.answer(self.answer)
