"""A case as data: a prompt or a conversation of turns, with its expectations.

It runs by calling the same `t` as an eval in code.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from ..config.fields import PromptField, Seconds, Text, Texts
from ..config.problems import Problem
from ..errors import RemoteError
from ..evals.context import EvalContext
from ..evals.eval import Eval
from ..judging import Judge
from ..results import RunResult
from ..targets import Target
from .expectations import Expectations

ACTIONS = ("prompt", "approve", "reject", "answer")
# The keys that say more about a decision, and the decisions that they are for.
DETAILS = {"tool": ACTIONS[1:], "args": ("approve",)}
ALL = "all"
PROMPT_ALIASES = {"input": "prompt", **Expectations.aliases}


def _refuse_false(value: Any) -> Any:
    if value is False:
        raise ValueError("must be true or a note; for the opposite decision, write `approve:` or `reject:` instead")
    return value


Decision = Annotated[Literal[True] | Text, BeforeValidator(_refuse_false, json_schema_input_type=Literal[True] | Text)]
Runs = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class SoftExpectations(Expectations):
    """Checks that are reported when they fail, but fail the case only with `--strict`."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a problem if a finish reason is expected: it decides whether the rest can be judged."""
        yield from super().find_problems(data)
        if data.get("finish_reason") is not None:
            yield ("finish_reason",), "how a run ends cannot be soft; move it out of `soft`"


class Turn(Expectations):
    """One turn of a conversation: a prompt, or a decision that the agent is waiting for.

    The checks of a turn see that turn alone. A decision continues the turn before it.
    """

    aliases: ClassVar = PROMPT_ALIASES

    prompt: PromptField | None = None
    """The message to send to the agent: a text, or a list of content parts."""
    approve: Decision | None = None
    """Instead of a prompt, approve what the agent is waiting for: true, a note to send along, or "all"."""
    reject: Decision | None = None
    """Instead of a prompt, reject what the agent is waiting for: true, or a note that gives the reason."""
    answer: Text | None = None
    """Instead of a prompt, the answer to the question that the agent is waiting for."""
    tool: Text | None = None
    """Which call a decision is about, by the name of its tool; without it, the first that was asked."""
    args: dict[str, Any] | None = None
    """With `approve`, the arguments that the call is approved with, in place of its own."""
    soft: SoftExpectations | None = None
    """Checks of this turn that are reported when they fail, but fail the case only with `--strict`."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a problem unless the turn does exactly one thing."""
        yield from super().find_problems(data)
        if sum(data.get(key) is not None for key in ACTIONS) != 1:
            yield (), f"a turn needs exactly one of {', '.join(ACTIONS)} (input is another name for prompt)"
        for key in DETAILS:
            if data.get(key) is not None and all(data.get(action) is None for action in DETAILS[key]):
                yield (key,), f"{key!r} is only for a turn with {' or '.join(DETAILS[key])}"
            elif data.get(key) is not None and data.get("approve") == ALL:
                yield (key,), f"{key!r} is about one call, and `approve: all` about all of them"

    @property
    def is_decision(self) -> bool:
        """Whether the turn is a decision and not a prompt."""
        return self.prompt is None

    async def run(self, t: EvalContext) -> RunResult:
        """Send the prompt or the decision, make this turn's assertions and return the run.

        Raises `RemoteError` as `t.send` does; what was seen of a broken run may still fail an assertion.
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
        if self.approve == ALL:
            return await t.approve_all()
        if self.approve is not None:
            return await t.approve(None if self.approve is True else self.approve, tool=self.tool, args=self.args)
        if self.reject is not None:
            return await t.reject(None if self.reject is True else self.reject, tool=self.tool)
        if self.answer is not None:
            return await t.answer(self.answer, tool=self.tool)
        return await t.send(self.prompt or "")


class CaseDefaults(Expectations):
    """What all cases of a suite share; the keys of a case override it, but tags and metadata are combined.

    `timeout` is in seconds.
    """

    tags: Texts = ()
    """Words by which `--tag` selects the case."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Any data of your own to keep with the case; it is copied into reports and not used otherwise."""
    soft: SoftExpectations | None = None
    """Checks that are reported when they fail, but fail the case only with `--strict`."""
    timeout: Seconds | None = None
    """The time limit of one run, overriding `--timeout`: seconds, or a duration such as 500ms, 30s, 10m; 0 for none."""
    repeat: Runs | None = None
    """How many times the case is run, each time in a new session; `--runs` overrides it."""
    pass_at: Runs | None = None
    """How many of these runs must pass; all by default."""
    rubric: Text | None = None
    """The criteria by which a judge grades the last reply, with `--judge`; its score becomes that of the case."""
    threshold: Share = 0.5
    """The lowest score with which the rubric passes, from 0 to 1; 0.5 by default."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield nothing, since a key that one default needs may be in the cases."""
        yield from ()


