"""What only a reader can decide: grades the replies of a case by rubrics, where a judge is there to be asked."""

from collections.abc import Sequence

from .errors import JudgeUnparseableError, UsageError
from .judging import Judge, JudgeUsage, Verdict
from .results import AssertionResult, RunResult

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
