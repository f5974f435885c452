"""The assertions as methods: each judges the runs at hand and records its result as a gate or as soft."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ...errors import describe_error
from ...redaction import Redactor
from ...results import AssertionResult, RunResult
from ...results.run import combine_runs
from . import budgets, reply, tools
from .values import Check, Unjudged

Kind = Literal["gate", "soft"]


class Assertions:
    """Asserts on runs, together as one; `kind` is how a failure counts. Nothing here raises on a failed check.

    `turn` names the turn, from 1, where one of several is looked at. `expected_end` is the finish reason with which
    what was not seen counts as not done; `ended` and `accept_end` set it. What is expected is scrubbed by `redactor`,
    as the runs were: a secret that the agent must not say is found by its trace.
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
        """The same assertions, recorded as soft: a failure is shown and fails the case only under `--strict`."""
        return self._like(self._record, "soft")

    def completed(self) -> None:
        """Pass when the latest run ended "stop"."""
        self._add(reply.ended, combine_runs(self._turns[-1:]))

    def ended(self, reason: str) -> None:
        """Pass when the latest run ended with this finish reason; it is the expected end from now on."""
        self._expected_end = reason
        self._add(reply.ended, combine_runs(self._turns[-1:]), reason)

    def accept_end(self) -> None:
        """Take the way in which the runs ended for the expected one."""
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

        `args` is a partial deep match by JSON equality; `times` the exact number of matching calls.
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
        """Pass when no agent, or none under `subagent`, called the tool in a run that came to its end."""
        self._add(tools.not_called_tool, self.result, name, subagent=subagent, expected_end=self._expected_end)

    def tool_order(self, names: Sequence[str], subagent: str | None = None, exact: bool = False) -> None:
        """Pass when the tools were called in this order; others may sit between, unless `exact`."""
        self._add(tools.tool_order, self.result, names, subagent=subagent, exact=exact, expected_end=self._expected_end)

    def output_contains(self, text: str) -> None:
        """Pass when the last reply contains the text, whatever its case."""
        self._add(reply.output_contains, self.result, text)

    def output_not_contains(self, text: str) -> None:
        """Pass when the last reply, of a run that came to its end, does not contain the text, whatever its case."""
        self._add(reply.output_not_contains, self.result, text, expected_end=self._expected_end)

    def output_matches(self, pattern: str) -> None:
        """Pass when the regular expression is found in the last reply. Raises `re.error` for an invalid one."""
        self._add(reply.output_matches, self.result, pattern)

    def max_steps(self, limit: int) -> None:
        """Pass when the runs took at most `limit` steps of the lead agent."""
        self._add(budgets.max_steps, self.result, limit)

    def max_tokens(self, limit: int) -> None:
        """Pass when the runs used at most `limit` tokens, in and out, sub-agents included."""
        self._add(budgets.max_tokens, self.result, limit)

    def max_cost_usd(self, limit: float, unknown_cost: Literal["fail", "skip"] = "fail") -> None:
        """Pass when the runs cost at most `limit` dollars; an unknown cost fails, or with "skip" is marked skipped."""
        self._add(budgets.max_cost_usd, self.result, limit, unknown_cost=unknown_cost)

    def max_duration_ms(self, limit: float) -> None:
        """Pass when the runs took at most `limit` milliseconds together."""
        self._add(budgets.max_duration_ms, self.result, limit)

    def max_first_text_ms(self, limit: float) -> None:
        """Pass when the first text came within `limit` milliseconds in every run."""
        self._add(budgets.max_first_text_ms, self.result, limit)

    def check(self, name: str, value: Any, check: Check) -> None:
        """Pass when the value passes the check; `name` says what is checked, for the report.

        Where events were lost on the way the value may not be whole, so it is not checked, and fails.
        """
        if "events" in self.result.missing:
            value = Unjudged("events were lost on the way, so the value may not be whole", skipped=False)
        self._add(reply.check_value, name, value, check)

    def soft(self, name: str, value: Any, check: Check) -> None:
        """Check a value as `check` does, softly."""
        self.softly.check(name, value, check)

    def keep_conclusive(self, make: Callable[["Assertions"], None]) -> None:
        """Make assertions on runs of which the last broke, and keep the failures that nothing unseen could undo."""
        made: list[AssertionResult] = []
        make(self._like(made, self._kind))
        self._record.extend(one for one in made if one.conclusive)

    def scrub(self, text: str) -> str:
        """Return a text without secrets."""
        return self._redactor.scrub(text)

    def _like(self, record: list[AssertionResult], kind: Kind) -> "Assertions":
        return Assertions(self._turns, record, kind, self._expected_end, self._turn, self._redactor)

    def _add(self, judge: Callable[..., AssertionResult], *args: Any, **kwargs: Any) -> None:
        try:
            result = judge(*map(self._scrub_expected, args), **self._scrub_expected(kwargs))
        except Exception as error:  # an assertion that cannot be made is a failed one, and the others still count
            message = f"{judge.__name__} failed: it cannot be asked like this: {describe_error(error)}"
            result = AssertionResult(name=judge.__name__, passed=False, score=0.0, message=message)
        told = f"turn {self._turn}: {result.message}" if self._turn and result.message else result.message
        made = result.model_copy(update={"kind": self._kind, "turn": self._turn, "message": told})
        self._record.append(self._redactor.scrub_value(made))

    def _scrub_expected(self, given: Any) -> Any:
        # Runs are scrubbed already, and checks are code.
        return self._redactor.scrub_value(given) if isinstance(given, str | Mapping | list | tuple) else given