class EvalCase(CaseDefaults):
    """One case: a `prompt` or a conversation of `turns`, and the checks on them.

    The checks of a turn see that turn; those of the case see the last reply, and the calls, steps, tokens, cost and
    time of all turns. A run that does not end with "stop", or as `finish_reason` says, fails the case even if there
    are no other checks, and ends the conversation. Unknown keys and wrong values raise `pydantic.ValidationError`, all
    at once.
    """

    aliases: ClassVar = {"id": "name", **PROMPT_ALIASES}

    name: Text
    """The name of the case in reports and for `--only`, unique in the suite."""
    prompt: PromptField | None = None
    """The message to send to the agent: a text, or a list of content parts."""
    turns: tuple[Turn, ...] = ()
    """Instead of a prompt, a conversation of turns, each with its own prompt and checks."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a problem if a case has nothing to send, two things to send, or begins with a decision."""
        yield from Expectations.find_problems(data)
        if (data.get("prompt") is None) == (not data.get("turns")):
            yield (), "a case needs either a prompt (or input) or turns, and not both"
        first = next(iter(data["turns"]), None) if isinstance(data.get("turns"), list | tuple) else None
        if isinstance(first, Mapping) and any(first.get(key) is not None for key in ACTIONS[1:]):
            yield ("turns", 0), "the first turn has nothing to decide on; it needs a prompt"

    def with_defaults(self, defaults: CaseDefaults) -> "EvalCase":
        """Return the case with the keys that it does not set taken from `defaults`."""
        inherited = {key: getattr(defaults, key) for key in defaults.model_fields_set - self.model_fields_set}
        combined: Mapping[str, Any] = {
            "tags": tuple(dict.fromkeys((*defaults.tags, *self.tags))),
            "metadata": {**defaults.metadata, **self.metadata},
        }
        return self.model_copy(update={**inherited, **combined})

    def make_evals(
        self, suite: str = "", file: str = "", *, target: Target | None = None, judge: Judge | None = None
    ) -> list[Eval]:
        """Return the case as a list of one eval, which knows its suite and file, its target and its judge."""
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
        """Run the conversation and make every assertion. Raises `RemoteError` as a turn does."""
        try:
            ended_as_expected = await self._converse(t)
        except RemoteError:
            t.keep_conclusive(self.assert_on)
            raise
        if self.finish_reason is not None:
            t.ended(self.finish_reason)
        if ended_as_expected:
            t.accept_end()
        self.assert_on(t)
        if self.soft:
            self.soft.assert_on(t.softly)
        if self.rubric is not None and ended_as_expected:
            await t.grade(self.rubric, self.threshold)
        if not t.assertions:
            t.completed()

    async def _converse(self, t: EvalContext) -> bool:
        """Run the turns until one does not end as expected; return whether all of them did."""
        turns, before = self.turns or (Turn(prompt=self.prompt or ""),), None
        for turn, following in zip(turns, (*turns[1:], None), strict=True):
            result = await turn.run(t)
            expected = turn.finish_reason or (self.finish_reason if following is None else None)
            was_sent, before = result is not before, result
            if following and following.is_decision and expected is None and result.pending_approvals and was_sent:
                # The next turn decides on what this one waits for, so this is its expected end.
                continue
            if expected is None and not result.ended_normally:
                t.completed()
            if result.finish_reason != (expected or "stop"):
                return False
        return True
