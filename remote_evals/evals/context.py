"""The `t` of an eval: send, then assert. A failed check is recorded, never raised, so that a case shows them all.

Also grades the replies of a case by rubrics, which only a reader can decide, if there is a judge to ask.
"""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..core.prompts import Prompt, render_prompt
from ..errors import JudgeUnparseableError, RemoteError, UsageError
from ..judging import Judge, Verdict
from ..redaction import Redactor
from ..results import AssertionResult, JudgeUsage, PendingApproval, PendingApprovals, RunResult, ToolCall
from ..results.run import combine_runs
from ..targets import Session
from . import assertions
from .assertions.methods import Assertions
from .assertions.values import MissingValue
from .decisions import Verb, choose_request, explain_ambiguity, explain_expiry, make_approval
from .pending_calls import PendingCall, pending_call

_NOT_ASKED = "rubrics are graded only with --judge, or by a judge given in code"
_NO_JUDGE = (
    "no judge is configured: set REMOTE_EVALS_JUDGE_URL and REMOTE_EVALS_JUDGE_MODEL, or give the suite a `judge:`"
)


class EvalContext(Assertions):
    """One case in one session. Its assertions see the last reply, and the calls and costs of all turns."""

    def __init__(self, session: Session, rubrics: "Rubrics | None" = None, redactor: Redactor | None = None) -> None:
        self.results: list[RunResult] = []
        self.assertions: list[AssertionResult] = []
        self.case_warnings: list[str] = []
        self.judged_score: float | None = None
        self.pending_calls: list[PendingCall[Any]] = []
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
    def pending(self) -> PendingApprovals | None:
        """The requests that the latest run waits for, in the order in which they were asked, or None.

        Its attributes are those of the first: `t.pending.tool`.
        """
        return PendingApprovals(self._waiting) if self._waiting else None

    @property
    def last_turn(self) -> Assertions:
        """The same assertions on the latest turn alone."""
        return Assertions(self.results[-1:], self.assertions, turn=len(self.results), redactor=self._redactor)

    @property
    def forgotten(self) -> list[PendingCall[Any]]:
        """The calls that were never awaited, and so did nothing."""
        return [call for call in self.pending_calls if not call.is_awaited]

    @property
    def judge_usage(self) -> JudgeUsage | None:
        """What judging this case has used so far, or None if no judge was asked."""
        return self._rubrics.usage

    @pending_call
    async def send(self, prompt: Prompt) -> RunResult:
        """Run one turn and return it; the prompt is a text or a list of content parts.

        Raises `RemoteError` if no run came back that can be judged; what did come is kept for the report.
        """
        self._prompts.append(render_prompt(prompt))
        return await self._record_run(self._session.send(prompt, len(self.results) + 1))

    @pending_call
    async def approve(
        self, note: str | None = None, *, tool: str | None = None, args: Mapping[str, Any] | None = None
    ) -> RunResult:
        """Approve what the latest run waits for, and return that run, continued to its next end. Raises as `send`.

        If it waits for several calls, this is about the first that was asked, or the first of `tool`; the run goes on
        once all are decided. `args` replaces the arguments of the call. If the run waits for nothing, or not for this
        tool, that is a failed gate, nothing is sent, and the run is returned unchanged.
        """
        return await self._decide("approve", make_approval(True, note, args), tool)

    @pending_call
    async def approve_all(self, note: str | None = None) -> RunResult:
        """Approve, one after another, all that the latest run waits for now; see `approve`."""
        requests = self._waiting
        if not requests:
            self._add(assertions.nothing_pending, self.result, "approve")
        for request in requests:
            if request.approval_id not in {one.approval_id for one in self._waiting}:
                self._add(assertions.nothing_pending, self.result, "approve", request.tool)
                break
            await self._send_decision(request, make_approval(True, note))
        return combine_runs(self.results[-1:])

    @pending_call
    async def reject(self, note: str | None = None, *, tool: str | None = None) -> RunResult:
        """Reject what the latest run waits for; see `approve`."""
        return await self._decide("reject", make_approval(False, note), tool)

    @pending_call
    async def answer(self, text: str, *, tool: str | None = None) -> RunResult:
        """Answer the question that the latest run asked; see `approve`."""
        return await self._decide("answer", {"answer": text}, tool)

    @pending_call
    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session, each `{role, content}`. Raises as `send`."""
        return await self._session.transcript()

    @pending_call
    async def judge(self, rubric: str) -> float:
        """Return the judge's score of the latest reply by a rubric, from 0 to 1, for use in `check` or `soft`.

        Without a verdict, the result says why and passes no check. Raises `JudgeError` if the judge cannot be asked.
        """
        verdict = await self._rubrics.grade(rubric, self._prompts, self.results)
        if isinstance(verdict, AssertionResult):
            self.assertions.append(verdict)
            return MissingValue(verdict.message, skipped=verdict.skipped)
        return verdict.score

    @pending_call
    async def grade(self, rubric: str, threshold: float) -> None:
        """Pass when the judge scores the latest reply at `threshold` or more; its score becomes that of the case."""
        verdict = await self._rubrics.grade(rubric, self._prompts, self.results)
        if isinstance(verdict, AssertionResult):
            self.assertions.append(verdict)
        else:
            self.judged_score = verdict.score
            self.assertions.append(_make_rubric_result(verdict, threshold))

    @property
    def _waiting(self) -> tuple[PendingApproval, ...]:
        return self.results[-1].pending_approvals if self.results else ()

    async def _decide(self, verb: Verb, decision: Mapping[str, Any], tool: str | None) -> RunResult:
        # The names in runs are scrubbed too.
        waiting, tool = self._waiting, self._scrub_expected(tool)
        request = choose_request(waiting, verb, tool)
        if request is None:
            self._add(assertions.nothing_pending, self.result, verb, tool)
            return combine_runs(self.results[-1:])
        self._warn(explain_ambiguity(waiting, verb, tool))
        return await self._send_decision(request, decision)

    async def _send_decision(self, request: PendingApproval, decision: Mapping[str, Any]) -> RunResult:
        if decision.get("approved"):
            self._warn(explain_expiry(request, datetime.now(UTC)))
        paused = self.results.pop()
        if self._expected_end == paused.finish_reason:
            self._expected_end = "stop"
        return await self._record_run(self._session.decide(request.approval_id, decision), paused)

    def _warn(self, warning: str | None) -> None:
        if warning is not None:
            self.case_warnings.append(self.scrub(warning))

    async def _record_run(self, running: Awaitable[RunResult], before: RunResult | None = None) -> RunResult:
        """Record the run and return it. If it breaks or is cut off, record its partial run, or else `before`."""
        try:
            result = await running
        except RemoteError as failure:
            self._record_partial(failure.partial or before)
            raise
        except BaseException:
            self._record_partial(self._session.partial or before)
            raise
        self.results.append(result)
        return result

    def _record_partial(self, partial: RunResult | None) -> None:
        if partial is not None:
            self.results.append(partial)


class Rubrics:
    """The judge of a case, if any, and what it has used so far.

    With `is_asked` False, rubrics are skipped. Otherwise they fail if there is no judge.
    """

    def __init__(self, judge: Judge | None = None, *, is_asked: bool = True) -> None:
        self.usage: JudgeUsage | None = None
        self._judge = judge
        self._is_asked = is_asked

    async def grade(self, rubric: str, prompts: Sequence[str], runs: Sequence[RunResult]) -> Verdict | AssertionResult:
        """Return the verdict on the last reply, or the result that says why there is none.

        Raises `UsageError` if there is no reply yet, and `JudgeError` if the judge could not be asked: then the case
        cannot be judged.
        """
        if not runs:
            raise UsageError("nothing was sent yet, so there is no reply to grade")
        if not self._is_asked:
            return _make_result_without_verdict("rubric:skipped", _NOT_ASKED, skipped=True)
        if self._judge is None:
            return _make_result_without_verdict("rubric:no_judge_configured", _NO_JUDGE)
        request = _render_request(prompts, runs)
        try:
            verdict = await self._judge.grade(rubric=rubric, request=request, reply=runs[-1].reply)
        except JudgeUnparseableError as failure:
            self._add_usage(failure.usage)
            return _make_result_without_verdict("judge_unparseable", str(failure))
        self._add_usage(verdict.usage)
        return verdict

    def _add_usage(self, usage: JudgeUsage | None) -> None:
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage


def _make_rubric_result(verdict: Verdict, threshold: float) -> AssertionResult:
    """Return the result of a verdict: it fails below the threshold, and if the judge itself said no."""
    passed = verdict.score >= threshold and verdict.passed is not False
    own_verdict = " and the judge's own verdict 'not passed'" if verdict.passed is False else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    message = f"rubric failed: scored {verdict.score:.2f} of at least {threshold:.2f}{own_verdict}{reason}"
    return AssertionResult(
        name="rubric",
        key="rubric",
        passed=passed,
        score=verdict.score,
        threshold=threshold,
        message="" if passed else message,
    )


def _make_result_without_verdict(key: str, why: str, *, skipped: bool = False) -> AssertionResult:
    message = f"{key}: {why}" if skipped else f"{key} failed: {why}"
    return AssertionResult(name=key, key=key, passed=skipped, score=float(skipped), skipped=skipped, message=message)


def _render_request(prompts: Sequence[str], runs: Sequence[RunResult]) -> str:
    """Return what the last reply answers: the prompt, preceded by the earlier turns, if any."""
    earlier = [f"User: {prompt}\nAgent: {run.reply}" for prompt, run in zip(prompts, runs[:-1], strict=False)]
    return prompts[-1] if not earlier else "\n".join([*earlier, f"User: {prompts[-1]}"])
