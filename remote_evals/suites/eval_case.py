"""One turn of a conversation as data, and the checks that are soft."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from ..config.fields import Seconds, Text, Texts
from ..config.strict_model import Problem
from ..errors import RemoteError
from ..evals.context import EvalContext
from ..evals.eval import Eval
from ..judging import Judge
from ..results import RunResult
from ..targets import Target
from .expectations import Expectations

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
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
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
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
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


Runs = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class CaseDefaults(Expectations):
    """What the cases of a suite share: a case's own keys win, tags and metadata add up. `timeout` is in seconds."""

    tags: Texts = ()
    """Words to select cases by, with `--tag`."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Whatever you want to keep with the case; nothing reads it."""
    soft: SoftExpectations | None = None
    """Checks that are shown when they fail, and fail the case only under `--strict`."""
    timeout: Seconds | None = None
    """The time limit of the case: seconds, or a duration such as 500ms, 30s, 10m; 0 for none."""
    repeat: Runs | None = None
    """How often the case is run, each time in a session of its own; `--runs` comes before it."""
    pass_at: Runs | None = None
    """How many of its runs must pass; by default all."""
    rubric: Text | None = None
    """What a judge grades the last reply by, with `--judge`; its score is that of the case."""
    threshold: Share = 0.5
    """The least score, 0 to 1, with which the rubric passes."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield nothing: what one default needs, the cases may have."""
        yield from ()


class EvalCase(CaseDefaults):
    """One case: a `prompt`, or a conversation of `turns`, and what is asked of it.

    A turn's checks see that turn; the case's see the last reply and the calls, steps, tokens, cost and time of all.
    A run that does not end "stop", or as `finish_reason` says, fails the case even if nothing else was asked, and
    ends the conversation. Unknown keys and wrong values raise `pydantic.ValidationError`, all at once.
    """

    aliases: ClassVar = {"id": "name", **PROMPT_ALIASES}

    name: Text
    """What the case is called in reports and by `--only`; no other case of the suite has this name."""
    prompt: Text | None = None
    """What is sent to the agent."""
    turns: tuple[Turn, ...] = ()
    """Instead of a prompt, a conversation, each turn with its own prompt and checks."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield that a case has nothing, or two things, to send."""
        yield from Expectations.find_mistakes(data)
        if (data.get("prompt") is None) == (not data.get("turns")):
            yield (), "a case has either a prompt (or input) or turns, one of them"
        first = next(iter(data["turns"]), None) if isinstance(data.get("turns"), list | tuple) else None
        if isinstance(first, Mapping) and any(first.get(key) is not None for key in ACTIONS[1:]):
            yield ("turns", 0), "the first turn has nothing to decide on; it needs a prompt"

    def with_defaults(self, defaults: CaseDefaults) -> "EvalCase":
        """Return the case with what it does not set itself taken from `defaults`."""
        inherited = {key: getattr(defaults, key) for key in defaults.model_fields_set - self.model_fields_set}
        added: Mapping[str, Any] = {
            "tags": tuple(dict.fromkeys((*defaults.tags, *self.tags))),
            "metadata": {**defaults.metadata, **self.metadata},
        }
        return self.model_copy(update={**inherited, **added})

    def make_evals(
        self, suite: str = "", file: str = "", *, target: Target | None = None, judge: Judge | None = None
    ) -> list[Eval]:
        """Return the one eval that the case is, of a suite in a file, with the target and the judge of both."""
        eval_ = Eval(
            name=self.name,
            run=self.run,
            tags=self.tags,
            metadata=self.metadata,
            suite=suite,
            file=file,
            timeout_s=self.timeout,
            target=target,
            judge=judge,
            repeat=self.repeat,
            pass_at=self.pass_at,
        )
        return [eval_]

    async def run(self, t: EvalContext) -> None:
        """Hold the conversation and make every assertion. Raises `RemoteError` as a turn does."""
        try:
            came_to_its_end = await self._converse(t)
        except RemoteError:
            t.keep_conclusive(self.assert_on)
            raise
        if self.finish_reason is not None:
            t.ended(self.finish_reason)
        if came_to_its_end:
            t.accept_end()
        self.assert_on(t)
        if self.soft:
            self.soft.assert_on(t.softly)
        if self.rubric is not None and came_to_its_end:
            await t.grade(self.rubric, self.threshold)
        if not t.assertions:
            t.completed()

    async def _converse(self, t: EvalContext) -> bool:
        """Run the turns until one ends otherwise than it should; say whether none did."""
        turns = self.turns or (Turn(prompt=self.prompt or ""),)
        for turn, following in zip(turns, (*turns[1:], None), strict=True):
            result = await turn.run(t)
            asked = turn.finish_reason or (self.finish_reason if following is None else None)
            if following and following.is_decision and asked is None and result.pending_approval:
                # What the next turn decides on is the end that is asked of this one.
                continue
            if asked is None and not result.ended_normally:
                t.completed()
            if result.finish_reason != (asked or "stop"):
                return False
        return True
