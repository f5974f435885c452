"""The assertions as methods of `t`: each checks the runs so far and records its result, as a gate or as soft."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ...errors import describe_error
from ...redaction import Redactor
from ...results import AssertionResult, RunResult
from ...results.run import combine_runs
from . import budgets, reply, tools
from .values import Check, MissingValue

Kind = Literal["gate", "soft"]


class Assertions:
    """Assertions on runs, combined into one. A failed check is recorded, never raised.

    `kind` is how a failure counts. `turn` is the number of the turn, from 1, if only one of several is checked.
    Absence can be asserted only of runs that ended with the finish reason `expected_end`, which `ended` and
    `accept_end` set. Expected values are scrubbed by `redactor`, as the runs were, so that a secret in both matches.
    """

    def __init__(
        self,
        turns: Sequence[RunResult],
        record: list[AssertionResult],
        kind: Kind = "gate",
        expected_end: str = "stop",
        turn: int | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self._turns = turns
        self._record = record
        self._kind = kind
        self._expected_end = expected_end
        self._turn = turn
        self._redactor = redactor or Redactor()

    @property
    def result(self) -> RunResult:
        """The runs combined into one."""
        return combine_runs(self._turns)

    @property
    def softly(self) -> "Assertions":
        """The same assertions, recorded as soft: a failure is shown, and fails the case only with `--strict`."""
        return self._copy(self._record, "soft")

    def completed(self) -> None:
        """Pass when the latest run ended with "stop"."""
        self._add(reply.ended, combine_runs(self._turns[-1:]))

    def ended(self, reason: str) -> None:
        """Pass when the latest run ended with this finish reason, which becomes the expected end."""
        self._expected_end = reason
        self._add(reply.ended, combine_runs(self._turns[-1:]), reason)

    def accept_end(self) -> None:
        """Accept the finish reason of the runs as the expected one."""
        self._expected_end = self.result.finish_reason or "stop"

    def called_tool(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        times: int | None = None,
        subagent: str | None = None,
        outcome: Literal["ok", "error"] | None = None,
    ) -> None:
        """Pass when the tool was called, by any agent or by `subagent` and those under it; "a|b" is either.

        `args` is a partial deep match by JSON equality; `times` is the exact number of matching calls.
        """
        self._add(
            tools.called_tool,
            self.result,
            name,
            args=args,
            times=times,
            subagent=subagent,
            outcome=outcome,
            expected_end=self._expected_end,
        )

    def not_called_tool(self, name: str, subagent: str | None = None) -> None:
        """Pass when no agent, or none at or under `subagent`, called the tool in a run that came to its end."""
        self._add(tools.not_called_tool, self.result, name, subagent=subagent, expected_end=self._expected_end)

    def tool_order(self, names: Sequence[str], subagent: str | None = None, exact: bool = False) -> None:
        """Pass when the tools were called in this order; other calls may come between, unless `exact`."""
        self._add(tools.tool_order, self.result, names, subagent=subagent, exact=exact, expected_end=self._expected_end)

    def output_contains(self, text: str) -> None:
        """Pass when the last reply contains the text, ignoring case."""
        self._add(reply.output_contains, self.result, text)

    def output_not_contains(self, text: str) -> None:
        """Pass when the last reply, of a run that came to its end, does not contain the text, ignoring case."""
        self._add(reply.output_not_contains, self.result, text, expected_end=self._expected_end)

    def output_matches(self, pattern: str) -> None:
        """Pass when the regular expression is found in the last reply; an invalid one fails."""
        self._add(reply.output_matches, self.result, pattern)

    def max_steps(self, limit: int) -> None:
        """Pass when the runs took at most `limit` steps of the lead agent."""
        self._add(budgets.max_steps, self.result, limit)

    def max_tokens(self, limit: int) -> None:
        """Pass when the runs used at most `limit` tokens, input and output, including sub-agents."""
        self._add(budgets.max_tokens, self.result, limit)

    def max_cost_usd(self, limit: float, unknown_cost: Literal["fail", "skip"] = "fail") -> None:
        """Pass when the runs cost at most `limit` dollars. An unknown cost fails, or is skipped with "skip"."""
        self._add(budgets.max_cost_usd, self.result, limit, unknown_cost=unknown_cost)

    def max_duration_ms(self, limit: float) -> None:
        """Pass when the runs together took at most `limit` milliseconds."""
        self._add(budgets.max_duration_ms, self.result, limit)

    def max_first_text_ms(self, limit: float) -> None:
        """Pass when the first text came within `limit` milliseconds in every run that had one."""
        self._add(budgets.max_first_text_ms, self.result, limit)

    def check(self, name: str, value: Any, check: Check) -> None:
        """Pass when the value passes the check; `name` says in the report what is checked.

        If events were lost on the way, the value may be incomplete: it fails without being checked.
        """
        if "events" in self.result.missing:
            value = MissingValue("events were lost on the way, so the value may be incomplete", skipped=False)
        self._add(reply.check_value, name, value, check)

    def soft(self, name: str, value: Any, check: Check) -> None:
        """Check a value as `check` does, recorded as soft."""
        self.softly.check(name, value, check)

    def keep_conclusive(self, make: Callable[["Assertions"], None]) -> None:
        """Make assertions on runs whose last one broke, and keep only the conclusive failures.

        A failure is conclusive if nothing that went unseen could undo it.
        """
        results: list[AssertionResult] = []
        make(self._copy(results, self._kind))
        self._record.extend(result for result in results if result.conclusive)

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        return self._redactor.scrub(text)

    def _copy(self, record: list[AssertionResult], kind: Kind) -> "Assertions":
        return Assertions(self._turns, record, kind, self._expected_end, self._turn, self._redactor)

    def _add(self, assertion: Callable[..., AssertionResult], *args: Any, **kwargs: Any) -> None:
        try:
            result = assertion(*map(self._scrub_expected, args), **self._scrub_expected(kwargs))
        except Exception as error:  # an assertion with invalid arguments is a failed one, and the others still count
            message = f"{assertion.__name__} failed: invalid arguments: {describe_error(error)}"
            result = AssertionResult(name=assertion.__name__, passed=False, score=0.0, message=message)
        message = f"turn {self._turn}: {result.message}" if self._turn and result.message else result.message
        result = result.model_copy(update={"kind": self._kind, "turn": self._turn, "message": message})
        self._record.append(self._redactor.scrub_value(result))

    def _scrub_expected(self, value: Any) -> Any:
        # Runs are scrubbed already, and checks are code.
        return self._redactor.scrub_value(value) if isinstance(value, str | Mapping | list | tuple) else value
