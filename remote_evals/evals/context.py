"""What only a reader can decide: grades the replies of a case by rubrics, where a judge is there to be asked."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from ..errors import JudgeUnparseableError, RemoteError, UsageError
from ..judging import Judge, Verdict
from ..redaction import Redactor
from ..results import AssertionResult, JudgeUsage, PendingApproval, RunResult, ToolCall
from ..targets import Session
from . import assertions
from .assertions.recorder import Assertions
from .assertions.values import Unjudged
from .steps import PendingCall, step

NOT_ASKED = "rubrics are graded only with --judge, or by a judge given in code"
NO_JUDGE = (
    "no judge is configured: set REMOTE_EVALS_JUDGE_URL and REMOTE_EVALS_JUDGE_MODEL, or give the suite a `judge:`"
)


class Rubrics:
    """The judge of a case, if any, and what it has used up.

    `is_asked` False means that nobody asked for a judge, so that rubrics are skipped; without a judge they fail.
    """

    def __init__(self, judge: Judge | None = None, *, is_asked: bool = True) -> None:
        self.usage: JudgeUsage | None = None
        self._judge = judge
        self._is_asked = is_asked

    async def grade(self, rubric: str, prompts: Sequence[str], runs: Sequence[RunResult]) -> Verdict | AssertionResult:
        """Return the verdict on the last reply, or the result that says why there is none.

        Raises `JudgeError` when the judge could not be asked: then the case cannot be judged; `UsageError` where
        there is no reply yet.
        """
        if not runs:
            raise UsageError("nothing was sent yet, so there is no reply to grade")
        if not self._is_asked:
            return _no_verdict("rubric:skipped", NOT_ASKED, skipped=True)
        if self._judge is None:
            return _no_verdict("rubric:no_judge_configured", NO_JUDGE)
        try:
            verdict = await self._judge.grade(rubric=rubric, request=_conversation(prompts, runs), reply=runs[-1].reply)
        except JudgeUnparseableError as failure:
            self._add(failure.usage)
            return _no_verdict("judge_unparseable", str(failure))
        self._add(verdict.usage)
        return verdict

    def _add(self, usage: JudgeUsage | None) -> None:
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage


def rubric_result(verdict: Verdict, threshold: float) -> AssertionResult:
    """Return how a verdict counts: below the threshold, and on the judge's own no, it fails."""
    passed = verdict.score >= threshold and verdict.passed is not False
    verdict_word = " and the judge's own verdict 'not passed'" if verdict.passed is False else ""
    said = f": {verdict.reason}" if verdict.reason else ""
    message = f"rubric failed: scored {verdict.score:.2f} of at least {threshold:.2f}{verdict_word}{said}"
    return AssertionResult(
        name="rubric",
        key="rubric",
        passed=passed,
        score=verdict.score,
        threshold=threshold,
        message="" if passed else message,
    )


def _no_verdict(key: str, why: str, *, skipped: bool = False) -> AssertionResult:
    message = f"{key}: {why}" if skipped else f"{key} failed: {why}"
    return AssertionResult(name=key, key=key, passed=skipped, score=float(skipped), skipped=skipped, message=message)


def _conversation(prompts: Sequence[str], runs: Sequence[RunResult]) -> str:
    """Return what the last reply answers: the prompt, with the turns before it where there are any."""
    earlier = [f"User: {prompt}\nAgent: {run.reply}" for prompt, run in zip(prompts, runs[:-1], strict=False)]
    return prompts[-1] if not earlier else "\n".join([*earlier, f"User: {prompts[-1]}"])


