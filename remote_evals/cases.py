"""`EvalCase`: a case as data. It runs by calling the same `t` as an eval in code."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, NonNegativeFloat

from .case_checks import Checks, Duration, Text, Texts
from .context import EvalContext
from .durations import parse_duration
from .results import RunResult
from .strict import Mistake

Seconds = Annotated[NonNegativeFloat, BeforeValidator(parse_duration, json_schema_input_type=Duration)]

_PROMPT_ALIASES = {"input": "prompt", **Checks.aliases}


class SoftChecks(Checks):
    """Checks that are shown when they fail, and fail the case only under `--strict`."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that how a run ends cannot be soft, since it decides whether the rest can be judged."""
        yield from super().find_mistakes(data)
        if data.get("finish_reason") is not None:
            yield ("finish_reason",), "how a run ends cannot be soft; ask for it outside of `soft`"


class Turn(Checks):
    """One turn of a conversation; its checks see that turn alone."""

    aliases: ClassVar = _PROMPT_ALIASES

    prompt: Text
    """What is sent to the agent."""
    soft: SoftChecks | None = None
    """Checks of this turn that fail it only under `--strict`."""

    async def run(self, t: EvalContext) -> RunResult:
        """Send the prompt, make this turn's assertions and return the run."""
        result = await t.send(self.prompt)
        view = t.last_turn
        if self.finish_reason is not None:
            view.ended(self.finish_reason)
        self.assert_on(view)
        if self.soft:
            self.soft.assert_on(view.softly)
        return result


class CaseDefaults(Checks):
    """What the cases of a suite share: a case's own keys win, tags and metadata add up. `timeout` is in seconds."""

    tags: Texts = ()
    """Words to select cases by, with `--tag`."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Whatever you want to keep with the case; nothing reads it."""
    soft: SoftChecks | None = None
    """Checks that are shown when they fail, and fail the case only under `--strict`."""
    timeout: Seconds | None = None
    """The time limit of the case: seconds, or a duration such as 500ms, 30s, 10m; 0 for none."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield nothing: what one default needs, the cases may have."""
        yield from ()


class EvalCase(CaseDefaults):
    """One case: a `prompt`, or a conversation of `turns`, and what is asked of it.

    A turn's checks see that turn; the case's see the last reply and the calls, steps, tokens, cost and time of all.
    A run that does not end "stop", or as `finish_reason` says, fails the case even if nothing else was asked, and
    ends the conversation. Unknown keys and wrong values raise `pydantic.ValidationError`, all at once.
    """

    aliases: ClassVar = {"id": "name", **_PROMPT_ALIASES}

    name: Text
    """What the case is called in reports and by `--only`; no other case of the suite has this name."""
    prompt: Text | None = None
    """What is sent to the agent."""
    turns: tuple[Turn, ...] = ()
    """Instead of a prompt, a conversation, each turn with its own prompt and checks."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that a case has nothing, or two things, to send."""
        yield from Checks.find_mistakes(data)
        if (data.get("prompt") is None) == (not data.get("turns")):
            yield (), "a case has either a prompt (or input) or turns, one of them"

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
        came_to_its_end = await self._converse(t)
        if self.finish_reason is not None:
            t.ended(self.finish_reason)
        if came_to_its_end:
            t.accept_end()
        self.assert_on(t)
        if self.soft:
            self.soft.assert_on(t.softly)
        if not t.assertions:
            t.completed()

    async def _converse(self, t: EvalContext) -> bool:
        """Run the turns until one ends otherwise than it should; say whether none did."""
        turns = self.turns or (Turn(prompt=self.prompt or ""),)
        for turn in turns:
            result = await turn.run(t)
            asked = turn.finish_reason or (self.finish_reason if turn is turns[-1] else None)
            if asked is None and not result.ended_normally:
                t.completed()
            if result.finish_reason != (asked or "stop"):
                return False
        return True
