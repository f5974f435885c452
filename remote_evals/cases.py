"""`EvalCase`: a case as data. It runs by calling the same `t` as an eval in code."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeFloat, model_validator

from .case_checks import Checks, Text, Texts
from .context import EvalContext
from .durations import parse_duration
from .results import RunResult

Seconds = Annotated[NonNegativeFloat, BeforeValidator(parse_duration)]

_PROMPT_ALIASES = {"input": "prompt", **Checks.aliases}


def _no_finish_reason(checks: Checks) -> Checks:
    if checks.finish_reason is not None:
        raise ValueError("finish_reason cannot be soft: how a run ends decides whether it can be judged at all")
    return checks


SoftChecks = Annotated[Checks, AfterValidator(_no_finish_reason)]


class Turn(Checks):
    """One turn of a conversation; its checks see that turn alone."""

    aliases: ClassVar = _PROMPT_ALIASES

    prompt: Text
    soft: SoftChecks | None = None

    async def run(self, t: EvalContext) -> RunResult:
        """Send the prompt, make this turn's assertions and return the run."""
        result = await t.send(self.prompt)
        view = t.last_turn
        self.assert_on(view)
        if self.soft:
            self.soft.assert_on(view.softly)
        return result


class CaseDefaults(Checks):
    """What the cases of a suite share: a case's own keys win, tags and metadata add up. `timeout` is in seconds."""

    tags: Texts = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    soft: SoftChecks | None = None
    timeout: Seconds | None = None


class EvalCase(CaseDefaults):
    """One case: a `prompt`, or a conversation of `turns`, and what is asked of it.

    A turn's checks see that turn; the case's see the last reply and the calls, steps, tokens, cost and time of all.
    A run that does not end "stop", or as `finish_reason` says, fails the case even if nothing else was asked, and
    ends the conversation. Unknown keys and wrong values raise `pydantic.ValidationError`, all at once.
    """

    aliases: ClassVar = {"id": "name", **_PROMPT_ALIASES}

    name: Text
    prompt: Text | None = None
    turns: tuple[Turn, ...] = ()

    @model_validator(mode="after")
    def _prompt_or_turns(self) -> "EvalCase":
        if (self.prompt is None) == (not self.turns):
            raise ValueError("a case has either a prompt (or input) or turns, one of them")
        return self

    def with_defaults(self, defaults: CaseDefaults) -> "EvalCase":
        """Return the case with what it does not set itself taken from `defaults`."""
        inherited = {key: getattr(defaults, key) for key in defaults.model_fields_set - self.model_fields_set}
        added: Mapping[str, Any] = {
            "tags": tuple(dict.fromkeys((*defaults.tags, *self.tags))),
            "metadata": {**defaults.metadata, **self.metadata},
        }
        return self.model_copy(update={**inherited, **added})

    async def run(self, t: EvalContext) -> None:
        """Hold the conversation and make every assertion. Raises `RemoteError` as `t.send` does."""
        await self._converse(t)
        self.assert_on(t)
        if self.soft:
            self.soft.assert_on(t.softly)
        if not t.assertions:
            t.completed()

    async def _converse(self, t: EvalContext) -> None:
        """Run the turns until one ends otherwise than it should."""
        turns = self.turns or (Turn(prompt=self.prompt or ""),)
        for turn in turns:
            result = await turn.run(t)
            asked = turn.finish_reason or (self.finish_reason if turn is turns[-1] else None)
            if asked is None and not result.ended_normally:
                t.completed()
            if result.finish_reason != (asked or "stop"):
                return