class EvalContext(Assertions):
    """One case against one session. Its assertions see the last reply and the calls and costs of all turns."""

    def __init__(self, session: Session, rubrics: Rubrics | None = None, redactor: Redactor | None = None) -> None:
        self.results: list[RunResult] = []
        self.assertions: list[AssertionResult] = []
        self.judged_score: float | None = None
        self.steps: list[PendingCall[Any]] = []
        self._prompts: list[str] = []
        self._session = session
        self._rubrics = rubrics or Rubrics()
        super().__init__(self.results, self.assertions, redactor=redactor)

    @property
    def session_id(self) -> str:
        """The id of this case's session at the deployment."""
        return self._session.id

    @property
    def reply(self) -> str:
        """The latest reply; empty before the first."""
        return self.results[-1].reply if self.results else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls so far, over all turns."""
        return self.result.tool_calls

    @property
    def pending(self) -> PendingApproval | None:
        """The decision, or the answer, that the latest run waits for; None when it waits for none."""
        return self.results[-1].pending_approval if self.results else None

    @property
    def last_turn(self) -> Assertions:
        """The same assertions on the latest turn alone."""
        return Assertions(self.results[-1:], self.assertions, turn=len(self.results), redactor=self._redactor)

    @property
    def forgotten(self) -> list[PendingCall[Any]]:
        """The steps that were begun and never awaited, so that they did nothing."""
        return [begun for begun in self.steps if not begun.is_awaited]

    @property
    def judge_usage(self) -> JudgeUsage | None:
        """What judging this case has used up; None when no judge was asked."""
        return self._rubrics.usage

    @step
    async def send(self, prompt: str) -> RunResult:
        """Run one turn and return it.

        Raises `RemoteError` when no run came back that can be judged; what did come is kept for the report.
        """
        self._prompts.append(prompt)
        return await self._take(self._session.send(prompt, len(self.results) + 1))

    @step
    async def approve(self, note: str | None = None) -> RunResult:
        """Approve what the latest run waits for, and return that run, gone on to its next end. Raises as `send`.

        When it waits for nothing, that is a failed gate, and the run is returned as it is.
        """
        return await self._decide("approve", {"approved": True, **_note(note)})

    @step
    async def reject(self, note: str | None = None) -> RunResult:
        """Reject what the latest run waits for; see `approve`."""
        return await self._decide("reject", {"approved": False, **_note(note)})

    @step
    async def answer(self, text: str) -> RunResult:
        """Answer the question that the latest run waits with; see `approve`."""
        return await self._decide("answer", {"answer": text})

    @step
    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session, each `{role, content}`. Raises as `send`."""
        return await self._session.transcript()

    @step
    async def judge(self, rubric: str) -> float:
        """Return the judge's score, 0 to 1, of the latest reply by a rubric, to be checked or softly checked.

        Where no judge gave one, the result says so and passes no check. Raises `JudgeError` when it cannot be asked.
        """
        verdict = await self._rubrics.grade(rubric, self._prompts, self.results)
        if isinstance(verdict, AssertionResult):
            self.assertions.append(verdict)
            return Unjudged(verdict.message, skipped=verdict.skipped)
        return verdict.score

    @step
    async def grade(self, rubric: str, threshold: float) -> None:
        """Pass when the judge scores the latest reply at `threshold` or more; its score becomes that of the case."""
        verdict = await self._rubrics.grade(rubric, self._prompts, self.results)
        if isinstance(verdict, AssertionResult):
            self.assertions.append(verdict)
        else:
            self.judged_score = verdict.score
            self.assertions.append(rubric_result(verdict, threshold))

    async def _decide(self, verb: str, decision: Mapping[str, Any]) -> RunResult:
        if self.pending is None:
            self._add(assertions.nothing_pending, self.result, verb)
            return self.result
        paused = self.results.pop()
        if self._expected_end == paused.finish_reason:
            self._expected_end = "stop"
        assert paused.pending_approval is not None  # noqa: S101 - `pending` has just said so
        return await self._take(self._session.decide(paused.pending_approval.approval_id, decision), paused)

    async def _take(self, running: Awaitable[RunResult], before: RunResult | None = None) -> RunResult:
        """Keep the run that comes; when it breaks or is cut off, what there is of it, or else the run `before` it."""
        try:
            result = await running
        except RemoteError as failure:
            self._keep(failure.partial or before)
            raise
        except BaseException:
            self._keep(self._session.partial or before)
            raise
        self.results.append(result)
        return result

    def _keep(self, partial: RunResult | None) -> None:
        if partial is not None:
            self.results.append(partial)


def _note(note: str | None) -> dict[str, str]:
    return {} if note is None else {"note": note}
